"""httpx's transport interface over an aiohttp session.

A third of the CPU of `httpx_aiohttp` per call, and exceptions that say what happened: that package calls every lost
connection a ConnectTimeout (docs/adr/0001). No cookies, no redirects, no retries, no decompression.
"""

from collections.abc import AsyncIterator
from functools import lru_cache

import aiohttp
import httpx
from multidict import CIMultiDict
from yarl import URL

KEEP_ALIVE = 30.0  # s; an idle socket older than this is closed by us, before a provider does it mid-request
PIECE = 64 * 1024  # bytes read at a time at most


class AiohttpTransport(httpx.AsyncBaseTransport):
    """Sockets of one event loop. Reads `timeout.connect` (seconds) of a request's extensions and no other deadline."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send, and wait for status and headers. Raises httpx.TransportError."""
        session = self._session
        if session is None:
            # no limit on sockets: `max_concurrency` is the operator's, and a hidden one would be a hidden queue
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE)
            session = self._session = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False
            )
        connect = request.extensions.get("timeout", {}).get("connect")
        try:
            response = await session.request(
                request.method,
                _yarl(str(request.url)),
                headers=CIMultiDict(
                    (name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw
                ),
                data=request.content or None,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect),
            )
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise translated(error) from error
        return httpx.Response(response.status, headers=response.raw_headers, stream=_Body(response), request=request)

    async def aclose(self) -> None:
        """Close every socket."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


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
    text = f"{type(error).__name__}: {error}".rstrip(": ")
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


@lru_cache(maxsize=4096)
def _yarl(url: str) -> URL:
    return URL(url, encoded=True)
