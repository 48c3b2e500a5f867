"""Responses to targets that have them: as they came, both ways."""

import json

import pytest

from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.base import Answer, Usage
from tests.routing.adapters.exchanges import Json, events, fed
from tests.routing.adapters.responses import OPENAIS, asking, heard, left_out, listened, read_events, told
from tests.routing.adapters.test_openai import chunk
from tests.routing.adapters.test_responses_answers import CALL, completion

USAGE: Json = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
    "output_tokens": 3,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 12,
}
MESSAGE: Json = {
    "type": "message",
    "id": "msg_1",
    "status": "completed",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "hi", "annotations": []}, {"type": "refusal", "refusal": "no"}],
}
SEARCH: Json = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "q"},
}
THOUGHT: Json = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}
FUNCTION: Json = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c",
    "name": "f",
    "arguments": "{}",
    "status": "completed",
}


def response(*output: Json, status: str = "completed", **members: object) -> Json:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": "gpt-5",
        "output": list(output),
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": USAGE,
        "novelty": {"kept": True},
    } | members


@pytest.mark.parametrize(
    ("format_", "base", "url", "header"),
    [
        ("openai", OPENAIS, f"{OPENAIS}/responses", b"authorization"),
        ("openai", "https://eu.api.openai.com/v1/", "https://eu.api.openai.com/v1/responses", b"authorization"),
        ("azure", "https://openai.test", "https://openai.test/openai/v1/responses", b"api-key"),
        ("azure", "https://a.test/openai/", "https://a.test/openai/v1/responses", b"api-key"),
        ("azure", "https://a.test/openai/v1", "https://a.test/openai/v1/responses", b"api-key"),
        (
            "azure",
            "https://a.test/v1?api-version=preview",
            "https://a.test/v1/responses?api-version=preview",
            b"api-key",
        ),
        (
            "azure",
            "https://a.test/openai/deployments/d?api-version=2024-10-21",
            "https://a.test/openai/v1/responses",
            b"api-key",
        ),
    ],
)
def test_who_has_responses_is_asked_for_them(format_: str, base: str, url: str, header: bytes) -> None:
    call = asking(format_, base=base).request()
    assert call.url == url
    assert dict(call.headers)[header].endswith(b"upstream-key-1")


@pytest.mark.parametrize("base", ["https://api.groq.com/openai/v1", "https://api.openai.com.evil.test/v1"])
def test_other_servers_of_openais_format_are_asked_for_chat_completions(base: str) -> None:
    assert asking("openai", base=base).request().url == f"{base}/chat/completions"


def test_members_nobody_knows_pass_both_ways() -> None:
    wanted: Json = {
        "input": [MESSAGE | {"novelty": 1}, THOUGHT, {"type": "item_reference", "id": "msg_0"}],
        "previous_response_id": "resp_0",
        "tools": [{"type": "web_search"}],
        "background": True,
        "novelty": [1],
    }
    assert told("azure", **wanted) == wanted | {"model": "gpt-4o"}
    body = json.dumps(response(MESSAGE, SEARCH)).encode()
    answer = asking("azure").unary(body, {})
    assert isinstance(answer, Answer)
    assert (answer.body, answer.usage) == (body, Usage(9, 3, 4, 2, 0))


def test_ids_of_ours_are_not_sent_where_they_would_be_looked_up() -> None:
    ours = heard(completion("tool_calls", content="hi", reasoning_content="hm", tool_calls=[CALL]))["output"]
    items = [*ours, THOUGHT, MESSAGE]
    sent = told("azure", input=items)["input"]
    assert [(item["type"], item.get("id")) for item in sent] == [
        *(("message", None), ("function_call", None)),
        *(("reasoning", "rs_1"), ("message", "msg_1")),
    ]
    assert left_out("azure", input=items) == ("input.reasoning",)
    assert left_out("azure", input=[MESSAGE]) == ()


