"""Whatever becomes of a call, its socket to the provider is free again or closed: over real sockets, through the engine."""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from routing import upstream
from routing.table import Connection, Timeouts

from .harness import HELLO, ROLE, Gateway, chat, chunk, event
from .test_upstream_sockets import Provider, serving

STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"
SILENCE = b"\0"  # nothing follows
REFUSED = event({"error": {"message": "overloaded", "type": "server_error", "code": None}})


def framed(*events: bytes) -> bytes:
    return STREAM + b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in events)


def error(status: bytes, body: bytes = b'{"error": {"message": "no"}}') -> bytes:
    head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (status, len(body))
    return head + body


def place(gateway: Gateway, provider: Provider, **row: Any) -> None:
    """A provider that is called over the network."""
    gateway.provider("a", connections=[Connection("a", "main", provider.url.rstrip("/"), api_key="key")], **row)
    del gateway.providers["a"]  # which would be asked instead


def sockets_in_use() -> int:
    transport: Any = upstream.current()._transports["a"]
    return sum(
        len(session.connector._acquired) for session in (transport._session, transport._fresh_session) if session
    )


@pytest.fixture
def impatient() -> dict[str, Any]:
    return {"timeouts": Timeouts(first_token=0.05, response=0.05, idle=0.05)}


@pytest.mark.parametrize(
    "answer", [error(b"500 No"), error(b"429 Slow"), framed(*HELLO) + LAST], ids=["error", "rate limit", "stream"]
)
async def test_a_call_that_was_answered_to_its_end_leaves_its_socket_to_the_next(
    gateway: Gateway, answer: bytes
) -> None:
    """An error to a streamed call too."""
    async with serving([answer] * 3) as (provider, _):
        place(gateway, provider)
        for _ in range(3):
            await gateway.ask(chat(stream=True, model="a/m"))
            gateway.registry.breakers.clear()
            gateway.registry.cooldowns.clear()
            await asyncio.gather(*_reading_to_the_end())
        assert (provider.requests, provider.sockets, sockets_in_use()) == (3, 1, 0)
        await upstream.current().aclose()


@pytest.mark.parametrize(
    "answer",
    [
        error(b"500 No")[:-5] + SILENCE,
        STREAM + SILENCE,
        framed(ROLE) + SILENCE,
        framed(ROLE, chunk("Hel")) + SILENCE,
        framed(ROLE, chunk("Hel"), REFUSED) + SILENCE,
        framed(*HELLO) + SILENCE,
    ],
    ids=["error", "headers", "preamble", "content", "error event", "done"],
)
@pytest.mark.parametrize("leaves", [False, True], ids=["waits", "leaves"])
async def test_a_call_that_was_not_answered_to_its_end_gives_its_socket_up(
    gateway: Gateway, impatient: dict[str, Any], answer: bytes, leaves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("routing.upstream.calls.ERROR_PATIENCE", 0.05)
    monkeypatch.setattr("routing.attempt.SOCKET_PATIENCE", 0.05)
    async with serving([answer + b"x"]) as (provider, _):
        place(gateway, provider, **({} if leaves else impatient))
        call = gateway.begin(chat(stream=True, model="a/m"))
        if leaves:
            while not provider.requests:  # noqa: ASYNC110 (a server has no event for it)
                await asyncio.sleep(0.001)
            call.hang_up()
        async with asyncio.timeout(5):
            await call.task
            await asyncio.gather(*_reading_to_the_end())
        assert (sockets_in_use(), gateway.permits) == (0, 0)
        await upstream.current().aclose()


def _reading_to_the_end() -> Iterable["asyncio.Task[Any]"]:
    return [task for task in asyncio.all_tasks() if getattr(task.get_coro(), "__name__", "") == "_read_to_end"]
