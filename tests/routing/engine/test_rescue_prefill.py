"""A target that goes on from the text that the client has."""

import pytest

from routing.table import Connection

from .dying import DIES, SAME, STREAM, TEXT, claude, is_blamed, is_interrupted, prefills
from .harness import DONE, ROLE, Break, Gateway, chat, chunk, event, failing
from .harness import streaming as stream_of


async def test_a_model_that_goes_on_gets_the_beginning(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    second = gateway.provider("b", stream_of(ROLE, chunk("ld, how "), chunk("are you?"), chunk(finish="stop"), DONE))
    prefills(gateway, "b")
    answer = await gateway.ask(STREAM)
    assert (answer.text, answer.events[-1]) == (TEXT, b"[DONE]")
    assert second.bodies()[0]["messages"] == [*chat()["messages"], {"role": "assistant", "content": "Hello wor"}]
    assert gateway.records[0].targets[1]["rescue"] == "prefill"


async def test_the_beginning_is_marked_where_the_provider_wants_that(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    mistral = Connection("b", "main", "https://api.mistral.ai/v1", api_key="k")
    second = gateway.provider("b", stream_of(chunk("ld"), chunk(finish="stop"), DONE), connections=(mistral,))
    prefills(gateway, "b")
    assert (await gateway.ask(STREAM)).text == "Hello world"
    begun = {"role": "assistant", "content": "Hello wor", "prefix": True}
    assert second.bodies()[0]["messages"] == [*chat()["messages"], begun]


async def test_the_beginning_ends_in_no_white_space_and_none_is_doubled(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hello "), Break()))
    second = gateway.provider("b", stream_of(chunk(" wor"), chunk("ld"), chunk(finish="stop"), DONE))
    prefills(gateway, "b")
    assert (await gateway.ask(STREAM)).text == "Hello world"
    assert second.bodies()[0]["messages"][-1]["content"] == "Hello"


@pytest.mark.parametrize("format_", ["openai", "anthropic", "gemini"])
async def test_an_answer_that_was_whole_but_for_its_end_may_have_nothing_added(gateway: Gateway, format_: str) -> None:
    gateway.provider("a", DIES)
    nothing = event({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]})
    replies = {
        "openai": stream_of(ROLE, chunk(finish="stop"), DONE),
        "anthropic": claude(),
        "gemini": stream_of(nothing),
    }
    gateway.provider("b", replies[format_], format=format_)
    prefills(gateway, "b")
    answer = await gateway.ask(STREAM)
    assert (answer.text, answer.events[-1], is_blamed(gateway, "b")) == ("Hello wor", b"[DONE]", False)


async def test_a_provider_that_puts_the_beginning_first_is_heard_after_it(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Once upon a time there "), Break()))
    gateway.provider("b", stream_of(chunk("Once upon a "), chunk("time there was"), chunk(finish="stop"), DONE))
    prefills(gateway, "b")
    assert (await gateway.ask(STREAM)).text == "Once upon a time there was"


async def test_a_refused_prefill_is_never_the_clients_mistake(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    gateway.provider("b", failing(400, "invalid_request_error", "does not support assistant message prefill"))
    gateway.provider("c", SAME)
    prefills(gateway, "b")
    assert (await gateway.ask(STREAM)).text == TEXT
    gateway.providers["c"].replies = [failing(400, "invalid_request_error")]
    assert is_interrupted(await gateway.ask(STREAM))


async def test_a_model_that_is_to_think_is_run_from_the_start(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    second = gateway.provider("b", SAME)
    prefills(gateway, "b")
    assert (await gateway.ask(chat(stream=True, reasoning_effort="high"))).text == TEXT
    assert len(second.bodies()[0]["messages"]) == 1
