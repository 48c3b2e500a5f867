"""Clients of OpenAI's Responses: passed through where the target has them, through chat completions elsewhere."""

from typing import Any

import pytest

from routing.table import Timeouts

from .harness import DONE, HELLO, ROLE, Answer, Break, Gateway, Hang, Reply, chunk, completion, failing, typed_event
from .harness import streaming as stream_of

PATH = "/v1/responses"


def response(text: str = "hello", **members: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [part]}
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "model": "m",
        "output": [message],
        "usage": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
    } | members


def asked(**members: Any) -> dict[str, Any]:
    return {"model": "model", "input": "ping"} | members


START = (
    typed_event("response.created", response=response(status="in_progress", output=[])),
    typed_event("response.in_progress", response=response(status="in_progress", output=[])),
    typed_event("response.output_item.added", output_index=0, item={"type": "message", "content": []}),
)
END = typed_event("response.completed", response=response())


def said(text: str) -> bytes:
    return typed_event("response.output_text.delta", output_index=0, delta=text, sequence_number=3)


async def ask(gateway: Gateway, body: Any = None, **options: Any) -> Answer:
    return await gateway.ask(body or asked(), path=PATH, **options)


async def test_a_target_that_has_them_gets_and_gives_every_member_untouched(gateway: Gateway) -> None:
    reply = response(novelty={"kept": True})
    provider = gateway.provider("a", Reply(body=reply), format="azure")
    answer = await ask(gateway, asked(unknown=[1], previous_response_id="resp_0"))
    assert answer.json() == reply
    assert provider.bodies() == [asked(unknown=[1], previous_response_id="resp_0") | {"model": "m"}]
    [call] = provider.calls
    assert str(call.url) == "http://a.invalid/v1/responses"
    [record] = gateway.records
    assert (record.input_tokens, record.output_tokens) == (5, 2)


async def test_its_stream_is_relayed_as_it_came_and_ends_without_a_sentinel(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(*START, said("Hel"), said("lo"), END), format="azure")
    answer = await ask(gateway, asked(stream=True))
    assert answer.body == b"".join([*START, said("Hel"), said("lo"), END])
    assert gateway.records[0].output_tokens == 2


@pytest.mark.parametrize("format_", ["azure", "openai"])
async def test_a_client_that_hangs_up_at_the_last_event_has_been_answered(gateway: Gateway, format_: str) -> None:
    pieces = (*START, said("Hello"), END, Hang()) if format_ == "azure" else (*HELLO[:-1], DONE, Hang())
    gateway.provider("a", stream_of(*pieces), format=format_)
    call = gateway.begin(asked(stream=True), path=PATH)
    await call.wait_for(b"event: response.completed")
    call.hang_up()
    assert (await call.answer()).complete
    assert gateway.records[0].outcome == "answered"
    assert not gateway.permits


async def test_nothing_is_sent_before_the_first_content(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(*START, Hang()), format="azure", timeouts=Timeouts(first_token=0.01))
    gateway.provider("b", stream_of(*HELLO))
    answer = await ask(gateway, asked(stream=True))
    assert answer.served_by == "b"
    kinds = [one["type"] for one in answer.events]
    assert kinds.count("response.created") == 1
    assert kinds[-1] == "response.completed"
    assert gateway.breaker("a").last_failure_kind == "timeout"


async def test_a_failure_before_content_is_answered_by_another_format(gateway: Gateway) -> None:
    failed = response(status="failed", output=[], error={"code": "server_error", "message": "oh"})
    gateway.provider("a", stream_of(*START, typed_event("response.failed", response=failed)), format="azure")
    second = gateway.provider("b", stream_of(*HELLO))
    answer = await ask(gateway, asked(stream=True, instructions="be brief"))
    assert answer.served_by == "b"
    text = "".join(one["delta"] for one in answer.events if one["type"] == "response.output_text.delta")
    assert text == "Hello"
    assert [one["role"] for one in second.bodies()[0]["messages"]] == ["system", "user"]
    assert gateway.breaker("a").last_failure_kind == "transient"


async def test_an_unstreamed_answer_is_translated_with_its_tool_call(gateway: Gateway) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    reply = completion(message={"content": None, "tool_calls": [call]})
    reply["choices"][0]["finish_reason"] = "tool_calls"
    provider = gateway.provider("a", Reply(body=reply))
    tools = [{"type": "function", "name": "f", "parameters": {"type": "object"}}]
    answer = (await ask(gateway, asked(tools=tools, tool_choice="required"))).json()
    [item] = answer["output"]
    assert (item["type"], item["call_id"], item["arguments"]) == ("function_call", "call_1", '{"x": 1}')
    assert provider.bodies()[0]["tool_choice"] == "required"
    assert gateway.records[0].input_tokens == 9
    assert gateway.records[0].targets[0]["dropped_params"] == ["store"]


