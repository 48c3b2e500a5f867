"""Load with streams: many at once, each read to its end, with the delay of every event.

Runs as a process of its own (`python -m tests.bench.stream_load URL MODEL KEY STREAMS`), so that it can be pinned.
"""

import asyncio
import json
import re
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

from tests.bench.plain_load import Load
from tests.bench.processes import BenchError, pinned

_STAMP = re.compile(rb'"content": ?" t(\d+)"')
READ_SIZE = 65536


@dataclass(slots=True)
class Streams:
    """What was read. Delays in seconds from the upstream's write to the client's read."""

    events: int
    complete: int
    first_p50: float
    delay_p50: float
    delay_p99: float


def run(load: Load, *, streams: int, timeout: float) -> Streams:
    """Read streams in a pinned process. Raises BenchError unless all of them came whole."""
    command = [sys.executable, "-m", "tests.bench.stream_load", load.url, load.model, load.api_key, str(streams)]
    try:
        ran = subprocess.run(pinned(command, load.core), capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"the streams from {load.url} did not end within {timeout:g} s") from error
    if ran.returncode:
        raise BenchError(f"the stream client failed at {load.url}:\n{ran.stderr[-3000:]}")
    read = Streams(**json.loads(ran.stdout))
    if read.complete < streams:
        raise BenchError(f"only {read.complete} of {streams} streams from {load.url} came whole")
    return read


async def read_stream(url: str, body: bytes, api_key: str, delays: list[float]) -> tuple[bool, float]:
    """One stream: whether it came whole, and the seconds until its first event with content."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head = (
        f"POST {address.path} HTTP/1.1\r\nhost: {address.netloc}\r\ncontent-type: application/json\r\n"
        f"authorization: Bearer {api_key}\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    begun, first, tail = time.monotonic(), 0.0, b""
    writer.write(head.encode() + body)
    while data := await reader.read(READ_SIZE):
        now = time.monotonic_ns()
        tail += data
        end = 0
        for found in _STAMP.finditer(tail):
            delays.append((now - int(found[1])) / 1e9)
            first, end = first or time.monotonic() - begun, found.end()
        tail = tail[max(end, len(tail) - 200) :]  # an event may arrive in two reads
        if tail.endswith(b"0\r\n\r\n"):
            break  # the last chunk; the connection may stay open
    writer.close()
    return b"data: [DONE]" in tail, first


async def main(url: str, model: str, api_key: str, streams: int) -> Streams:
    """All streams at once."""
    asked = {"model": model, "messages": [{"role": "user", "content": "Say a lot."}], "stream": True}
    body, delays = json.dumps(asked).encode(), list[float]()
    ended = await asyncio.gather(*(read_stream(url, body, api_key, delays) for _ in range(streams)))
    if not delays:
        raise BenchError(f"no event came from {url}")
    centiles = statistics.quantiles(delays, n=100, method="inclusive")
    return Streams(
        events=len(delays),
        complete=sum(whole for whole, _ in ended),
        first_p50=statistics.median(first for _, first in ended),
        delay_p50=centiles[49],
        delay_p99=centiles[98],
    )


if __name__ == "__main__":
    url, model, api_key, streams = sys.argv[1:]
    print(json.dumps(asdict(asyncio.run(main(url, model, api_key, int(streams))))))  # noqa: T201 (its answer)
