"""Clients of every kind: they ask for chat, messages and embeddings, and read, dawdle, leave or stare at the answer."""

import asyncio
import json
import random
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from tests.site.processes import KEY

HEADERS = {"Authorization": f"Bearer {KEY}"}
MODELS = ("gpt-4o", "paired", "every-format", "claude/large", "google/large", "azure/large", "primary/large")
REFUSALS = {400, 404, 429, 502, 503, 504}
PATIENCE = 30.0  # s; the stage's own deadlines are far shorter
STARES_FOR = 75.0  # s; longer than the gateway waits for a client that stops reading
LONG_ANSWER = 20_000  # words; more than the buffers of two sockets hold

Json = dict[str, Any]
Manner = Callable[["aiohttp.ClientResponse", random.Random], Awaitable[bytes | None]]


@dataclass
class Tally:
    """How visits ended; `wrong` are answers that no client should get."""

    endings: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def note(self, ending: str, wrong: str | None) -> None:
        self.endings[ending] += 1
        if wrong is not None:
            self.wrong.append(wrong)


def question(chance: random.Random) -> tuple[str, Json]:
    """A path and a body."""
    model, stream = chance.choice(MODELS), chance.random() < 0.5
    asked = [{"role": "user", "content": f"Question {chance.randrange(50)}"}]
    kind = chance.random()
    if kind < 0.15:
        return "/v1/embeddings", {"model": chance.choice(("gpt-4o", "paired", "primary/large")), "input": "Hello"}
    if kind < 0.45:
        return "/v1/messages", {"model": model, "max_tokens": 200, "stream": stream, "messages": asked}
    return "/v1/chat/completions", {"model": model, "stream": stream, "messages": asked}


async def reads(response: aiohttp.ClientResponse, chance: random.Random) -> bytes | None:
    return await response.read()


async def dawdles(response: aiohttp.ClientResponse, chance: random.Random) -> bytes | None:
    """For a second or two."""
    body = b""
    for _ in range(30):
        piece = await response.content.read(512)
        if not piece:
            return body
        body += piece
        await asyncio.sleep(chance.uniform(0, 0.1))
    return body + await response.content.read()


async def leaves(response: aiohttp.ClientResponse, chance: random.Random) -> bytes | None:
    """In the middle, by closing the socket."""
    for _ in range(chance.randrange(4)):
        if not await response.content.read(256):
            break
    response.close()
    return None


MANNERS: tuple[Manner, ...] = (reads, reads, reads, dawdles, leaves)


async def visit(session: aiohttp.ClientSession, url: str, chance: random.Random, tally: Tally) -> None:
    """One request, judged."""
    path, body = question(chance)
    manner = chance.choice(MANNERS)
    waits = chance.uniform(0, 0.5) if chance.random() < 0.15 else PATIENCE  # some leave before they hear anything
    try:
        async with asyncio.timeout(waits):
            async with session.post(url + path, json=body, headers=HEADERS) as response:
                content = await manner(response, chance)
                ending = f"{response.status}" if content is not None else "left in the middle"
    except TimeoutError:
        patient = waits == PATIENCE
        tally.note("left early", f"{path}: no end within {PATIENCE:g} s" if patient else None)
    except aiohttp.ClientError as error:
        tally.note("broken", f"{path}: {error!r}")
    else:
        tally.note(ending, None if content is None else mistake(path, body, response, content))


def mistake(path: str, asked: Json, response: aiohttp.ClientResponse, content: bytes) -> str | None:
    """What is wrong with an answer; None if nothing is."""
    said = f"{path} {response.status}: {content[-300:]!r}"
    if response.status == 200 and asked.get("stream"):
        ends = (b"event: message_stop", b"event: error") if path == "/v1/messages" else (b"[DONE]", b'"error"')
        last = content.rstrip(b"\n").rpartition(b"\n\n")[2]
        return None if any(end in last for end in ends) else said
    try:
        document = json.loads(content)
    except ValueError:
        return said
    if response.status == 200:
        return None if {"choices", "content", "data"} & document.keys() else said
    expected = response.status in REFUSALS and document.get("error", {}).get("code") != "internal_error"
    return None if expected else said


async def stare(port: int, tally: Tally) -> None:
    """Ask for a long stream, take its beginning and no more, until the gateway ends it."""
    loop = asyncio.get_running_loop()
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        await loop.sock_connect(client, ("127.0.0.1", port))
        body = json.dumps({"model": "backup/long", "stream": True, "messages": [{"role": "user", "content": "Hello"}]})
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        await loop.sock_sendall(client, f"{head}Authorization: Bearer {KEY}\r\n\r\n{body}".encode())
        with suppress(OSError):
            await loop.sock_recv(client, 1024)
            await asyncio.sleep(STARES_FOR)
        tally.note("stared", None)