@pytest.mark.parametrize(
    "document",
    [
        response(status="queued", usage=None),
        response(status="incomplete", incomplete_details={"reason": "content_filter"}),
        response(FUNCTION),
    ],
)
def test_what_says_something_or_why_not_is_an_answer(document: Json) -> None:
    assert isinstance(asking("azure").unary(json.dumps(document).encode(), {}), Answer)


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (response(), Kind.TRANSIENT),
        ({"object": "chat.completion", "choices": []}, Kind.TRANSIENT),
        ([], Kind.TRANSIENT),
        (response(status="failed", error={"code": "server_error", "message": "oh"}), Kind.TRANSIENT),
        (response(status="failed", error={"code": "rate_limit_exceeded", "message": "slow"}), Kind.RATE_LIMIT),
        ({"error": {"code": "insufficient_quota", "message": "pay"}}, Kind.QUOTA_EXHAUSTED),
    ],
)
def test_what_is_no_answer_is_a_failure(document: object, kind: Kind) -> None:
    result = asking("azure").unary(json.dumps(document).encode(), {})
    assert isinstance(result, Failure)
    assert result.kind is kind


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": None}, Kind.RATE_LIMIT),
        ({"type": "error", "error": {"code": "server_is_overloaded", "message": "busy"}}, Kind.OVERLOADED),
        ({"type": "response.failed", "response": response(status="failed", error=None)}, Kind.TRANSIENT),
        (
            {
                "type": "response.failed",
                "response": response(status="failed", error={"code": "rate_limit_exceeded", "message": "slow"}),
            },
            Kind.RATE_LIMIT,
        ),
        ({"error": {"code": "insufficient_quota", "message": "pay"}}, Kind.QUOTA_EXHAUSTED),
    ],
)
def test_errors_in_a_stream_are_classified(event: Json, kind: Kind) -> None:
    asked = asking("azure", stream=True)
    assert fed(asked, events(event)) == b""
    assert asked.error is not None
    assert asked.error.kind is kind


def test_an_event_with_a_message_of_its_own_is_no_error() -> None:
    asked = asking("azure", stream=True)
    event = events({"type": "response.novelty", "message": "hello"})
    assert fed(asked, event) == event
    assert asked.error is None


@pytest.mark.parametrize(
    ("event", "content"),
    [
        ({"type": "response.created", "response": response(status="in_progress")}, False),
        ({"type": "response.output_item.added", "item": MESSAGE}, False),
        ({"type": "response.output_item.added", "item": THOUGHT}, False),
        ({"type": "response.content_part.added", "part": {}}, False),
        ({"type": "response.output_item.added", "item": FUNCTION}, True),
        ({"type": "response.output_item.added", "item": SEARCH}, True),
        ({"type": "response.reasoning_summary_text.delta", "delta": "h"}, True),
        ({"type": "response.output_text.delta", "delta": "h"}, True),
    ],
)
def test_content_is_what_the_client_can_show(event: Json, content: bool) -> None:
    asked = asking("azure", stream=True)
    assert fed(asked, events(event)) == events(event)
    assert (asked.has_content, asked.finished) == (content, False)


@pytest.mark.parametrize("status", ["completed", "incomplete"])
def test_the_last_event_waits_for_the_end(status: str) -> None:
    asked = asking("azure", stream=True)
    last = events({"type": f"response.{status}", "response": response(MESSAGE, status=status), "novelty": 1})
    assert fed(asked, last) == b""
    assert (asked.finished, asked.closed, asked.usage) == (True, True, Usage(9, 3, 4, 2, 0))
    assert asked.end() == last


def test_an_unstreamed_answer_to_a_streamed_request_is_replayed() -> None:
    asked = asking("azure", stream=True)
    answer = asked.unary(json.dumps(response(THOUGHT, SEARCH, MESSAGE, FUNCTION)).encode(), {})
    assert isinstance(answer, Answer)
    found = read_events(asked.replay(answer))
    assert found[-1]["response"]["output"] == [THOUGHT, SEARCH, MESSAGE, FUNCTION]


def test_a_stream_is_of_the_same_kind_whoever_answers() -> None:
    translated = listened(chunk(content="hi"), chunk("stop"))
    asked = asking("azure", stream=True)
    said = MESSAGE | {"content": MESSAGE["content"][:1]}
    answer = asked.unary(json.dumps(response(said)).encode(), {})
    assert isinstance(answer, Answer)
    native = read_events(asked.replay(answer))
    assert [event["type"] for event in native] == [event["type"] for event in translated]


def test_the_emergency_cap_holds() -> None:
    assert told("azure", cap=16, max_output_tokens=100)["max_output_tokens"] == 16
    assert told("azure", cap=16)["max_output_tokens"] == 16
