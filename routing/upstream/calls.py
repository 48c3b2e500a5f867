"""Calls to providers: requests, answers still on the wire, and everything that can break turned into UpstreamError.

httpx's types over aiohttp's engine, the transport called directly (docs/adr/0001). Deadlines other than the connect
time are the caller's.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

import httpx

from resilience.core.kinds import Kind
from routing.sse import BOM
from routing.upstream.inflate import Inflater
from routing.upstream.transport import AiohttpTransport

USER_AGENT = b"omniroute"
MAX_BODY_BYTES = 64 * 1024 * 1024  # of an unstreamed answer, after decompression
MAX_ERROR_BYTES = 256 * 1024  # of an error answer; the rest is not read
ERROR_PATIENCE = 3.0  # s; for the same
UNREADABLE = ("br", "zstd")  # encodings for which the standard library has nothing
AHEAD_BYTES = 64 * 1024  # of blank lines, which keep a connection open, before a body begins


class UpstreamError(Exception):
    """No usable answer came over the network. `reached` is false if the provider's host was never spoken to."""

    def __init__(self, kind: Kind, message: str, *, reached: bool = True) -> None:
        super().__init__(message)
        self.kind = kind
        self.reached = reached


@dataclass(frozen=True, slots=True)
class UpstreamRequest:
    """One call to make. Header names are lower case; `body` is complete."""

    url: str
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes
    method: str = "POST"


class UpstreamResponse:
    """An answer whose body is still on the wire. `aclose` must be called on every path."""

    __slots__ = ("_ahead", "_inflater", "_iterator", "_response", "headers", "status")

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers.raw}
        self._inflater = Inflater.of(self.headers.get("content-encoding", ""), or_plain=self.status >= 300)
        self._iterator: AsyncIterator[bytes] | None = None
        self._ahead = b""  # read already, and still to be had

    async def begins_with_json(self) -> bool:
        """Whether the body looks like JSON rather than events, whatever its type says. Raises UpstreamError."""
        ahead = b""
        while not (begun := ahead.removeprefix(BOM).lstrip()) and len(ahead) < AHEAD_BYTES:
            if not (piece := await self.chunk()):
                break
            ahead += piece
        self._ahead = ahead
        return begun[:1] in (b"{", b"[")

    async def chunk(self) -> bytes:
        """The next piece of the body, decompressed; empty at its end. Raises UpstreamError."""
        if self._ahead:
            piece, self._ahead = self._ahead, b""
            return piece
        if self._iterator is None:
            self._iterator = aiter(self._response.stream)  # type: ignore[arg-type]  # always async here
        try:
            while True:
                piece = await anext(self._iterator, b"")
                if self._inflater is None or not piece:
                    return piece
                if inflated := self._inflater.feed(piece, MAX_BODY_BYTES):
                    return inflated
        except httpx.HTTPError as error:
            raise _broken(error, reached=True) from error
        except zlib.error as error:
            raise UpstreamError(Kind.TRANSIENT, f"the answer cannot be decompressed: {error}") from error

    async def read(self, limit: int = MAX_BODY_BYTES) -> bytes:
        """The whole body. Raises UpstreamError if it is cut short or larger than `limit` bytes."""
        body = await self.chunk()
        if not body or len(body) == _length(self.headers):
            return body  # the usual small answer, in one piece
        pieces, size = [body], len(body)
        while piece := await self.chunk():
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise UpstreamError(Kind.TRANSIENT, f"the answer is larger than {limit} bytes")
        return b"".join(pieces)

    async def read_error(self) -> bytes:
        """What can be had soon of an error's body: one that is cut short must not hide the status that came with it.

        Nothing of one that we cannot decompress: it would be shown as if somebody had said it.
        """
        if self.headers.get("content-encoding", "").strip().lower() in UNREADABLE:
            return b""
        pieces, size = [], 0
        try:
            async with asyncio.timeout(ERROR_PATIENCE):
                while size < MAX_ERROR_BYTES and (piece := await self.chunk()):
                    pieces.append(piece)
                    size += len(piece)
        except (UpstreamError, TimeoutError):
            pass
        return b"".join(pieces)

    async def finish(self, patience: float) -> None:
        """Read the last bytes of an answer that is complete, at most `patience` seconds, so that its socket is kept."""
        try:
            async with asyncio.timeout(patience):
                while await self.chunk():
                    pass
        except (TimeoutError, UpstreamError):
            pass  # it was only about the socket, and `aclose` drops that

    async def aclose(self) -> None:
        """Give the socket back, or close it if the body was not read to its end."""
        await self._response.aclose()


class Upstream:
    """Transports of one event loop, one per provider, so that one provider's dead sockets are its own."""

    def __init__(self) -> None:
        self._transports: dict[str, httpx.AsyncBaseTransport] = {}

    def use(self, provider: str, transport: httpx.AsyncBaseTransport) -> None:
        """Send this provider's calls through another transport (tests: httpx.MockTransport)."""
        self._transports[provider] = transport

    async def open(self, provider: str, request: UpstreamRequest, connect_timeout: float) -> UpstreamResponse:
        """Send the request and wait for status and headers. connect_timeout: seconds. Raises UpstreamError."""
        transport = self._transports.get(provider)
        if transport is None:
            transport = self._transports[provider] = AiohttpTransport()
        message = httpx.Request(
            request.method,
            _parsed(request.url),
            headers=list(request.headers),
            content=request.body,
            extensions={"timeout": {"connect": connect_timeout}},
        )
        try:
            return UpstreamResponse(await transport.handle_async_request(message))
        except httpx.HTTPError as error:
            raise _broken(error, reached=False) from error
        except (OSError, ValueError) as error:  # a host that cannot be a host, a header that cannot be sent
            raise UpstreamError(Kind.TRANSIENT, f"{type(error).__name__}: {error}", reached=False) from error

    async def aclose(self) -> None:
        """Close every socket."""
        transports, self._transports = self._transports, {}
        for transport in transports.values():
            await transport.aclose()


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Upstream] = WeakKeyDictionary()


def current() -> Upstream:
    """The running loop's transports: sockets belong to the loop that opened them."""
    loop = asyncio.get_running_loop()
    upstream = _by_loop.get(loop)
    if upstream is None:
        upstream = _by_loop[loop] = Upstream()
    return upstream


@lru_cache(maxsize=4096)  # a handful of addresses, parsed for every call otherwise
def _parsed(url: str) -> httpx.URL:
    return httpx.URL(url)


def _broken(error: httpx.HTTPError, *, reached: bool) -> UpstreamError:
    """What a failed connection says about its provider. reached: something was heard from it in this call."""
    match error:
        case httpx.ConnectTimeout():
            return UpstreamError(Kind.TIMEOUT, f"no connection in time ({error})", reached=False)
        case httpx.ConnectError() | httpx.UnsupportedProtocol():
            return UpstreamError(Kind.TRANSIENT, f"cannot connect ({error})", reached=False)
        case httpx.TimeoutException():
            return UpstreamError(Kind.TIMEOUT, str(error), reached=reached)
        case _:
            return UpstreamError(Kind.TRANSIENT, f"the connection broke ({error})")


def _length(headers: dict[str, str]) -> int:
    length = headers.get("content-length", "")
    return int(length) if length.isdigit() and "content-encoding" not in headers else -1