@pytest.mark.parametrize("format_", ["azure", "openai"])
async def test_a_stream_that_breaks_ends_with_an_error_event(gateway: Gateway, format_: str) -> None:
    pieces = (*START, said("Hel"), Break()) if format_ == "azure" else (ROLE, chunk("Hel"), Break())
    gateway.provider("a", stream_of(*pieces), format=format_)
    answer = await ask(gateway, asked(stream=True))
    *_, before, last = answer.events
    assert last["sequence_number"] == before["sequence_number"] + 1
    assert (last["type"], last["code"], last["param"]) == ("error", "stream_interrupted", None)
    assert last["message"] == last["error"]["message"]
    assert last["error"]["omniroute"]["targets"][0]["reason"] == "transient"
    assert answer.body.rpartition(b"event: ")[2].startswith(b"error\n")
    assert b"response.completed" not in answer.body


@pytest.mark.parametrize("format_", ["azure", "openai"])
async def test_a_stream_that_ends_without_its_last_event_is_broken(gateway: Gateway, format_: str) -> None:
    pieces = (*START, said("Hel")) if format_ == "azure" else (ROLE, chunk("Hel"))
    gateway.provider("a", stream_of(*pieces), format=format_)
    assert (await ask(gateway, asked(stream=True))).events[-1]["code"] == "stream_interrupted"
    assert gateway.breaker("a").last_failure_kind == "transient"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"model": "model"}, "input"),
        (asked(input=[]), "input"),
        (asked(input=""), "input"),
        (asked(input={}), "input"),
        (asked(input=["a"]), "input[0]"),
        (asked(input=[{"type": 1}]), "input[0].type"),
        (asked(input=[{"role": 1}]), "input[0].role"),
        (asked(input=[{"role": "user", "content": 1}]), "input[0].content"),
        (asked(instructions=["a"]), "instructions"),
        (asked(reasoning="high"), "reasoning"),
        (asked(text="json"), "text"),
        (asked(stream=1), "stream"),
        ({"input": "ping"}, "model"),
    ],
)
async def test_what_cannot_be_meant_is_refused_with_its_place(
    gateway: Gateway, body: dict[str, Any], param: str
) -> None:
    provider = gateway.provider("a", format="azure")
    answer = await ask(gateway, body)
    assert (answer.status, answer.error["code"], answer.error["param"]) == (400, "invalid_request", param)
    assert not provider.calls


async def test_input_may_be_missing_where_the_provider_has_it(gateway: Gateway) -> None:
    provider = gateway.provider("a", Reply(body=response()), format="azure")
    assert (await ask(gateway, {"model": "model", "prompt": {"id": "pmpt_1"}})).status == 200
    assert provider.bodies() == [{"model": "m", "prompt": {"id": "pmpt_1"}}]


@pytest.mark.parametrize("format_", ["anthropic", "gemini"])
async def test_arguments_that_are_no_object_are_one_400_and_no_call(gateway: Gateway, format_: str) -> None:
    provider = gateway.provider("a", format=format_)
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{not json"}
    answer = await ask(gateway, asked(input=[{"role": "user", "content": "go"}, call]))
    assert (answer.status, answer.error["param"]) == (400, "input[1].arguments")
    assert answer.headers["x-omniroute-attempts"] == "0"
    assert not provider.calls
    assert not gateway.registry._permits


async def test_what_is_too_long_everywhere_is_called_input(gateway: Gateway) -> None:
    gateway.provider("a", failing(400, "context_length_exceeded"), format="azure")
    answer = await ask(gateway)
    assert (answer.error["code"], answer.error["param"]) == ("context_length_exceeded", "input")


@pytest.mark.parametrize(("format_", "blamed"), [("azure", "input[0].content"), ("openai", "messages[0].content")])
async def test_the_member_that_the_provider_blames_has_the_clients_name(
    gateway: Gateway, format_: str, blamed: str
) -> None:
    gateway.provider("a", Reply(400, {"error": {"message": "Invalid", "param": blamed}}), format=format_)
    assert (await ask(gateway)).error["param"] == ("input" if format_ == "openai" else blamed)


async def test_refusals_and_failures_are_openai_shaped(gateway: Gateway) -> None:
    gateway.provider("a", failing(500))
    assert (await ask(gateway, asked(model="nothing"))).error["code"] == "model_not_found"
    assert (await ask(gateway)).error["omniroute"]["targets"][0]["reason"] == "transient"
