"""Connections on which no request comes, or only a part of one, or whose client does not read."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from omniroute_site.serving import protocol
from omniroute_site.serving.protocol import GatewayProtocol

HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"


async def slow(scope: Any, receive: Any, send: Any) -> None:
    """Answers after four times the patience below."""
    del scope, receive
    await asyncio.sleep(0.2)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def endless(scope: Any, receive: Any, send: Any) -> None:
    """More than the sockets' buffers hold."""
    del scope, receive
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for more in (*[True] * 16, False):
        await send({"type": "http.response.body", "body": b"x" * 1_000_000, "more_body": more})


class Roomy(GatewayProtocol):
    buffer = 64 * 1024  # asyncio's own

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(self.buffer)


@asynccontextmanager
async def connected(
    application: Any = slow, state: ServerState | None = None, buffer: int = Roomy.buffer
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    config = uvicorn.Config(application, http=Roomy, lifespan="off", log_config=None)
    config.load()
    config.timeout_keep_alive = 0.05  # type: ignore[assignment]  # uvicorn says int, and hands it to call_later

    def protocol() -> Roomy:
        made = Roomy(config, state or ServerState(), {})
        made.buffer = buffer
        return made

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    try:
        async with asyncio.timeout(10):
            yield reader, writer
    finally:
        writer.close()
        await writer.wait_closed()
        server.close()


@pytest.mark.parametrize("sent", [b"", b"GE", HEAD, HEAD + b"\r\n" + HEAD])
async def test_a_head_that_does_not_come_ends_the_connection(sent: bytes) -> None:
    async with connected() as (reader, writer):
        writer.write(sent)
        assert (await reader.read()).count(b"200 OK") == sent.count(b"\r\n\r\n")


async def test_part_of_the_next_head_does_not_end_the_request_under_way() -> None:
    async with connected() as (reader, writer):
        writer.write(HEAD + b"\r\n" + HEAD)
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("buffer", [64 * 1024, 64 * 1024 * 1024], ids=["of what is relayed", "of an answer given"])
async def test_a_client_that_does_not_read_is_let_go(
    buffer: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its socket stays open, so that a proper close would wait for it for ever."""
    monkeypatch.setattr(protocol, "WRITE_DEADLINE", 0.05)
    state = ServerState()
    async with connected(endless, state, buffer=buffer) as (reader, writer):
        writer.write(HEAD + b"\r\n")
        await reader.readexactly(20)
        while state.connections:  # noqa: ASYNC110 (uvicorn has no event for it)
            await asyncio.sleep(0.01)
        assert len(await reader.read()) < 16_000_000
    assert caplog.text == ""
