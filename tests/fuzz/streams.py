"""Event streams in random pieces, against a reader that follows the specification line by line."""

import re
from random import Random
from typing import NamedTuple

from routing.sse import EventReader
from tests.fuzz.spoil import BYTES, cut

LINES = (
    *(b"data: {}", b"data:{}", b"data", b"data:", b"data:  two", b'data: {"choices":[{"delta":{"content":"hi"}}]}'),
    *(
        b"event: message_start",
        b"event:",
        b"event",
        b"id: 1",
        b"retry: 5",
        b": ping",
        b":",
        b"data: [DONE]",
        b" data: x",
    ),
    *(
        b"dat",
        b"databla: x",
        b"data\xc3\xa9: x",
        b"\xef\xbb\xbfdata: bom",
        b"data: \xe2\x80\xa8\xc2\x85 no end",
        b"\x00",
    ),
    *(b"data: a: b: c", b"event: error\x0b\x0c", b"\xff\xfe\xfd", b"DATA: x", b"data : x"),
)
ENDS = (b"\n", b"\n", b"\r\n", b"\r")
HUGE = 1 / 3000
"""The share of streams with lines of up to 3 MB."""
Events = list[tuple[bytes | None, bytes]]


class Stream(NamedTuple):
    """One input."""

    chunks: list[bytes]


def make(chance: Random) -> Stream:
    end = chance.choice(ENDS)
    pieces = [b"\xef\xbb\xbf"] if chance.random() < 0.15 else []
    for _ in range(chance.choice((0, 1, 3, 6, 12, 25))):
        line = chance.choice(LINES)
        if chance.random() < HUGE / 10:
            line += b"x" * chance.randint(1, 3_000_000)
        pieces += (line, chance.choice(ENDS) if chance.random() < 0.2 else end)
        if chance.random() < 0.4:
            pieces.append(end)
    stream = b"".join(pieces)
    if chance.random() < 0.2:
        stream = cut(chance, stream, BYTES)
    return Stream(_chunks(chance, stream))


def check(stream: Stream) -> None:
    reader = EventReader()
    events = [(event.data, event.name) for chunk in stream.chunks for event in reader.feed(chunk)]
    assert events == specified(b"".join(stream.chunks))
    assert len(reader._buffer) <= sum(map(len, stream.chunks))


def specified(stream: bytes) -> Events:
    """What https://html.spec.whatwg.org/multipage/server-sent-events.html makes of a stream.

    Where the specification dispatches nothing, a block without data, ours says so with None.
    """
    events: Events = []
    data: list[bytes] = []
    name, begun = b"", False
    *lines, _unfinished = re.split(rb"\r\n|\r|\n", stream.removeprefix(b"\xef\xbb\xbf"))
    for line in lines:
        if not line:
            if begun:
                events.append((b"\n".join(data) if data else None, name))
            data, name, begun = [], b"", False
            continue
        begun = True
        field, _, value = line.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
    return events


def _chunks(chance: Random, stream: bytes) -> list[bytes]:
    kind = chance.random()
    if kind < 0.2 or not stream:
        return [stream]
    if kind < 0.35 and len(stream) < 2_000:
        return [stream[n : n + 1] for n in range(len(stream))]
    cuts = sorted(chance.randint(0, len(stream)) for _ in range(chance.choice((1, 2, 5, 20))))
    return [stream[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
