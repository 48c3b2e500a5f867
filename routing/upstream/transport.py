"""httpx's transport interface over an aiohttp session.

A third of the CPU of `httpx_aiohttp` per call, and exceptions that say what happened: that package calls every lost
connection a ConnectTimeout (docs/adr/0001). No cookies, no redirects, no decompression, and one retry only: a kept
socket that died before it carried a byte of the answer says nothing about the provider.
"""

from collections.abc import AsyncIterator
from functools import lru_cache

import aiohttp
import httpx
from multidict import CIMultiDict
from yarl import URL

from routing.upstream.sockets import BROKEN_RULES, SocketPool, on_used_socket

KEEP_ALIVE = 30.0  # s; an idle socket older than this is closed by us, before a provider does it mid-request
PIECE = 64 * 1024  # bytes read at a time at most
MAX_FIELD_BYTES = 32 * 1024  # of one header of an answer; some front ends send policies and cookies of many KiB


class AiohttpTransport(httpx.AsyncBaseTransport):
    """Sockets of one event loop. Reads `timeout.connect` (seconds) of a request's extensions and no other deadline."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None
        self._fresh_session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send, and wait for status and headers. Raises httpx.TransportError."""
        session = self._session
        if session is None:
            session = self._session = _session(SocketPool(keepalive_timeout=KEEP_ALIVE))
        try:
            try:
                response = await _send(session, request)
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
                if not _died_while_kept(error):
                    raise
                if self._fresh_session is None:  # its sockets are never kept, so the retry cannot meet the same fate
                    self._fresh_session = _session(SocketPool(force_close=True))
                response = await _send(self._fresh_session, request)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise translated(error) from error
        return httpx.Response(response.status, headers=response.raw_headers, stream=_Body(response), request=request)

    async def aclose(self) -> None:
        """Close every socket."""
        sessions, self._session, self._fresh_session = (self._session, self._fresh_session), None, None
        for session in sessions:
            if session is not None:
                await session.close()


def _session(pool: SocketPool) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=pool,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        max_line_size=MAX_FIELD_BYTES,
        max_field_size=MAX_FIELD_BYTES,
    )


async def _send(session: aiohttp.ClientSession, request: httpx.Request) -> aiohttp.ClientResponse:
    connect = request.extensions.get("timeout", {}).get("connect")
    return await session.request(
        request.method,
        _yarl(str(request.url)),
        headers=CIMultiDict((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw),
        data=request.content or None,
        allow_redirects=False,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect),
    )


def _died_while_kept(error: aiohttp.ClientError) -> bool:
    """Whether a kept socket broke before any header of the answer: the provider closed it while it was idle.

    The provider has not read the request then, or has ended without a word; one more call cannot do harm (RFC 9110,
    section 9.2.2, allows it to a client that knows so).
    """
    if not on_used_socket.get() or isinstance(error, aiohttp.ClientConnectorError):
        return False
    # with a beginning of an answer, aiohttp gives that for a message
    return not isinstance(error, aiohttp.ServerDisconnectedError) or isinstance(error.message, str)


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        content = self._response.content
        try:
            while piece := await content.read(PIECE):
                yield piece
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise translated(error) from error

    async def aclose(self) -> None:
        """Give the socket back; aiohttp closes one whose body was not read to its end."""
        self._response.release()


def translated(error: Exception) -> httpx.TransportError:
    """What aiohttp found, in httpx's words."""
    text = _words(error)
    match error:
        case aiohttp.ServerTimeoutError() | TimeoutError():
            return httpx.ConnectTimeout(text)  # the connect time is the only deadline aiohttp is given
        case aiohttp.ClientConnectorError():
            return httpx.ConnectError(text)  # refused, unreachable, DNS, TLS
        case aiohttp.InvalidURL():
            return httpx.UnsupportedProtocol(text)
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError():
            return httpx.RemoteProtocolError(text)
        case _:
            return httpx.ReadError(text)


def _words(error: Exception) -> str:
    """What happened, without the bytes that it happened at: they may be anything, a secret or an answer included."""
    match error:
        case aiohttp.ClientPayloadError():
            return BROKEN_RULES if str(error) == BROKEN_RULES else "the answer ended within its body"
        case aiohttp.ClientResponseError():
            return f"the answer is not HTTP: {error.message.partition(':')[0]}"
        case aiohttp.ServerDisconnectedError() if not isinstance(error.message, str):
            return "the answer ended within its headers"
        case _:
            return f"{type(error).__name__}: {error}".rstrip(": ")


@lru_cache(maxsize=4096)
def _yarl(url: str) -> URL:
    return URL(url, encoded=True)
