"""Connections on which no request comes, or only a part of one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from omniroute_site.serving.protocol import GatewayProtocol

HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"


async def slow(scope: Any, receive: Any, send: Any) -> None:
    """Answers after four times the patience below."""
    del scope, receive
    await asyncio.sleep(0.2)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    config = uvicorn.Config(slow, http=GatewayProtocol, lifespan="off", log_config=None)
    config.load()
    config.timeout_keep_alive = 0.05  # type: ignore[assignment]  # uvicorn says int, and hands it to call_later
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: GatewayProtocol(config, ServerState(), {}), "127.0.0.1", 0)
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
