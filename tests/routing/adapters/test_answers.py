"""Unstreamed answers of Anthropic and Gemini, as chat completions or as the failures they are."""

import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletion

from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.base import Answer
from tests.routing.adapters.conversations import call
from tests.routing.adapters.exchanges import Json, answered, exchange, hear


def message(*content: Json, stop: Any = "end_turn", **more: Any) -> Json:
    """Anthropic's answer."""
    usage = {"input_tokens": 12, "output_tokens": 4}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": list(content),
        "stop_reason": stop,
        "usage": usage,
    } | more


def candidate(*parts: Json, finish: str | None = "STOP", **more: Any) -> Json:
    reason = {} if finish is None else {"finishReason": finish}
    return {"content": {"parts": list(parts), "role": "model"}, **reason, **more}


def generated(*candidates: Json, **more: Any) -> Json:
    """Gemini's answer."""
    usage = {"promptTokenCount": 12, "candidatesTokenCount": 4, "totalTokenCount": 16}
    return {
        "candidates": list(candidates),
        "usageMetadata": usage,
        "modelVersion": "gemini-x",
        "responseId": "r1",
    } | more


def choice(content: str | None, finish: str, index: int = 0, **more: Any) -> Json:
    whole = {"role": "assistant", "content": content, "refusal": None, **more}
    return {"index": index, "message": whole, "logprobs": None, "finish_reason": finish}


HI = {"type": "text", "text": "hi"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {"path": "/a"}}

ANTHROPIC: list[tuple[str, Json, list[Json]]] = [
    ("words", message(HI), [choice("hi", "stop")]),
    ("words in two blocks", message(HI, HI), [choice("hihi", "stop")]),
    ("a stop sequence", message(HI, stop="stop_sequence"), [choice("hi", "stop")]),
    ("too long", message(HI, stop="max_tokens"), [choice("hi", "length")]),
    ("the window is full", message(HI, stop="model_context_window_exceeded"), [choice("hi", "length")]),
    ("a reason nobody knows", message(HI, stop="bored"), [choice("hi", "stop")]),
    ("stopped by the safety system", message(HI, stop="refusal"), [choice("hi", "content_filter")]),
    ("nothing to say", message(), [choice("", "stop")]),
    (
        "thoughts",
        message(
            {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "redacted_thinking", "data": "x"}, HI
        ),
        [choice("hi", "stop", reasoning_content="hm")],
    ),
    (
        "calls",
        message(HI, USE, USE | {"id": "toolu_2", "input": {}}, stop="tool_use"),
        [
            choice(
                "hi",
                "tool_calls",
                tool_calls=[call("toolu_1", "ls", '{"path":"/a"}'), call("toolu_2", "ls", "{}")],
            )
        ],
    ),
    (
        "a call and nothing else, ended like words",
        message(USE),
        [choice(None, "tool_calls", tool_calls=[call("toolu_1", "ls", '{"path":"/a"}')])],
    ),
]

FUNCTION = {"functionCall": {"name": "f", "args": {"a": 1}}}

GEMINI: list[tuple[str, Json, list[Json]]] = [
    ("words", generated(candidate({"text": "h"}, {"text": "i"})), [choice("hi", "stop")]),
    ("too long", generated(candidate({"text": "hi"}, finish="MAX_TOKENS")), [choice("hi", "length")]),
    ("all its tokens were thoughts", generated(candidate(finish="MAX_TOKENS")), [choice(None, "length")]),
    (
        "stopped by the safety system",
        generated(candidate({"text": "hi"}, finish="SAFETY")),
        [choice("hi", "content_filter")],
    ),
    ("no reason", generated(candidate({"text": "hi"}, finish=None)), [choice("hi", "stop")]),
    (
        "thoughts",
        generated(candidate({"text": "hm", "thought": True}, {"text": "hi"})),
        [choice("hi", "stop", reasoning_content="hm")],
    ),
    (
        "words and a call in one part",
        generated(candidate({"text": "Let me check.", **FUNCTION})),
        [
            choice(
                "Let me check.",
                "tool_calls",
                tool_calls=[call("call_6832d16859dbd1918b388cb3", "f", '{"a":1}')],
            )
        ],
    ),
    (
        "a call with an id and the signature of a thought",
        generated(candidate({"functionCall": {"id": "fc-1", "name": "f"}, "thoughtSignature": "c2ln"})),
        [
            choice(
                None,
                "tool_calls",
                tool_calls=[call("fc-1", "f", "{}", extra_content={"google": {"thought_signature": "c2ln"}})],
            )
        ],
    ),
    (
        "several candidates, one of them blocked",
        generated(candidate({"text": "a"}), candidate(finish="SAFETY", index=1), candidate({"text": "b"}, index=2)),
        [choice("a", "stop"), choice(None, "content_filter", 1), choice("b", "stop", 2)],
    ),
]


@pytest.mark.parametrize(("document", "choices"), [row[1:] for row in ANTHROPIC], ids=[row[0] for row in ANTHROPIC])
def test_anthropic_answers(document: Json, choices: list[Json]) -> None:
    completion = answered("anthropic", document)
    assert completion["choices"] == choices
    assert (completion["id"], completion["model"], completion["object"]) == ("msg_1", "claude-x", "chat.completion")
    ChatCompletion.model_validate(completion)


@pytest.mark.parametrize(("document", "choices"), [row[1:] for row in GEMINI], ids=[row[0] for row in GEMINI])
def test_gemini_answers(document: Json, choices: list[Json]) -> None:
    completion = answered("gemini", document)
    assert completion["choices"] == choices
    assert (completion["id"], completion["model"], completion["object"]) == ("r1", "gemini-x", "chat.completion")
    ChatCompletion.model_validate(completion)


