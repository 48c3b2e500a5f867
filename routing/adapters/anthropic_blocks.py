"""Turns as Anthropic's messages and content blocks."""

import re
from base64 import b64decode
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from routing.adapters.conversation import Call, Part, Result, Turn
from routing.adapters.parts import Media, Text
from routing.errors import invalid_request

_TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+")

Block = dict[str, Any]


def messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Messages of a conversation. Raises GatewayError 400 for media Anthropic has no block for."""
    built = [_message(turn) for turn in turns]
    last = built[-1]["content"][-1]
    if built[-1]["role"] == "assistant" and last["type"] == "text":
        last["text"] = last["text"].rstrip()  # else: 400 "must not end with trailing whitespace"
    return built


def _message(turn: Turn) -> dict[str, Any]:
    return {"role": turn.role, "content": _blocks(turn.parts)}


def text_block(text: Text) -> Block:
    """A text block, with the client's cache mark if it sent one."""
    return _marked({"type": "text", "text": text.text}, text.cache)


def _blocks(parts: list[Part]) -> list[Block]:
    """Results of tools come first: Anthropic wants them next to the calls."""
    results, others = [], []
    for part in parts:
        if isinstance(part, Result):
            results.append(_result(part))
        else:
            others.append(_block(part))
    return results + others


def _block(part: Text | Media | Call) -> Block:
    if isinstance(part, Text):
        return text_block(part)
    if isinstance(part, Call):
        return {"type": "tool_use", "id": tool_id(part.id), "name": part.name, "input": part.arguments}
    return _media(part)


def _result(result: Result) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": tool_id(result.call_id)}
    if len(result.parts) == 1 and isinstance(only := result.parts[0], Text):
        block["content"] = only.text
        return _marked(block, only.cache)
    if result.parts:
        block["content"] = [_block(part) for part in result.parts]
    return block


def _media(media: Media) -> Block:
    if media.url:
        is_pdf = media.url.partition("?")[0].lower().endswith(".pdf")
        kind, source = "document" if is_pdf else "image", {"type": "url", "url": media.url}
    elif media.media_type.startswith("image/"):
        kind, source = "image", {"type": "base64", "media_type": media.media_type, "data": media.data}
    elif media.media_type == "application/pdf":
        kind, source = "document", {"type": "base64", "media_type": media.media_type, "data": media.data}
    elif media.media_type == "text/plain":
        kind, source = "document", {"type": "text", "media_type": media.media_type, "data": _plain(media)}
    else:
        raise invalid_request(f"{media.media_type} cannot be sent to this target.", media.where)
    return _marked({"type": kind, "source": source}, media.cache)


def _plain(media: Media) -> str:
    try:
        return b64decode(media.data, validate=True).decode()
    except ValueError as error:
        raise invalid_request(f"`{media.where}` is not UTF-8 text in base64.", media.where) from error


def tool_id(given: str) -> str:
    """The id of a call as Anthropic takes it; ids of other makers may hold dots and colons."""
    return given if _TOOL_ID.fullmatch(given) else f"toolu_{sha256(given.encode()).hexdigest()[:24]}"


def _marked(block: Block, cache: Any) -> Block:
    if isinstance(cache, dict):
        block["cache_control"] = cache
    return block
