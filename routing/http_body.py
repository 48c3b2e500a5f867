"""Reading a request's body from ASGI: bounded, decompressed, and drained where it is refused."""

import asyncio
import contextlib
import zlib
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from routing.errors import GatewayError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

IDLE_SECONDS = 60.0  # a client that sends no byte of its body for so long is not going to
WRITE_DEADLINE = 60.0  # s; a client that takes no byte for so long has gone
STOPPED_COMING = "the body stopped coming"
DRAIN_BYTES = 256 * 1024 * 1024  # of a refused body, read and thrown away so that the client sees our answer
DRAIN_SECONDS = 30.0


class ClientGoneError(Exception):
    """The client left, or has stopped reading what it is sent."""


async def read_body(receive: Receive, headers: dict[bytes, bytes], limit: int) -> bytes:
    """The whole body, decompressed. limit: bytes, before and after decompression.

    Raises GatewayError 413 `request_too_large`, 408 `request_timeout` for a body that stops coming, 415 for an encoding
    that is not gzip or deflate, 400 for a body that is not what its encoding says, and ClientGoneError.
    """
    encoding = headers.get(b"content-encoding", b"identity").strip().lower()
    if encoding not in (b"identity", b"gzip", b"x-gzip", b"deflate", b""):
        raise GatewayError(
            f"Content-Encoding {encoding.decode('latin-1')!r} is not understood here; send the body as it is, or gzip.",
            status=415,
            code="invalid_request",
        )
    body = await _read(receive, limit)
    return body if encoding in (b"identity", b"") else _decompressed(body, limit)


async def _read(receive: Receive, limit: int) -> bytes:
    body, rest, more = b"", bytearray(), True
    while more and len(body) + len(rest) <= limit:
        message = await _next(receive)
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        piece: bytes = message.get("body", b"")
        if body:
            rest += piece
        else:
            body = piece  # nearly always all of it
        more = message.get("more_body", False)
    if len(body) + len(rest) > limit:
        rest.clear()
        if more:
            await _drain(receive)
        raise _too_large(limit)
    return body + rest if rest else body


async def _next(receive: Receive) -> Message:
    """What comes within IDLE_SECONDS. `asyncio.timeout` is four times as dear, and this is paid by every request."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 (a coroutine that runs is in a task)
    alarm = asyncio.get_running_loop().call_later(IDLE_SECONDS, task.cancel, STOPPED_COMING)
    try:
        return await receive()
    except asyncio.CancelledError as cancelled:
        if STOPPED_COMING not in cancelled.args:
            raise
        task.uncancel()
        raise GatewayError(
            f"No more of the request body came for {IDLE_SECONDS:g} s.", status=408, code="request_timeout"
        ) from None
    finally:
        alarm.cancel()


async def _drain(receive: Receive) -> None:
    """A client that is still sending would see a reset instead of our 413."""
    size, more = 0, True
    with contextlib.suppress(TimeoutError):  # it sends too slowly to be waited for
        async with asyncio.timeout(DRAIN_SECONDS):
            while more and size < DRAIN_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
                more = message["type"] != "http.disconnect" and message.get("more_body", False)


def _decompressed(body: bytes, limit: int) -> bytes:
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)  # 32: gzip or zlib, told by the header
    try:
        plain = decoder.decompress(body, limit + 1)
    except zlib.error as error:
        raise GatewayError(
            f"The body is not what its Content-Encoding says: {error}.", status=400, code="invalid_request"
        ) from error
    if len(plain) > limit:
        raise _too_large(limit)
    if not decoder.eof:
        raise GatewayError("The compressed body is cut short.", status=400, code="invalid_request")
    return plain


def _too_large(limit: int) -> GatewayError:
    return GatewayError(
        f"The request body is larger than {limit} bytes, which is this gateway's limit (MAX_BODY_BYTES).",
        status=413,
        code="request_too_large",
    )
