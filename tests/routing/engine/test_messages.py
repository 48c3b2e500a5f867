"""Anthropic clients: passed through to Anthropic's format, through chat completions to all others."""

import json
from typing import Any

import pytest

from .harness import HELLO, ROLE, Answer, Break, Gateway, Reply, chat, chunk, completion, failing, typed_event
from .harness import streaming as stream_of

PATH = "/v1/messages"


def message(text: str = "hello", **members: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 2},
    } | members


def asked(**members: Any) -> dict[str, Any]:
    return {"model": "model", "max_tokens": 100, "messages": [{"role": "user", "content": "ping"}]} | members


START = typed_event("message_start", message=message(content=[], stop_reason=None))
OPEN = typed_event("content_block_start", index=0, content_block={"type": "text", "text": ""})
PING = typed_event("ping")


def said(text: str) -> bytes:
    return typed_event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})


END = (
    typed_event("content_block_stop", index=0),
    typed_event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 2}),
    typed_event("message_stop"),
)


async def ask(gateway: Gateway, body: Any = None, **options: Any) -> Answer:
    return await gateway.ask(body or asked(), path=PATH, **options)


async def test_a_target_of_its_own_format_gets_and_gives_every_member_untouched(gateway: Gateway) -> None:
    reply = message(novelty={"kept": True})
    provider = gateway.provider("a", Reply(body=reply), format="anthropic")
    answer = await ask(
        gateway, asked(unknown=[1]), headers={"anthropic-beta": "new-2026", "anthropic-version": "2024-01-01"}
    )
    assert answer.json() == reply
    assert provider.bodies() == [asked(unknown=[1]) | {"model": "m"}]
    [call] = provider.calls
    assert str(call.url) == "http://a.invalid/v1/messages"
    assert (call.headers["x-api-key"], call.headers["anthropic-beta"]) == ("key-a-main", "new-2026")
    assert call.headers["anthropic-version"] == "2024-01-01"
    assert (gateway.records[0].input_tokens, gateway.records[0].output_tokens) == (5, 2)


async def test_its_stream_is_held_until_content_and_relayed_as_it_came(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(START, OPEN, PING, said("Hel"), said("lo"), *END), format="anthropic")
    answer = await ask(gateway, asked(stream=True))
    assert answer.body == b"".join([START, OPEN, PING, said("Hel"), said("lo"), *END])


async def test_a_failure_before_content_is_answered_by_another_format_as_a_message(gateway: Gateway) -> None:
    overloaded = typed_event("error", error={"type": "overloaded_error", "message": "Overloaded"})
    gateway.provider("a", stream_of(START, OPEN, overloaded), format="anthropic")
    second = gateway.provider("b", stream_of(*HELLO))
    answer = await ask(gateway, asked(stream=True, system="be brief"), headers={"anthropic-beta": "new-2026"})
    assert answer.served_by == "b"
    kinds = [one["type"] for one in answer.events]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    text = "".join(one["delta"].get("text", "") for one in answer.events if one["type"] == "content_block_delta")
    assert text == "Hello"
    [sent] = second.bodies()
    assert [one["role"] for one in sent["messages"]] == ["system", "user"]
    assert "anthropic-beta" not in second.calls[0].headers
    assert gateway.breaker("a").last_failure_kind == "overloaded"


async def test_an_unstreamed_answer_is_translated_with_its_tool_call(gateway: Gateway) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    reply = completion(message={"content": "Let me look.", "tool_calls": [call]})
    reply["choices"][0]["finish_reason"] = "tool_calls"
    provider = gateway.provider("a", Reply(body=reply))
    tools = [{"name": "f", "input_schema": {"type": "object"}}]
    answer = (await ask(gateway, asked(tools=tools, tool_choice={"type": "any"}))).json()
    assert (answer["type"], answer["stop_reason"]) == ("message", "tool_use")
    assert answer["content"] == [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "call_1", "name": "f", "input": {"x": 1}},
    ]
    assert provider.bodies()[0]["tool_choice"] == "required"


