"""Streams that go on across formats: of clients, of the provider that died, of the one that goes on."""

import json
from typing import Any

import pytest

from .dying import (
    DIES,
    FORMATS,
    PATHS,
    SAME,
    TEXT,
    asked_by,
    claude,
    prefills,
    streamed,
    text_of,
)
from .harness import DONE, ROLE, Break, Gateway, chat, chunk, typed_event
from .harness import streaming as stream_of


@pytest.mark.parametrize(("shows", "goes_on"), [({}, True), ({"thinking": {"type": "adaptive"}}, False)])
async def test_thoughts_that_the_client_was_not_shown_are_no_obstacle(
    gateway: Gateway, shows: dict[str, Any], goes_on: bool
) -> None:
    gateway.provider("a", stream_of(ROLE, chunk(reasoning_content="hm"), chunk("Hello wor"), Break()))
    gateway.provider("b", SAME)
    answer = await gateway.ask(chat(stream=True, max_tokens=99) | shows, path=PATHS["messages"])
    assert (b"stream_interrupted" not in answer.body) == goes_on
    assert len(gateway.providers["b"].calls) == goes_on


@pytest.mark.parametrize("by", ["prefill", "replay"])
@pytest.mark.parametrize("second", FORMATS)
@pytest.mark.parametrize("first", FORMATS)
@pytest.mark.parametrize("client", PATHS)
async def test_every_format_goes_on_from_every_other(
    gateway: Gateway, client: str, first: str, second: str, by: str
) -> None:
    gateway.provider("a", streamed(client, first, "Hello ", "wor", ends=False), format=first)
    pieces = ("ld, how ", "are you?") if by == "prefill" else ("Hello world, how ", "are you?")
    asked = gateway.provider("b", streamed(client, second, *pieces), format=second)
    if by == "prefill":
        prefills(gateway, "b")
    answer = await gateway.ask(asked_by(client), path=PATHS[client])
    assert text_of(answer, client) == TEXT
    assert answer.body.count(b"[DONE]") == (client == "chat")
    [body] = asked.bodies()
    [turns] = [body[name] for name in ("contents", "messages", "input") if name in body]
    assert ("Hello wor" in json.dumps(turns[-1])) == (by == "prefill")
    assert gateway.records[0].targets[1]["rescue"] == by


@pytest.mark.parametrize("first", FORMATS)
async def test_a_message_that_nobody_goes_on_with_ends_in_its_own_error(gateway: Gateway, first: str) -> None:
    gateway.provider("a", FORMATS[first]("Hello ", "wor", ends=False), format=first)
    gateway.provider("b", claude("Something else"), format="anthropic")
    answer = await gateway.ask(chat(stream=True, max_tokens=99), path=PATHS["messages"])
    last = answer.events[-1]
    assert (last["type"], last["error"]["code"]) == ("error", "stream_interrupted")
    assert b"message_stop" not in answer.body
    assert b"content_block_stop" not in answer.body


async def test_a_message_goes_on_after_a_block_that_was_closed(gateway: Gateway) -> None:
    died = claude("Hello wor")
    stream = tuple(died.stream or ())[:-2]
    gateway.provider("a", stream_of(*stream, Break()), format="anthropic")
    gateway.provider("b", SAME)
    answer = await gateway.ask(chat(stream=True, max_tokens=99), path=PATHS["messages"])
    opened = [one for one in answer.events if one["type"] == "content_block_start"]
    assert [one["index"] for one in opened] == [0, 1]
    assert answer.body.endswith(b'{"type":"message_stop"}\n\n')


async def test_calls_that_a_message_cannot_tell_apart_are_an_error(gateway: Gateway) -> None:
    def call(index: int, **function: str) -> bytes:
        return chunk(tool_calls=[{"index": index, "id": f"call_{index}", "function": function}])

    gateway.provider("a", DIES)
    calls = (call(0, name="f", arguments="{}"), call(1, name="g"), call(0, arguments="{}"))
    gateway.provider("b", stream_of(chunk("Hello world"), *calls, chunk(finish="tool_calls"), DONE))
    answer = await gateway.ask(chat(stream=True, max_tokens=99), path=PATHS["messages"])
    assert b"stream_interrupted" in answer.body
    assert b"message_stop" not in answer.body


async def test_a_message_with_a_thought_in_it_is_not_continued(gateway: Gateway) -> None:
    thinking = typed_event("content_block_start", index=0, content_block={"type": "thinking", "thinking": ""})
    start, *rest = tuple(claude("Hello wor", ends=False).stream or ())
    gateway.provider("a", stream_of(start, thinking, *rest), format="anthropic")
    gateway.provider("b", SAME)
    answer = await gateway.ask(chat(stream=True, max_tokens=99), path=PATHS["messages"])
    assert b"stream_interrupted" in answer.body
    assert not gateway.providers["b"].calls
