"""An upstream that streams: each event carries the moment it was sent, so that the reader can tell its delay.

`python -m tests.bench.stream_upstream --port P --events N --gap SECONDS`; nginx cannot make events.
"""

import argparse
import asyncio
import time

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
HEALTHY = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
CHUNK = (
    b'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1764547200,"model":"bench-model",'
    b'"choices":[{"index":0,"delta":%b,"logprobs":null,"finish_reason":%b}]}\n\n'
)


def framed(event: bytes) -> bytes:
    """An event as one chunk."""
    return b"%x\r\n%b\r\n" % (len(event), event)


def word() -> bytes:
    """A content event with the time in it."""
    return framed(CHUNK % (b'{"content":" t%d"}' % time.monotonic_ns(), b"null"))


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """The request line; the rest of the request is read and dropped."""
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            await reader.readexactly(int(line.partition(b":")[2]))
        if line.startswith(b"transfer-encoding:"):
            await reader.readuntil(b"0\r\n\r\n")
    return head.partition(b"\r\n")[0]


class Upstream:
    """Answers every POST with a stream of `events` words, `gap` seconds apart."""

    def __init__(self, events: int, gap: float) -> None:
        self.events, self.gap = events, gap

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, kept alive."""
        try:
            while True:
                line = await read_request(reader)
                if line.startswith(b"GET"):
                    writer.write(HEALTHY)
                else:
                    await self.stream(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the other side is done with us
        finally:
            writer.close()

    async def stream(self, writer: asyncio.StreamWriter) -> None:
        """One answer. Sleeps to a schedule, so that a late event does not delay the ones after it."""
        writer.write(HEAD + framed(CHUNK % (b'{"role":"assistant","content":""}', b"null")))
        due = time.monotonic()
        for _ in range(self.events):
            due += self.gap
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            writer.write(word())
            await writer.drain()
        writer.write(framed(CHUNK % (b"{}", b'"stop"')) + framed(b"data: [DONE]\n\n") + b"0\r\n\r\n")
        await writer.drain()


async def main(port: int, events: int, gap: float) -> None:
    """Serve until stopped."""
    server = await asyncio.start_server(Upstream(events, gap).serve, "127.0.0.1", port, backlog=1024)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--events", type=int, default=200)
    parser.add_argument("--gap", type=float, default=0.01)
    asked = parser.parse_args()
    asyncio.run(main(asked.port, asked.events, asked.gap))