@pytest.mark.parametrize("format_", ["anthropic", "openai"])
async def test_a_stream_that_breaks_ends_with_an_error_event(gateway: Gateway, format_: str) -> None:
    pieces = (START, OPEN, said("Hel"), Break()) if format_ == "anthropic" else (ROLE, chunk("Hel"), Break())
    gateway.provider("a", stream_of(*pieces), format=format_)
    answer = await ask(gateway, asked(stream=True))
    last = answer.events[-1]
    assert (last["type"], last["error"]["type"]) == ("error", "api_error")
    assert last["error"]["code"] == "stream_interrupted"
    assert b"message_stop" not in answer.body
    assert answer.body.rpartition(b"event: ")[2].startswith(b"error\n")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (asked(max_tokens=None), "max_tokens"),
        (asked(max_tokens=0), "max_tokens"),
        (asked(messages=[]), "messages"),
        (asked(messages=[{"role": "user"}]), "messages[0].content"),
        (asked(stream=1), "stream"),
    ],
)
async def test_what_cannot_be_meant_is_anthropic_shaped(gateway: Gateway, body: dict[str, Any], param: str) -> None:
    provider = gateway.provider("a", format="anthropic")
    answer = await ask(gateway, body)
    document = answer.json()
    assert (answer.status, document["type"], document["error"]["type"]) == (400, "error", "invalid_request_error")
    assert document["error"]["param"] == param
    assert document["request_id"] == answer.headers["x-omniroute-request-id"] == answer.headers["request-id"]
    assert not provider.calls


@pytest.mark.parametrize("role", ["user", "assistant"])
async def test_a_block_that_is_no_object_is_refused_with_its_place(gateway: Gateway, role: str) -> None:
    provider = gateway.provider("a")
    answer = await ask(gateway, asked(messages=[{"role": role, "content": [{"type": "text", "text": "a"}, None]}]))
    assert (answer.status, answer.error["param"]) == (400, "messages[0].content[1]")
    assert not provider.calls


@pytest.mark.parametrize("path", [PATH, f"{PATH}/count_tokens"])
async def test_what_is_nested_deeper_than_can_be_sent_on_is_refused(gateway: Gateway, path: str) -> None:
    provider = gateway.provider("a")
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {"deep": json.loads("[" * 500 + "]" * 500)}}
    answer = await gateway.ask(asked(messages=[{"role": "assistant", "content": [call]}]), path=path)
    assert (answer.status, answer.error["code"]) == (400, "invalid_request")
    assert not provider.calls


async def test_refusals_and_failures_are_anthropic_shaped(gateway: Gateway) -> None:
    gateway.provider("a", failing(500))
    unknown = await ask(gateway, asked(model="nothing"))
    assert (unknown.status, unknown.json()["error"]["type"]) == (404, "not_found_error")
    stranger = await ask(gateway, key="wrong")
    assert (stranger.status, stranger.json()["error"]["type"]) == (401, "authentication_error")
    failed = await ask(gateway)
    assert (failed.status, failed.json()["error"]["type"]) == (502, "api_error")
    assert failed.json()["error"]["omniroute"]["targets"][0]["reason"] == "transient"


async def test_tokens_are_counted_by_the_provider_or_estimated_and_said_so(gateway: Gateway) -> None:
    provider = gateway.provider("a", Reply(body={"input_tokens": 42}), format="anthropic")
    body = {"model": "model", "messages": [{"role": "user", "content": "ping"}]}
    counted = await gateway.ask(body, path=f"{PATH}/count_tokens")
    assert counted.json() == {"input_tokens": 42}
    assert str(provider.calls[0].url).endswith("/v1/messages/count_tokens")
    other = gateway.provider("b")
    estimated = await gateway.ask(body | {"model": "b/m"}, path=f"{PATH}/count_tokens")
    assert estimated.headers["x-omniroute-estimate"] == "true"
    assert estimated.json()["input_tokens"] > 0
    assert estimated.headers["x-omniroute-attempts"] == "0"
    assert not other.calls
    assert not gateway.registry._permits


async def test_an_unstreamed_message_that_cannot_be_told_as_a_stream_is_a_failure(gateway: Gateway) -> None:
    gateway.provider("a", Reply(body=message(content=["hi"])), format="anthropic")
    gateway.provider("b")
    assert (await ask(gateway, asked(stream=True))).served_by == "b"


