"""OpenAI-compatible and Azure providers: the request goes as it came, and so does the answer."""

import json

import pytest

from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.base import Answer
from routing.table import ModelFacts
from tests.routing.adapters.exchanges import Json, dropped, events, exchange, fed, hear, sent

COMPLETION: Json = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-4o",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
    "novelty": {"kept": True},
}


def chunk(finish: str | None = None, index: object = 0, **delta: object) -> Json:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def test_members_nobody_knows_pass_both_ways() -> None:
    asked = {"messages": [{"role": "user", "content": "a", "novelty": 1}], "novelty": [1], "logprobs": True}
    assert sent("openai", **asked) == {**asked, "model": "gpt-4o"}
    body = json.dumps(COMPLETION).encode()
    answer = exchange("openai").unary(body, {})
    assert isinstance(answer, Answer)
    assert answer.body == body


def test_usage_is_always_asked_for_in_a_stream() -> None:
    assert sent("openai", stream=True)["stream_options"] == {"include_usage": True}
    kept = sent("openai", stream=True, stream_options={"include_usage": False, "x": 1})
    assert kept["stream_options"] == {"include_usage": True, "x": 1}


def test_what_a_reasoning_model_refuses_is_dropped_and_recorded() -> None:
    wanted: Json = {"facts": ModelFacts(reasoning=True), "max_tokens": 5, "temperature": 0.5, "top_p": None}
    body = sent("openai", **wanted)
    assert body["max_completion_tokens"] == 5
    assert not {"max_tokens", "temperature", "top_p"} & set(body)
    assert dropped("openai", **wanted) == ("temperature",)


@pytest.mark.parametrize(
    ("format_", "url", "header"),
    [
        ("openai", "https://openai.test/v1/chat/completions", b"authorization"),
        (
            "azure",
            "https://azure.test/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21",
            b"api-key",
        ),
    ],
)
def test_keys_and_urls(format_: str, url: str, header: bytes) -> None:
    request = exchange(format_, headers=[("User-Agent", "mine")]).request()
    headers = dict(request.headers)
    assert request.url == url
    assert headers[header].endswith(b"upstream-key-1")
    assert headers[b"user-agent"] == b"mine"
    assert len(headers) == len(request.headers)


def test_an_unstreamed_answer_to_a_streamed_request_is_replayed_even_if_a_choice_lacks_its_message() -> None:
    document = {**COMPLETION, "choices": [*COMPLETION["choices"], {"index": 1, "finish_reason": "stop"}]}
    asked = exchange("openai", stream=True)
    answer = asked.unary(json.dumps(document).encode(), {})
    assert isinstance(answer, Answer)
    heard = hear(asked.replay(answer))
    assert heard.text() == "hi"
    assert heard.finish_reasons == [(0, "stop"), (1, "stop")]
    assert heard.usage is None


@pytest.mark.parametrize("index", [None, [1], "0"])
def test_a_choice_with_a_strange_index_finishes_all_the_same(index: object) -> None:
    asked = exchange("openai", stream=True)
    fed(asked, events(chunk(content="a"), chunk(finish="stop", index=index)))
    assert asked.finished


def test_an_error_in_a_200_is_classified() -> None:
    body = b'{"error":{"message":"slow down","type":"rate_limit_error","code":"rate_limit_exceeded"}}'
    result = exchange("openai").unary(body, {})
    assert isinstance(result, Failure)
    assert result.kind is Kind.RATE_LIMIT
    asked = exchange("openai", stream=True)
    fed(asked, b"data: " + body + b"\n\n")
    assert asked.error is not None
    assert asked.error.kind is Kind.RATE_LIMIT


@pytest.mark.parametrize("finish", ["error", "stop", None])
def test_an_error_inside_a_choice_is_classified_by_what_it_says(finish: str | None) -> None:
    failed = {"index": 0, "finish_reason": finish, "error": {"code": 429, "message": "the host is busy"}}
    result = exchange("openai").unary(json.dumps({**COMPLETION, "choices": [failed]}).encode(), {})
    assert isinstance(result, Failure)
    assert (result.kind, result.message) == (Kind.RATE_LIMIT, "the host is busy")
    asked = exchange("openai", stream=True)
    fed(asked, events(chunk(content="a"), {**chunk(), "choices": [{**failed, "delta": {}}]}))
    assert asked.error is not None
    assert (asked.error.kind, asked.error.message) == (Kind.RATE_LIMIT, "the host is busy")


@pytest.mark.parametrize("before", [[], [chunk(content="half an")]])
def test_a_finish_reason_of_error_is_no_end(before: list[Json]) -> None:
    asked = exchange("openai", stream=True)
    fed(asked, events(*before, chunk(finish="error")))
    assert asked.error is not None
    assert asked.error.kind is Kind.TRANSIENT
    assert not asked.finished


def test_an_answer_may_name_errors() -> None:
    asked = exchange("openai", stream=True)
    heard = hear(fed(asked, events(chunk(content='"finish_reason": "error"', error=None), chunk(finish="stop"))))
    assert asked.finished
    assert heard.text() == '"finish_reason": "error"'


USED: Json = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}


@pytest.mark.parametrize(
    "told",
    [
        {"usage": USED},
        {"x_groq": {"usage": USED}},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": USED}]},
    ],
)
@pytest.mark.parametrize("asked_for", [True, False])
def test_usage_told_beside_a_choice_comes_as_the_chunk_that_clients_ask_for(told: Json, asked_for: bool) -> None:
    asked = exchange("openai", stream=True, stream_options={"include_usage": asked_for})
    heard = hear(fed(asked, events(chunk(content="a"), chunk(finish="stop") | told)) + asked.end())
    last = [document for document in heard.chunks if not document["choices"]]
    assert [document["usage"]["completion_tokens"] for document in last] == ([3] if asked_for else [])
    assert asked.usage.output_tokens == 3