USAGES: list[tuple[str, str, Json, Json]] = [
    (
        "anthropic",
        "what was read from and written to the cache is part of the prompt",
        message(
            HI,
            usage={
                "input_tokens": 10,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 1000,
                "output_tokens": 50,
                "output_tokens_details": {"thinking_tokens": 30},
            },
        ),
        {
            "prompt_tokens": 1110,
            "completion_tokens": 50,
            "total_tokens": 1160,
            "prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 1000},
            "completion_tokens_details": {"reasoning_tokens": 30},
        },
    ),
    (
        "gemini",
        "thoughts are part of the completion, results of tools of the prompt",
        generated(
            candidate({"text": "hi"}),
            usageMetadata={
                "promptTokenCount": 10,
                "toolUsePromptTokenCount": 5,
                "cachedContentTokenCount": 8,
                "candidatesTokenCount": 3,
                "thoughtsTokenCount": 4,
            },
        ),
        {
            "prompt_tokens": 15,
            "completion_tokens": 7,
            "total_tokens": 22,
            "prompt_tokens_details": {"cached_tokens": 8},
            "completion_tokens_details": {"reasoning_tokens": 4},
        },
    ),
    (
        "gemini",
        "nonsense is not counted",
        generated(candidate({"text": "hi"}), usageMetadata={"promptTokenCount": "many", "candidatesTokenCount": -1}),
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    ),
]


@pytest.mark.parametrize(
    ("format_", "document", "usage"), [(row[0], *row[2:]) for row in USAGES], ids=[row[1] for row in USAGES]
)
def test_usage(format_: str, document: Json, usage: Json) -> None:
    assert answered(format_, document)["usage"] == usage


OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
EXHAUSTED = {"error": {"code": 429, "message": "Slow down.", "status": "RESOURCE_EXHAUSTED"}}

FAILURES: list[tuple[str, str, bytes, Kind]] = [
    ("anthropic", "an error", json.dumps(OVERLOADED).encode(), Kind.OVERLOADED),
    ("anthropic", "no body", b"", Kind.TRANSIENT),
    ("anthropic", "no JSON", b"<html>", Kind.TRANSIENT),
    ("anthropic", "a list", b"[1]", Kind.TRANSIENT),
    ("anthropic", "no content", b'{"type":"message"}', Kind.TRANSIENT),
    ("anthropic", "content that is none", b'{"content":[{"type":"text"}]}', Kind.TRANSIENT),
    ("anthropic", "no content and no reason", json.dumps(message(stop=None)).encode(), Kind.TRANSIENT),
    ("anthropic", "a refusal", json.dumps(message(stop="refusal")).encode(), Kind.CONTENT_FILTER),
    ("gemini", "an error", json.dumps(EXHAUSTED).encode(), Kind.RATE_LIMIT),
    ("gemini", "an error in a list", json.dumps([EXHAUSTED]).encode(), Kind.RATE_LIMIT),
    ("gemini", "no JSON", b"nope", Kind.TRANSIENT),
    ("gemini", "no object", b"1", Kind.TRANSIENT),
    ("gemini", "no candidates", b"{}", Kind.TRANSIENT),
    ("gemini", "candidates that are none", b'{"candidates":[1]}', Kind.TRANSIENT),
    ("gemini", "nothing said", json.dumps(generated(candidate({"text": ""}))).encode(), Kind.TRANSIENT),
    ("gemini", "a blocked prompt", b'{"promptFeedback":{"blockReason":"SAFETY"}}', Kind.CONTENT_FILTER),
    ("gemini", "a blocked answer", json.dumps(generated(candidate(finish="SPII"))).encode(), Kind.CONTENT_FILTER),
    (
        "gemini",
        "a call that came out wrong",
        json.dumps(generated(candidate({"text": "hm"}, finish="MALFORMED_FUNCTION_CALL"))).encode(),
        Kind.TRANSIENT,
    ),
]


@pytest.mark.parametrize(
    ("format_", "body", "kind"),
    [(row[0], *row[2:]) for row in FAILURES],
    ids=[f"{row[0]}: {row[1]}" for row in FAILURES],
)
def test_a_200_that_is_no_answer(format_: str, body: bytes, kind: Kind) -> None:
    result = exchange(format_).unary(body, {})
    assert isinstance(result, Failure)
    assert result.kind is kind


def test_ids_of_gemini_s_calls_are_the_same_each_time_short_and_different() -> None:
    document = generated(candidate(FUNCTION, FUNCTION), candidate(FUNCTION, index=1))

    def ids() -> list[str]:
        choices = answered("gemini", document)["choices"]
        return [one["id"] for choice in choices for one in choice["message"]["tool_calls"]]

    assert ids() == ids()
    assert len(set(ids())) == 3
    assert all(len(one) <= 40 for one in ids())
    document.pop("responseId")
    assert all(ids())


@pytest.mark.parametrize(
    ("format_", "document"),
    [("anthropic", message(HI, USE)), ("gemini", generated(candidate(FUNCTION, {"text": "hi"})))],
)
def test_an_unstreamed_answer_to_a_streamed_request_is_replayed(format_: str, document: Json) -> None:
    asked = exchange(format_, stream=True, stream_options={"include_usage": True})
    answer = asked.unary(json.dumps(document).encode(), {})
    assert isinstance(answer, Answer)
    heard = hear(asked.replay(answer))
    assert heard.done
    assert heard.text() == "hi"
    assert heard.finish_reasons == [(0, "tool_calls")]
    assert [one["name"] for one in heard.tool_calls] in (["ls"], ["f"])
    assert heard.usage is not None
    assert heard.usage["prompt_tokens"] == 12
