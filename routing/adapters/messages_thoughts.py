"""Another maker's thoughts in a conversation that goes on at Anthropic, which takes back only thoughts it has signed.

They come to a client under SIGNATURE, and back from it with the history, when a chain answers one turn elsewhere and
the next one here. Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking
"""

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]

SIGNATURE = "omniroute"


def without_foreign_thoughts(body: Mapping[str, Any]) -> Json:
    """The members of a request that change: none, `messages`, or also `thinking`, which is then None.

    Thinking within a budget cannot begin between a call and its results: Anthropic wants the thoughts before the call.
    """
    messages: Sequence[Json] = body["messages"]
    if not any(_has_foreign(message) for message in messages):
        return {}
    changed: Json = {"messages": [own for message in messages if (own := _own(message))]}
    thinking = body.get("thinking")
    if isinstance(thinking, dict) and thinking.get("type") == "enabled" and _goes_on_from_foreign_calls(messages):
        changed["thinking"] = None
    return changed


def _is_foreign(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "thinking" and block.get("signature") == SIGNATURE


def _has_foreign(message: Json) -> bool:
    content = message["content"]
    return isinstance(content, list) and any(map(_is_foreign, content))


def _own(message: Json) -> Json | None:
    """The message without such thoughts, None if it was nothing else."""
    if not _has_foreign(message):
        return message
    own = [block for block in message["content"] if not _is_foreign(block)]
    return {**message, "content": own} if own else None


def _goes_on_from_foreign_calls(messages: Sequence[Json]) -> bool:
    content = messages[-1]["content"]
    if len(messages) < 2 or not isinstance(content, list):
        return False
    has_results = any(isinstance(block, dict) and block.get("type") == "tool_result" for block in content)
    return has_results and _has_foreign(messages[-2])
