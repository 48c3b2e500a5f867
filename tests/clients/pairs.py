"""Calls of tools and their results in a request, by format: what the formats demand and no type can say."""

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Pairs = tuple[list[str], list[str]]


def openai_pairs(body: Json) -> Pairs:
    """Ids; the results follow their calls at once."""
    calls, results = [], []
    for place, message in enumerate(body["messages"]):
        made = [call["id"] for call in message.get("tool_calls", ())]
        calls += made
        results += [after.get("tool_call_id") for after in body["messages"][place + 1 :][: len(made)]]
    assert len([message for message in body["messages"] if message["role"] == "tool"]) == len(results)
    return calls, results


def anthropic_pairs(body: Json) -> Pairs:
    """Ids, each used once; turns alternate, and the results head the turn after their calls."""
    roles = [message["role"] for message in body["messages"]]
    assert roles == [("user", "assistant")[place % 2] for place in range(len(roles))]
    turns = [message["content"] if isinstance(message["content"], list) else [] for message in body["messages"]]
    calls, results = [], []
    for place, blocks in enumerate(turns):
        made = [block["id"] for block in blocks if block["type"] == "tool_use"]
        calls += made
        if made:
            results += [block.get("tool_use_id") for block in turns[place + 1][: len(made)]]
    assert len(set(calls)) == len(calls)
    return calls, results


def gemini_pairs(body: Json) -> Pairs:
    """Names; the content after the calls has as many responses and nothing else."""
    contents = [content["parts"] for content in body["contents"]]
    calls, results = [], []
    for place, parts in enumerate(contents):
        made = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        calls += made
        if made:
            results += [part["functionResponse"]["name"] for part in contents[place + 1]]
    return calls, results


PAIRS: dict[str, Callable[[Json], Pairs]] = {
    "openai": openai_pairs,
    "anthropic": anthropic_pairs,
    "gemini": gemini_pairs,
}
