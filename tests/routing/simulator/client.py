"""A client that sees every byte: what came, and how the connection ended."""

import asyncio
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from routing.simulator import Simulator

KEYS = {
    "openai": {"authorization": "Bearer sk-test-1234"},
    "azure": {"api-key": "sk-test-1234"},
    "anthropic": {"x-api-key": "sk-test-1234", "anthropic-version": "2023-06-01"},
    "gemini": {"x-goog-api-key": "sk-test-1234"},
}
HELLO = [{"role": "user", "content": "hello"}]


@dataclass(frozen=True, slots=True)
class Seen:
    """An answer as it arrived; `ended` is "closed" (FIN) or "reset" (RST)."""

    raw: bytes
    ended: str

    @property
    def status(self) -> int:
        return int(self.raw.split(b" ", 2)[1])

    @property
    def headers(self) -> dict[str, str]:
        lines = self.raw.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
        return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}

    @property
    def payload(self) -> bytes:
        """What came after the head, chunk framing included."""
        return self.raw.partition(b"\r\n\r\n")[2]

    @property
    def body(self) -> bytes:
        """The body without chunk framing, as far as it came."""
        if self.headers.get("transfer-encoding") != "chunked":
            return self.payload
        body, rest = b"", self.payload
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
        return body

    @property
    def complete(self) -> bool:
        """Whether the body came as whole as its framing promised."""
        if self.headers.get("transfer-encoding") == "chunked":
            return self.payload.endswith(b"0\r\n\r\n")
        return len(self.payload) == int(self.headers["content-length"])

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """The data of every event that is JSON."""
        lines = self.body.replace(b"\r\n", b"\n").split(b"\n")
        data = [line.removeprefix(b"data: ") for line in lines if line.startswith(b"data: ")]
        return [orjson.loads(line) for line in data if line != b"[DONE]"]


def request(method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
    fields = {"host": "simulator", "content-length": str(len(body)), "connection": "close"} | (headers or {})
    return (
        "".join([f"{method} {path} HTTP/1.1\r\n", *(f"{k}: {v}\r\n" for k, v in fields.items()), "\r\n"]).encode()
        + body
    )


async def connect(simulator: Simulator) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    address = urlsplit(simulator.url)
    return await asyncio.open_connection(address.hostname, address.port)


async def exchange(simulator: Simulator, sent: bytes) -> Seen:
    """Send bytes and read until the server ends the connection."""
    reader, writer = await connect(simulator)
    received = bytearray()
    try:
        writer.write(sent)
        while data := await reader.read(65536):
            received += data
    except ConnectionResetError:
        return Seen(bytes(received), "reset")
    else:
        return Seen(bytes(received), "closed")
    finally:
        writer.close()


async def send(simulator: Simulator, method: str, path: str, document: object = None, **headers: str) -> Seen:
    body = b"" if document is None else orjson.dumps(document)
    return await exchange(simulator, request(method, path, body, headers))


def question(wire: str, *, stream: bool, **members: object) -> tuple[str, dict[str, Any]]:
    """Path and body of a plain question in a format."""
    if wire == "gemini":
        action = "streamGenerateContent?alt=sse" if stream else "generateContent"
        contents = [{"role": "user", "parts": [{"text": "hello"}]}]
        return f"/gemini/v1beta/models/m-1:{action}", {"contents": contents, **members}
    body: dict[str, Any] = {"model": "m-1", "messages": HELLO, **members}
    if stream:
        body["stream"] = True
    if wire == "anthropic":
        return "/anthropic/v1/messages", {"max_tokens": 1000, **body}
    if wire == "azure":
        return "/azure/openai/deployments/m-1/chat/completions?api-version=2024-10-21", body
    return "/openai/v1/chat/completions", body


async def ask(simulator: Simulator, wire: str, *, stream: bool = False, **members: object) -> Seen:
    path, body = question(wire, stream=stream, **members)
    return await send(simulator, "POST", path, body, **KEYS[wire])
