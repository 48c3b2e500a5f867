"""Servers that cut an answer between the halves of a character: JSON all the same, and no reason to lose its words."""

import json

import pytest

from routing.adapters.base import Answer
from routing.dialects import Dialect
from tests.routing.adapters.exchanges import CHAT, MESSAGES, Json, exchange, fed

HALF = "cut\ud83d"
CUT = {
    "openai": {"delta": {"content": HALF}},
    "anthropic": {"type": "text_delta", "text": HALF},
    "gemini": {"text": HALF},
}


def in_a_stream(format_: str) -> Json:
    piece = CUT[format_]
    if format_ == "openai":
        return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [{"index": 0, **piece}]}
    if format_ == "anthropic":
        return {"type": "content_block_delta", "index": 0, "delta": piece}
    return {"candidates": [{"content": {"parts": [piece]}}]}


def whole(format_: str) -> Json:
    if format_ == "openai":
        message = {"role": "assistant", "content": HALF}
        return {"id": "c", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    if format_ == "anthropic":
        content = [{"type": "text", "text": HALF}]
        return {"type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": "end_turn"}
    return {"candidates": [{"content": {"parts": [{"text": HALF}]}, "finishReason": "STOP"}]}


@pytest.mark.parametrize("format_", CUT)
@pytest.mark.parametrize("dialect", [CHAT, MESSAGES], ids=["chat", "messages"])
def test_what_is_whole_of_it_reaches_the_client(format_: str, dialect: Dialect) -> None:
    asked = exchange(format_, dialect=dialect)
    asked.request()
    answer = asked.unary(json.dumps(whole(format_)).encode(), {})
    assert isinstance(answer, Answer)
    assert b"cut" in answer.body
    asked = exchange(format_, dialect=dialect, stream=True)
    asked.request()
    assert b"cut" in fed(asked, b"data: " + json.dumps(in_a_stream(format_)).encode() + b"\n\n")
    assert (asked.dropped, asked.has_content) == (0, True)


def test_what_is_no_json_at_all_is_still_dropped() -> None:
    asked = exchange("openai", stream=True)
    assert fed(asked, b'data: {"choices": "\\ud83d\n\n') == b""
    assert asked.dropped == 1
