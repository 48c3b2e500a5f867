"""How streams end when providers and clients do not: bytes after the end, ends that are drawn out, readers that stop."""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from routing import client, streaming

from .harness import DONE, ROLE, Gateway, Hang, Reply, chat, chunk, completion, event
from .harness import streaming as stream_of

STREAM = chat(stream=True)
FINISH = chunk(finish="stop")
ERROR = event({"error": {"message": "overloaded", "type": "server_error"}})


async def test_nothing_after_done_reaches_the_client(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hello"), FINISH + DONE + chunk("EXTRA") + ERROR))
    answer = await gateway.ask(STREAM)
    assert (answer.text, answer.events[-1]) == ("Hello", b"[DONE]")
    assert gateway.records[0].outcome == "answered"
    assert gateway.breaker("a").failure_count == 0


async def test_nothing_after_an_error_reaches_the_client(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hello"), ERROR + chunk("EXTRA", finish="stop") + DONE))
    answer = await gateway.ask(STREAM)
    assert answer.events[-1]["error"]["code"] == "stream_interrupted"
    assert b"EXTRA" not in answer.body
    assert gateway.breaker("a").failure_count == 1


@pytest.mark.parametrize("pieces", [(FINISH, ERROR), (FINISH + ERROR,)])
async def test_an_error_after_the_last_finish_reason_takes_nothing_back(
    gateway: Gateway, pieces: tuple[bytes, ...]
) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hello"), *pieces))
    answer = await gateway.ask(STREAM)
    assert (answer.text, answer.events[-1]) == ("Hello", b"[DONE]")
    assert gateway.records[0].outcome == "answered"


async def test_what_follows_a_finish_reason_cannot_draw_the_end_out(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "TRAILING", 0.05)

    class Endless(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield ROLE + chunk("Hello", finish="stop")
            while True:
                await asyncio.sleep(0.01)
                yield chunk("!")

    async def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Endless(), request=request)

    monkeypatch.setattr(gateway.provider("a"), "handle_async_request", answer)
    async with asyncio.timeout(5):
        assert (await gateway.ask(STREAM)).events[-1] == b"[DONE]"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "WRITE_DEADLINE", 0.05)
    monkeypatch.setattr(client, "WRITE_DEADLINE", 0.05)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("stops_at", [b"Hel", b"finish_me", b"[DONE]"])
async def test_a_client_that_stops_reading_is_let_go(gateway: Gateway, stops_at: bytes) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hel"), chunk("lo", finish="stop", finish_me=1), DONE))
    call = gateway.begin(STREAM, stops_at=stops_at)
    async with asyncio.timeout(5):
        await call.task
    assert gateway.records[0].outcome == "client_closed"
    assert gateway.breaker("a").failure_count == 0
    assert gateway.permits == 0


@pytest.mark.usefixtures("impatient")
async def test_a_client_that_does_not_take_the_error_is_let_go(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hel"), ERROR))
    call = gateway.begin(STREAM, stops_at=b"stream_interrupted")
    async with asyncio.timeout(5):
        await call.task
    assert gateway.records[0].outcome == "client_closed"


async def test_an_idle_provider_after_its_finish_reason_has_answered(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "TRAILING", 0.05)
    gateway.provider("a", stream_of(ROLE, chunk("Hello"), FINISH, Hang()))
    answer = await gateway.ask(STREAM)
    assert (answer.text, answer.events[-1]) == ("Hello", b"[DONE]")
    assert gateway.breaker("a").failure_count == 0


@pytest.mark.parametrize("format_", ["openai", "gemini"])
async def test_an_answer_whose_every_piece_has_a_finish_reason_is_not_cut(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch, format_: str
) -> None:
    monkeypatch.setattr(streaming, "TRAILING", 0.0)

    def piece(text: str) -> bytes:
        if format_ == "openai":
            return chunk(text, finish="stop")
        return event({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]})

    class Slow(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for text in ("Hel", "lo ", "you"):
                yield piece(text)
                await asyncio.sleep(0.02)

    async def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Slow(), request=request)

    monkeypatch.setattr(gateway.provider("a", format=format_), "handle_async_request", answer)
    assert (await gateway.ask(STREAM)).text == "Hello you"


async def test_an_answer_of_one_such_piece_is_not_waited_on_for_as_long_as_a_silence_may_last(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "TENTATIVE", 0.05)
    gateway.provider("a", stream_of(chunk("Hello", finish="stop"), Hang()))
    async with asyncio.timeout(5):
        answer = await gateway.ask(STREAM)
    assert (answer.text, answer.events[-1]) == ("Hello", b"[DONE]")
    assert gateway.records[0].outcome == "answered"


@pytest.mark.parametrize("end", [b"\n", b""])
async def test_a_last_event_without_its_blank_line_counts(gateway: Gateway, end: bytes) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hello"), FINISH.rstrip() + end))
    answer = await gateway.ask(STREAM)
    assert (answer.text, answer.events[-1]) == ("Hello", b"[DONE]")
    assert gateway.records[0].outcome == "answered"


async def test_content_in_a_half_event_is_not_begun_with(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hello").rstrip()))
    gateway.provider("b", stream_of(ROLE, chunk("from b"), FINISH, DONE))
    assert (await gateway.ask(STREAM)).text == "from b"


@pytest.mark.parametrize("end", [b"", b"\n\n"])
@pytest.mark.parametrize("indent", [None, 2])
async def test_a_document_instead_of_a_stream_is_taken_for_the_error_that_it_is(
    gateway: Gateway, indent: int | None, end: bytes
) -> None:
    error = {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}
    gateway.provider("a", stream_of(json.dumps(error, indent=indent).encode() + end))
    gateway.provider("b", stream_of(ROLE, chunk("from b"), FINISH, DONE))
    assert (await gateway.ask(STREAM)).text == "from b"
    assert gateway.records[0].targets[0]["reason"] == "rate_limit"
    assert (await gateway.ask(STREAM)).served_by == "b"


@pytest.mark.parametrize("content_type", ["Application/JSON", "text/event-stream", "text/plain"])
@pytest.mark.parametrize("before", [b"", b"\n \n"])
async def test_a_whole_answer_to_a_streamed_request_is_known_whatever_its_type_says(
    gateway: Gateway, content_type: str, before: bytes
) -> None:
    body = before + json.dumps(completion("Hello")).encode()
    gateway.provider("a", Reply(body=body, headers={"content-type": content_type}))
    answer = await gateway.ask(STREAM)
    assert (answer.text, answer.events[-1]) == ("Hello", b"[DONE]")


@pytest.mark.parametrize("before", [b"", b": waiting\n\n", b"\n\n", b"\xef\xbb\xbf"])
async def test_a_stream_that_calls_itself_json_is_relayed(gateway: Gateway, before: bytes) -> None:
    stream = (before + ROLE, chunk("Hello"), FINISH, DONE)
    gateway.provider("a", Reply(stream=stream, headers={"content-type": "application/json"}))
    answer = await gateway.ask(STREAM)
    assert (answer.text, answer.events[-1]) == ("Hello", b"[DONE]")
    assert answer.headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize("stream", [False, True])
async def test_a_byte_order_mark_before_an_answer_is_not_passed_on(gateway: Gateway, stream: bool) -> None:
    body = b"\xef\xbb\xbf" + json.dumps(completion()).encode()
    gateway.provider("a", Reply(body=body, headers={"content-type": "application/json"}))
    answer = await gateway.ask(chat(stream=stream))
    assert (answer.status, answer.served_by) == (200, "a")
    assert b"\xef\xbb\xbf" not in answer.body
