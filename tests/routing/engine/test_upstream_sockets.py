"""What providers do to sockets, over real ones: kept sockets that died, answers that break HTTP's rules."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import pytest

from routing.upstream import Upstream, UpstreamError, UpstreamRequest
from routing.upstream.sockets import on_used_socket
from tests.waiting import until

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"


class Provider:
    """A server on loopback. `script` has, per socket, what each of its requests is answered.

    None: the socket is reset. What follows a NUL is sent once the gateway has what is before it.
    """

    def __init__(self, *script: Iterable[bytes | None]) -> None:
        self._script = list(script)
        self.sockets = 0
        self.requests = 0
        self.url = ""
        self.headers_arrived = asyncio.Event()
        self.left = 0  # sockets that the gateway closed

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers = self._script[min(self.sockets, len(self._script) - 1)]
        self.sockets += 1
        try:
            for answer in answers:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split()[0]))
                self.requests += 1
                if answer is None:
                    writer.transport.abort()
                    return
                first, _, rest = answer.partition(b"\0")
                writer.write(first)
                if rest:
                    await self.headers_arrived.wait()
                    writer.write(rest)
        except asyncio.IncompleteReadError:
            self.left += 1
        finally:
            writer.close()


@asynccontextmanager
async def serving(*script: Iterable[bytes | None]) -> AsyncIterator[tuple[Provider, Upstream]]:
    provider, upstream = Provider(*script), Upstream()
    server = await asyncio.start_server(provider.handle, "127.0.0.1", 0)
    provider.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    try:
        yield provider, upstream
    finally:
        await upstream.aclose()
        server.close()
        await server.wait_closed()


async def post(provider: Provider, upstream: Upstream) -> tuple[int, bytes]:
    request = UpstreamRequest(provider.url, [(b"content-type", b"application/json")], b"{}")
    async with asyncio.timeout(10):
        response = await upstream.open("p", request, 5.0)
        provider.headers_arrived.set()
        try:
            return response.status, await (response.read() if response.status == 200 else response.read_error())
        finally:
            await response.aclose()


async def test_a_kept_socket_that_died_is_replaced_by_a_fresh_one() -> None:
    async with serving([OK, None], [OK]) as (provider, upstream):
        assert [await post(provider, upstream) for _ in range(2)] == [(200, b"hi")] * 2
        assert (provider.sockets, provider.requests) == (2, 3)


async def test_a_fresh_socket_that_dies_is_the_providers_failure() -> None:
    async with serving([None]) as (provider, upstream):
        with pytest.raises(UpstreamError):
            await post(provider, upstream)
        assert provider.requests == 1


async def test_a_dead_kept_socket_is_replaced_once_only() -> None:
    async with serving([OK, None], [None]) as (provider, upstream):
        await post(provider, upstream)
        with pytest.raises(UpstreamError):
            await post(provider, upstream)
        assert provider.requests == 3


async def test_an_answer_that_began_is_never_asked_for_again() -> None:
    async with serving([OK, b"HTTP/1.1 20"], [OK]) as (provider, upstream):
        await post(provider, upstream)
        with pytest.raises(UpstreamError, match="ended within its headers"):
            await post(provider, upstream)
        assert provider.requests == 2


async def test_what_a_provider_says_unasked_is_nobodys_answer() -> None:
    """A second answer, whole or begun, on a kept socket: the next request of another client must not get it."""
    for late in (OK.replace(b"hi", b"no"), OK[:20]):
        async with serving([OK + b"\0" + late, OK], [OK]) as (provider, upstream):
            response = await upstream.open("p", UpstreamRequest(provider.url, [], b"{}"), 5.0)
            assert await response.read() == b"hi"
            await response.aclose()
            provider.headers_arrived.set()
            await until(lambda: provider.left == 1)

            assert await post(provider, upstream) == (200, b"hi")
            assert provider.sockets == 2


async def test_what_comes_with_the_end_of_an_answer_is_nobodys_either() -> None:
    async with serving([CHUNKED + b"\0" + b"0\r\n\r\n" + OK.replace(b"hi", b"no"), OK], [OK]) as (provider, upstream):
        assert await post(provider, upstream) == (200, b"hello")
        assert await post(provider, upstream) == (200, b"hi")


async def test_the_pool_knows_used_sockets_from_new_ones() -> None:
    async with serving([OK, OK]) as (provider, upstream):
        await post(provider, upstream)
        assert on_used_socket.get() is False
        await post(provider, upstream)
        assert on_used_socket.get() is True


@pytest.mark.parametrize("status", [b"200 OK", b"500 No"])
async def test_a_broken_chunk_ends_the_body_at_once(status: bytes) -> None:
    async with serving([CHUNKED.replace(b"200 OK", status) + b"\0nonsense\r\n"]) as (provider, upstream):
        if status.startswith(b"500"):
            assert await post(provider, upstream) == (500, b"hello")
        else:
            with pytest.raises(UpstreamError, match="HTTP's rules"):
                await post(provider, upstream)


@pytest.mark.parametrize("answer", [CHUNKED, OK.replace(b"length: 2", b"length: 500")])
async def test_a_body_that_is_cut_short_is_called_so_and_in_no_librarys_words(answer: bytes) -> None:
    async with serving([answer]) as pair:
        with pytest.raises(UpstreamError) as caught:
            await post(*pair)
        assert str(caught.value) == "the connection broke (the answer ended within its body)"


async def test_an_answer_may_carry_a_header_of_many_kib() -> None:
    async with serving([OK.replace(b"\r\n\r\n", b"\r\nset-cookie: " + b"x" * 20_000 + b"\r\n\r\n")]) as pair:
        assert await post(*pair) == (200, b"hi")


@pytest.mark.parametrize("answer", [b"CANARY\r\n\r\n", b"HTTP/1.1 200 OK\r\nx: " + b"CANARY" * 9000 + b"\r\n\r\n"])
async def test_what_is_not_http_is_not_quoted(answer: bytes) -> None:
    async with serving([answer]) as pair:
        with pytest.raises(UpstreamError, match="not HTTP") as caught:
            await post(*pair)
        assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize("encoding", [b"br", b" ZSTD "])
async def test_an_error_that_we_cannot_decompress_says_nothing(encoding: bytes) -> None:
    sealed = b"HTTP/1.1 400 No\r\ncontent-encoding:" + encoding + b"\r\ncontent-length: 4\r\n\r\n\x0b\x02\x80a"
    async with serving([sealed]) as pair:
        assert await post(*pair) == (400, b"")
