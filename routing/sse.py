"""Server-sent events from bytes and to bytes, by the WHATWG rules.

Only CR, LF and CRLF end a line: `str.splitlines()` and httpx's `aiter_lines()` also cut at U+2028, U+2029
and U+0085, which JSON may carry unescaped. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

BOM = b"\xef\xbb\xbf"
MAX_EVENT_BYTES = 32 * 1024 * 1024  # an upstream that never ends an event must not fill the memory


class EventTooLargeError(Exception):
    """An event passed MAX_EVENT_BYTES without its blank line."""


class Event(NamedTuple):
    """One block: `data` is None for a block without data lines (a comment, a bare `event:`); `raw` lacks the blank line."""

    raw: bytes
    data: bytes | None
    name: bytes


class EventReader:
    """Cuts a byte stream into events; a last block without its blank line is delivered by `rest` only."""

    __slots__ = ("_after_cr", "_buffer", "_scanned", "_started")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._scanned = 0  # no blank line ends before this offset, so that a huge line is searched only once
        self._after_cr = False
        self._started = False

    def feed(self, chunk: bytes) -> list[Event]:
        """Events completed by `chunk`. Raises EventTooLargeError."""
        if not chunk:
            return []  # says nothing of what follows a CR
        if self._after_cr or b"\r" in chunk:
            chunk = self._newlines(chunk)
        buffer = self._buffer
        buffer += chunk
        if not self._started:
            if BOM.startswith(buffer[:3]) and len(buffer) < len(BOM):
                return []
            self._started = True
            if buffer.startswith(BOM):
                del buffer[: len(BOM)]
        end = buffer.rfind(b"\n\n", self._scanned)
        if end < 0:
            self._scanned = max(len(buffer) - 1, 0)
            if len(buffer) > MAX_EVENT_BYTES:
                raise EventTooLargeError
            return []
        blocks = bytes(buffer[:end]).split(b"\n\n")
        del buffer[: end + 2]
        self._scanned = max(len(buffer) - 1, 0)
        return [parse_block(block) for block in blocks if block.strip(b"\n")]

    def rest(self) -> list[Event]:
        """The last event, where the body ended without its blank line: a browser ignores it, but providers forget it."""
        block = bytes(self._buffer).strip(b"\n")
        self._buffer.clear()
        self._scanned = 0
        return [parse_block(block)] if block else []

    def _newlines(self, chunk: bytes) -> bytes:
        """CRLF and CR become LF, also when a CRLF is split between two chunks."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def parse_block(block: bytes) -> Event:
    """One block of lines, without its blank line, as an event."""
    block = block.lstrip(b"\n")
    if block.startswith(b"data: ") and b"\n" not in block:  # nearly every event of every provider
        return Event(block, block[6:], b"")
    data: list[bytes] = []
    name = b""
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
    return Event(block, b"\n".join(data) if data else None, name)


def typed_event(name: str, document: Mapping[str, Any]) -> bytes:
    """One event with its name also as the data's `type`, as Anthropic and OpenAI's Responses frame them."""
    return b"event: %b\ndata: %b\n\n" % (name.encode(), orjson.dumps({"type": name, **document}))
