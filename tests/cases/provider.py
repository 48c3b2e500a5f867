"""Providers on a real socket of loopback that answer, byte for byte, what a row says."""

import asyncio
import base64
import contextlib
import http.client
import json
import re
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .rows import PACE

Json = Any
APART = 0.002
"""s; what is written this far apart arrives apart, as a rule. Nothing may depend on it."""


@dataclass
class Asked:
    """One call of the gateway."""

    provider: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    answered: bool = False
    given_up: bool = False  # the gateway closed the connection before the answer's end

    def json(self) -> Json:
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    def header(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name.lower()]


class Providers:
    """All providers of a row on one port; the first part of the path is the slug."""

    def __init__(self, scripts: dict[str, list[Json]], expand: Callable[[str], str]) -> None:
        self._scripts = {
            slug: [entry for entry in script for _ in range(entry.get("times", 1))] for slug, script in scripts.items()
        }
        self._expand = expand
        self.calls: dict[str, list[Asked]] = {slug: [] for slug in scripts}
        self.came = asyncio.Condition()
        self.port = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=2**26)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def called(self, times: int) -> None:
        """Until there were so many calls in all."""
        async with self.came:
            await self.came.wait_for(lambda: sum(map(len, self.calls.values())) >= times)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; whether the socket can be used again."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        target = first.split(" ")[1]
        pairs = (line.partition(":") for line in lines)
        headers = [(name.strip().lower(), value.strip()) for name, _, value in pairs]
        body = await reader.readexactly(int(dict(headers).get("content-length", 0)))
        call = Asked(re.split("/", target)[1], target, headers, body)
        calls = self.calls[call.provider]
        calls.append(call)
        async with self.came:
            self.came.notify_all()
        script = self._scripts[call.provider]
        answering = asyncio.create_task(self._answer(script[min(len(calls), len(script)) - 1], call, writer))
        leaving = asyncio.create_task(reader.read(1))
        await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not call.answered:
            call.given_up = True
            answering.cancel()
        leaving.cancel()
        reusable, _ = await asyncio.gather(answering, leaving, return_exceptions=True)
        call.ended.set()
        return reusable is True

    async def _answer(self, entry: Json, call: Asked, writer: asyncio.StreamWriter) -> bool:
        if "hold_until" in entry:
            await self.called(entry["hold_until"])
        await asyncio.sleep(entry.get("delay_ms", 0) / 1000 * PACE)
        headers = {name.lower(): self._expand(value) for name, value in (entry.get("headers") or {}).items()}
        if "sse" in entry or "sse_b64" in entry:
            writer.write(_head(entry["status"], headers | {"transfer-encoding": "chunked"}))
            return await self._stream(entry, call, writer)
        body = base64.b64decode(entry["body_b64"]) if "body_b64" in entry else self._expand(entry["body"]).encode()
        writer.write(_head(entry["status"], headers | {"content-length": str(len(body))}) + body)
        call.answered = True
        await writer.drain()
        return headers.get("connection") != "close"

    async def _stream(self, entry: Json, call: Asked, writer: asyncio.StreamWriter) -> bool:
        items = [base64.b64decode(item) for item in entry.get("sse_b64", ())]
        items = items or [self._expand(item).encode() for item in entry["sse"]]
        stop = next((entry[key] for key in ("abort_after", "eof_after", "hang_after") if key in entry), None)
        for item in items[:stop]:
            writer.write(b"%x\r\n%s\r\n" % (len(item), item))
            await writer.drain()
            await asyncio.sleep(max(entry.get("gap_ms", 0) / 1000 * PACE, APART))
        if "hang_after" in entry:
            await asyncio.Event().wait()
        call.answered = True
        if "abort_after" in entry:
            await asyncio.sleep(0.05)  # what was written must have been read: a reset overtakes it
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return "eof_after" not in entry


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {http.client.responses.get(status, 'Unknown')}"]
    return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""]).encode("latin-1")