@pytest.mark.parametrize(
    ("kind", "source", "tokens"),
    [
        ("image", {"type": "base64", "media_type": "image/png", "data": "A" * 1_000_000}, 1600),
        ("image", {"type": "url", "url": "https://pictures.test/a.png"}, 1600),
        ("document", {"type": "base64", "media_type": "application/pdf", "data": "A" * 320_000}, 10_000),
        ("document", {"type": "text", "media_type": "text/plain", "data": "word" * 1000}, 1000),
        ("image", {"type": "base64", "data": 5}, 1600),
    ],
)
async def test_media_are_estimated_by_what_they_show_and_not_by_their_bytes(
    gateway: Gateway, kind: str, source: dict[str, Any], tokens: int
) -> None:
    gateway.provider("b")
    block = {"type": kind, "source": source}
    within = {"type": "document", "source": {"type": "content", "content": [block]}}
    for content in ([block], [{"type": "tool_result", "tool_use_id": "t", "content": [block]}], [within]):
        body = {"model": "b/m", "messages": [{"role": "user", "content": content}]}
        estimated = await gateway.ask(body, path=f"{PATH}/count_tokens")
        assert tokens < estimated.json()["input_tokens"] < tokens + 100


async def test_the_emergency_cap_holds_for_a_target_of_its_own_format(gateway: Gateway) -> None:
    gateway.provider("a", failing(503))
    last = gateway.provider("free", Reply(body=message()), in_chain=False, format="anthropic")
    gateway.emergency("free", max_output_tokens=16)
    assert (await ask(gateway)).served_by == "free"
    assert last.bodies()[0]["max_tokens"] == 16


async def test_embeddings_are_passed_on_and_judged(gateway: Gateway) -> None:
    answer = {"object": "list", "data": [{"embedding": [0.1]}], "usage": {"prompt_tokens": 3}, "model": "m"}
    empty = gateway.provider("a", Reply(body=answer | {"data": []}))
    gateway.provider("b", Reply(body=answer))
    body = {"model": "model", "input": ["a", "b"], "dimensions": 8}
    served = await gateway.ask(body, path="/v1/embeddings")
    assert (served.served_by, served.json()) == ("b", answer)
    assert empty.bodies() == [body | {"model": "m"}]
    assert str(empty.calls[0].url).endswith("/v1/embeddings")
    assert gateway.records[0].input_tokens == 3
    assert (await gateway.ask({"model": "model", "input": []}, path="/v1/embeddings")).error["param"] == "input"
    gateway.provider("c", format="anthropic")
    refused = await gateway.ask({"model": "c/m", "input": "a"}, path="/v1/embeddings")
    assert (refused.status, refused.headers["x-omniroute-attempts"]) == (400, "0")


async def test_chat_clients_still_get_chat_errors(gateway: Gateway) -> None:
    gateway.provider("a", failing(500), format="anthropic")
    assert (await gateway.ask(chat())).error["code"] == "upstream_error"


BROKEN_CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"city": '}}
CHAT_WITH_IT = [{"role": "user", "content": "ping"}, {"role": "assistant", "tool_calls": [BROKEN_CALL]}]
USE = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": '{"city": '}
MESSAGES_WITH_IT = [{"role": "user", "content": "ping"}, {"role": "assistant", "content": [USE]}]


@pytest.mark.parametrize(
    ("path", "format_", "messages", "param"),
    [
        ("/v1/chat/completions", "anthropic", CHAT_WITH_IT, "messages[1].tool_calls[0].function.arguments"),
        ("/v1/chat/completions", "gemini", CHAT_WITH_IT, "messages[1].tool_calls[0].function.arguments"),
        (PATH, "openai", MESSAGES_WITH_IT, "messages[1].content[0].input"),
        (PATH, "gemini", MESSAGES_WITH_IT, "messages[1].content[0].input"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_malformed_arguments_give_one_400_and_no_upstream_call(
    gateway: Gateway, path: str, format_: str, messages: list[Any], param: str, *, stream: bool
) -> None:
    first = gateway.provider("a", format=format_)
    second = gateway.provider("b", format=format_)
    answer = await gateway.ask(asked(messages=messages, stream=stream), path=path)
    assert (answer.status, answer.error["code"], answer.error["param"]) == (400, "invalid_request", param)
    assert answer.headers["x-omniroute-attempts"] == "0"
    assert not first.calls
    assert not second.calls
    assert not gateway.permits
    assert gateway.breaker("a") is None or gateway.breaker("a").failure_count == 0
