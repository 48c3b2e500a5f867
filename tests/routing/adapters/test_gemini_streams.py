"""Gemini's streamed answers as chat completion chunks."""

from typing import Any

import pytest
from openai.types.chat import ChatCompletionChunk

from resilience.core.kinds import Kind
from tests.routing.adapters.exchanges import Heard, Json, events, exchange, fed, hear, streamed

CALL: Json = {"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}}


def piece(*parts: Json, finish: str | None = None, index: int | None = None) -> Json:
    reason = {} if finish is None else {"finishReason": finish}
    place = {} if index is None else {"index": index}
    return {"content": {"parts": list(parts), "role": "model"}, **reason, **place}


def event(*candidates: Json, **more: Any) -> Json:
    return {"candidates": list(candidates), "modelVersion": "gemini-x", "responseId": "r1", **more}


def said(text: str, **more: Any) -> Json:
    return event(piece({"text": text}, **more))


USAGE = {"promptTokenCount": 8, "candidatesTokenCount": 4, "thoughtsTokenCount": 2}
HELLO = (said("Hel"), said("lo", finish="STOP"), {"usageMetadata": USAGE})


def stream(*documents: Json, **wanted: Any) -> Heard:
    return streamed("gemini", *documents, **wanted)


def test_words_come_as_chunks_that_belong_together() -> None:
    heard = stream(*HELLO)
    assert heard.done
    assert heard.deltas == [{"role": "assistant", "content": ""}, {"content": "Hel"}, {"content": "lo"}, {}]
    assert heard.finish_reasons == [(0, "stop")]
    assert {(chunk["id"], chunk["model"]) for chunk in heard.chunks} == {("r1", "gemini-x")}
    assert len({chunk["created"] for chunk in heard.chunks}) == 1
    for chunk in heard.chunks:
        ChatCompletionChunk.model_validate(chunk)


@pytest.mark.parametrize(
    "documents",
    [
        (event(piece(CALL)), event(piece({"text": ""}, finish="STOP"))),
        (event(piece(CALL, finish="STOP")),),
        (said("Let me look."), event(piece({"text": "", **CALL})), event({"finishReason": "STOP"})),
    ],
    ids=["apart", "together", "without content"],
)
def test_a_call_is_remembered_until_the_end(documents: tuple[Json, ...]) -> None:
    heard = stream(*documents)
    (one,) = heard.tool_calls
    assert one["id"]
    assert (one["name"], one["arguments"]) == ("get_weather", '{"city":"Oslo"}')
    assert heard.finish_reasons == [(0, "tool_calls")]


def test_calls_of_several_events_are_counted_on() -> None:
    heard = stream(event(piece(CALL)), event(piece(CALL, CALL)), event(piece(finish="STOP")))
    assert len(heard.tool_calls) == 3
    assert len({one["id"] for one in heard.tool_calls}) == 3


def test_a_call_keeps_its_id_and_the_signature_of_the_thought_before_it() -> None:
    signed = {"functionCall": {"id": "fc-1", "name": "f"}, "thoughtSignature": "c2ln"}
    heard = stream(event(piece(signed, finish="STOP")))
    (call,) = next(delta["tool_calls"] for delta in heard.deltas if "tool_calls" in delta)
    assert call == {
        "index": 0,
        "id": "fc-1",
        "type": "function",
        "function": {"name": "f", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "c2ln"}},
    }


def test_thoughts_are_reasoning_content() -> None:
    heard = stream(event(piece({"text": "hm", "thought": True})), said("hi", finish="STOP"))
    assert heard.text(member="reasoning_content") == "hm"
    assert heard.text() == "hi"


def test_candidates_are_choices_and_all_must_finish() -> None:
    asked = exchange("gemini", stream=True, n=2)
    raw = fed(asked, events(event(piece({"text": "a"}), piece({"text": "b"}, index=1, finish="STOP"))))
    assert not asked.finished
    raw += fed(asked, events(said("c", finish="MAX_TOKENS")))
    assert asked.finished
    heard = hear(raw)
    assert (heard.text(0), heard.text(1)) == ("ac", "b")
    assert heard.finish_reasons == [(1, "stop"), (0, "length")]
    roles = [choice["index"] for chunk in heard.chunks for choice in chunk["choices"] if "role" in choice["delta"]]
    assert roles == [0, 1]


