"""Chat completions as responses, whole and streamed, in the eyes of OpenAI's SDK."""

import json
from typing import Any

import pytest

from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.base import Answer
from tests.routing.adapters.exchanges import Json, events, fed
from tests.routing.adapters.responses import asking, heard, listened, read_events
from tests.routing.adapters.test_anthropic_streams import HELLO as CLAUDE_HELLO
from tests.routing.adapters.test_gemini_streams import HELLO as GEMINI_HELLO
from tests.routing.adapters.test_openai import chunk

CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
USAGE: Json = {
    "prompt_tokens": 9,
    "completion_tokens": 3,
    "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
    "completion_tokens_details": {"reasoning_tokens": 2},
}


def completion(finish: str = "stop", **message: Any) -> Json:
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m-2026", "choices": [choice]}


def kinds(found: list[Json]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in found]


def test_thoughts_words_refusals_and_calls_are_items_in_their_order() -> None:
    said = completion("tool_calls", content="hi", refusal="no", reasoning_content="hm", tool_calls=[CALL])
    response = heard({**said, "usage": USAGE})
    thought, message, refusal, call = response["output"]
    assert thought["summary"] == [{"type": "summary_text", "text": "hm"}]
    assert message["content"] == [{"type": "output_text", "text": "hi", "annotations": [], "logprobs": []}]
    assert refusal["content"] == [{"type": "refusal", "refusal": "no"}]
    assert (call["type"], call["call_id"], call["name"], call["arguments"]) == (
        *("function_call", "call_1", "f"),
        '{"x":1}',
    )
    assert all(item.get("status", "completed") == "completed" for item in response["output"])
    ids = [response["id"], *(item["id"] for item in response["output"])]
    assert [one.partition("_")[0] for one in ids] == ["resp", "rs", "msg", "msg", "fc"]
    assert max(map(len, ids)) <= 64
    assert len(set(ids)) == len(ids)
    assert (response["status"], response["model"], response["store"]) == ("completed", "m-2026", False)
    assert response["usage"] == {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 12,
    }


def test_what_was_asked_for_is_mirrored() -> None:
    asked: Json = {
        "instructions": "be brief",
        "max_output_tokens": 100,
        "metadata": {"a": "b"},
        "parallel_tool_calls": False,
        "reasoning": {"effort": "low"},
        "temperature": 0,
        "text": {"verbosity": "low"},
        "tool_choice": "none",
        "tools": [{"type": "function", "name": "f", "parameters": {}, "strict": False}],
        "top_p": 0.5,
        "user": "u",
    }
    response = heard(completion(content="hi"), **asked)
    assert {name: response[name] for name in asked} == asked | {
        "reasoning": {"effort": "low", "summary": None},
        "text": {"format": {"type": "text"}, "verbosity": "low"},
    }
    assert response["usage"] is None


@pytest.mark.parametrize(("finish", "reason"), [("length", "max_output_tokens"), ("content_filter", "content_filter")])
def test_an_answer_that_was_cut_is_incomplete_whole_and_streamed(finish: str, reason: str) -> None:
    streamed = listened(chunk(content="h"), chunk(finish))[-1]
    assert streamed["type"] == "response.incomplete"
    for response in (heard(completion(finish, content="h")), streamed["response"]):
        assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": reason})
        assert response["output"][-1]["status"] == "incomplete"


def test_a_stream_of_text() -> None:
    found = listened(
        chunk(role="assistant", content=""), chunk(content="Hel"), chunk(content="lo"), chunk("stop"), instructions="x"
    )
    assert kinds(found) == [
        *("created", "in_progress", "output_item.added", "content_part.added"),
        *("output_text.delta", "output_text.delta", "output_text.done", "content_part.done"),
        *("output_item.done", "completed"),
    ]
    assert found[0]["response"]["status"] == "in_progress"
    assert found[0]["response"]["instructions"] == "x"
    assert found[-1]["response"]["output"][0]["content"][0]["text"] == "Hello"
    assert found[-1]["response"]["usage"] is None


def test_a_stream_of_everything() -> None:
    opening = {"index": 0, "id": "call_1", "function": {"name": "f", "arguments": ""}}
    found = listened(
        chunk(role="assistant", reasoning_content="h"),
        chunk(reasoning_content="m"),
        chunk(content="hi"),
        chunk(refusal="n"),
        chunk(refusal="o"),
        chunk(tool_calls=[opening]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": '{"x":'}}]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": "1}"}}]),
        chunk(tool_calls=[{"index": 1, "id": "call_2", "function": {"name": "g", "arguments": ""}}]),
        chunk("tool_calls"),
        {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": USAGE},
    )
    assert kinds(found)[2:-1] == [
        *("output_item.added", "reasoning_summary_part.added"),
        *("reasoning_summary_text.delta", "reasoning_summary_text.delta", "reasoning_summary_text.done"),
        *("reasoning_summary_part.done", "output_item.done"),
        *("output_item.added", "content_part.added", "output_text.delta", "output_text.done"),
        *("content_part.done", "output_item.done"),
        *("output_item.added", "content_part.added", "refusal.delta", "refusal.delta", "refusal.done"),
        *("content_part.done", "output_item.done"),
        *("output_item.added", "function_call_arguments.delta", "function_call_arguments.delta"),
        *("function_call_arguments.done", "output_item.done"),
        *("output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done"),
    ]
    response = found[-1]["response"]
    assert response["output"] == [event["item"] for event in found if event["type"].endswith("output_item.done")]
    assert [item.get("arguments") for item in response["output"]] == [None, None, None, '{"x":1}', "{}"]
    assert response["usage"]["output_tokens_details"] == {"reasoning_tokens": 2}


@pytest.mark.parametrize(("format_", "documents"), [("anthropic", CLAUDE_HELLO), ("gemini", GEMINI_HELLO)])
def test_streams_of_other_formats(format_: str, documents: tuple[Json, ...]) -> None:
    found = listened(*documents, format_=format_, done=False)
    deltas = "".join(event["delta"] for event in found if event["type"] == "response.output_text.delta")
    assert deltas
    assert found[-1]["response"]["output"][-1]["content"][0]["text"] == deltas
    assert found[-1]["response"]["usage"]["input_tokens"] > 0


def test_an_unstreamed_answer_to_a_streamed_request_is_replayed() -> None:
    asked = asking(stream=True)
    asked.request()
    answer = asked.unary(json.dumps(completion("tool_calls", content="hi", tool_calls=[CALL])).encode(), {})
    assert isinstance(answer, Answer)
    found = read_events(asked.replay(answer))
    assert [item["type"] for item in found[-1]["response"]["output"]] == ["message", "function_call"]


def test_an_error_in_the_stream_is_a_failure() -> None:
    asked = asking(stream=True)
    asked.request()
    fed(asked, events({"error": {"message": "slow down", "code": "rate_limit_exceeded"}}))
    assert isinstance(asked.error, Failure)
    assert asked.error.kind is Kind.RATE_LIMIT
