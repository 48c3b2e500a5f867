"""The client's side of a request: answers, streams and errors as ASGI messages with the gateway's headers."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import orjson

from routing.adapters.base import Answer
from routing.chains import Target
from routing.errors import GatewayError
from routing.http_body import WRITE_DEADLINE, ClientGoneError
from routing.job import Job

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]

JSON = (b"content-type", b"application/json")
STREAM_HEADERS: list[Header] = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # nginx in front must not collect events
]


def header_value(text: str) -> bytes:
    """Names as header bytes: whatever is not printable ASCII is escaped, so that no name can end a header line."""
    if text.isascii() and text.isprintable():
        return text.encode("ascii")
    return text.encode("unicode_escape")


class HttpClient:
    """One HTTP exchange. `started` is true once the status line is out. own: headers of whatever is answered."""

    def __init__(self, send: Send, *own: Header) -> None:
        self._send = send
        self._own = own
        self.started = False
        self.status = 0

    async def answer(self, job: Job, target: Target, answer: Answer) -> None:
        """Send an unstreamed answer, whole."""
        await self.send_body(200, [JSON, *answer.headers, *served_headers(job, target)], answer.body)

    async def start(self, job: Job, target: Target) -> None:
        """Begin a stream."""
        await self._begin(200, [*STREAM_HEADERS, *served_headers(job, target)])

    async def write(self, data: bytes) -> None:
        """Send a piece of the stream; waits while the client reads slowly."""
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def finish(self, data: bytes) -> None:
        """Send the last piece and end the body. Raises ClientGoneError if nobody takes it in time."""
        try:
            async with asyncio.timeout(WRITE_DEADLINE):
                await self._end(data)
        except TimeoutError:
            raise ClientGoneError from None

    async def send_json(self, status: int, headers: list[Header], document: Any) -> None:
        """Send a small JSON document, whole."""
        await self.send_body(status, [JSON, *headers], orjson.dumps(document))

    async def send_body(self, status: int, headers: list[Header], body: bytes) -> None:
        """Send an answer whose length is known."""
        await self._begin(status, [*headers, (b"content-length", b"%d" % len(body))])
        await self._end(body)

    async def _begin(self, status: int, headers: list[Header]) -> None:
        self.started = True
        self.status = status
        await self._send({"type": "http.response.start", "status": status, "headers": [*headers, *self._own]})

    async def _end(self, data: bytes) -> None:
        await self._send({"type": "http.response.body", "body": data})


def served_headers(job: Job, target: Target) -> list[Header]:
    """Who answered, after how many calls."""
    headers = [
        *request_headers(job.id, job.route.name, job.journal.calls),
        (b"x-omniroute-provider", target.provider.slug.encode()),
        (b"x-omniroute-connection", target.connection.slug.encode()),
        (b"x-omniroute-model", header_value(target.model)),
        (b"x-omniroute-fallback", b"false" if target.first else b"true"),
    ]
    if target.emergency:
        headers.append((b"x-omniroute-emergency", b"true"))
    return headers


def request_headers(request_id: str, chain: str, calls: int) -> list[Header]:
    """What every answer carries. chain: the requested name, "-" where none was asked for. calls: made upstream."""
    return [
        (b"x-omniroute-request-id", request_id.encode()),
        (b"x-omniroute-chain", header_value(chain)),
        (b"x-omniroute-attempts", b"%d" % calls),
    ]


def error_headers(request_id: str, chain: str, calls: int, error: GatewayError) -> list[Header]:
    """What a refusal or failure carries."""
    headers = request_headers(request_id, chain, calls)
    if error.retry_after_header is not None:
        headers.append((b"retry-after", error.retry_after_header.encode()))
    if error.allow is not None:
        headers.append((b"allow", error.allow.encode()))
    if error.status == 408:
        headers.append((b"connection", b"close"))  # the rest of the body, should it come, is nobody's
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    return headers