def test_usage_is_counted_always_and_told_to_the_client_that_asked() -> None:
    asked = exchange("gemini", stream=True)
    raw = fed(asked, events(*HELLO))
    assert (asked.usage.input_tokens, asked.usage.output_tokens, asked.usage.reasoning_tokens) == (8, 6, 2)
    assert b"usage" not in raw + asked.end()

    heard = stream(*HELLO, stream_options={"include_usage": True})
    assert heard.chunks[-1]["choices"] == []
    assert heard.chunks[-1]["usage"] == {
        "prompt_tokens": 8,
        "completion_tokens": 6,
        "total_tokens": 14,
        "completion_tokens_details": {"reasoning_tokens": 2},
    }


def test_a_stream_that_counts_nothing_tells_no_usage() -> None:
    assert stream(*HELLO[:2], stream_options={"include_usage": True}).usage is None


def test_a_finish_reason_comes_once() -> None:
    assert stream(said("a", finish="STOP"), said("", finish="STOP")).finish_reasons == [(0, "stop")]


FAILED: list[tuple[str, tuple[Json, ...], Kind]] = [
    ("an error", ({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}},), Kind.OVERLOADED),
    ("a blocked prompt", ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}},), Kind.CONTENT_FILTER),
    ("a blocked answer", (event({"finishReason": "SAFETY"}),), Kind.CONTENT_FILTER),
    ("nothing said", (event(piece(finish="STOP")),), Kind.TRANSIENT),
    ("a call that came out wrong", (event({"finishReason": "MALFORMED_FUNCTION_CALL"}),), Kind.TRANSIENT),
]


@pytest.mark.parametrize(("documents", "kind"), [row[1:] for row in FAILED], ids=[row[0] for row in FAILED])
def test_a_stream_that_is_no_answer(documents: tuple[Json, ...], kind: Kind) -> None:
    asked = exchange("gemini", stream=True)
    fed(asked, events(*documents))
    assert asked.error is not None
    assert asked.error.kind is kind
    assert not asked.finished
    assert not asked.has_content


def test_an_error_in_a_list_is_one() -> None:
    asked = exchange("gemini", stream=True)
    fed(asked, b'data: [{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}]\n\n')
    assert asked.error is not None
    assert asked.error.kind is Kind.RATE_LIMIT


def test_an_answer_that_is_stopped_halfway_says_so() -> None:
    assert stream(said("a"), event({"finishReason": "SAFETY"})).finish_reasons == [(0, "content_filter")]


def test_an_answer_that_breaks_off_does_not_look_complete() -> None:
    asked = exchange("gemini", stream=True)
    heard = hear(fed(asked, events(said("a"), said("b", finish="OTHER"))))
    assert heard.text() == "ab"
    assert heard.finish_reasons == []
    assert asked.error is not None
    assert asked.error.kind is Kind.TRANSIENT


def test_thinking_to_the_limit_is_an_end() -> None:
    assert stream(event(piece(finish="MAX_TOKENS"))).finish_reasons == [(0, "length")]


def test_no_end_is_no_end() -> None:
    asked = exchange("gemini", stream=True)
    fed(asked, events(said("a")))
    assert asked.has_content
    assert not asked.finished
    assert not asked.closed


def test_what_cannot_be_decoded_is_dropped_and_counted() -> None:
    asked = exchange("gemini", stream=True)
    broken = [
        b"data: {nope\n\n",
        b'data: {"candidates":[1]}\n\n',
        b'data: {"candidates":[{"content":{"parts":[{"functionCall":{}}, {"functionCall":{"args":{}}}]}}]}\n\n',
    ]
    raw = fed(asked, [*broken, events(*HELLO)])
    assert hear(raw).text() == "Hello"
    assert asked.dropped == 3


def test_a_call_after_what_looked_like_the_end_is_the_reason() -> None:
    heard = stream(said("Let me look.", finish="STOP"), event(piece(CALL, finish="STOP")))
    assert len(heard.tool_calls) == 1
    assert heard.finish_reasons[-1] == (0, "tool_calls")
