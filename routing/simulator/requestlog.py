"""The simulator's memory of what it was asked: the last thousand requests."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import orjson

KEPT = 1_000
MAX_BODY_BYTES = 64 * 1024  # of a request's body; a longer one is not kept


@dataclass(slots=True)
class Entry:
    """One request to a simulated provider. `finished` turns true with the last byte, a planned break included."""

    at: float  # Unix time
    format: str
    api_key: str = field(repr=False)  # never shown whole
    path: str = ""
    body: bytes = field(default=b"", repr=False)  # shown only to who asks for it
    model: str = ""
    mode: str = "ok"
    stream: bool = False
    status: int | None = None  # None: no status line was sent
    finished: bool = False
    client_closed: bool = False  # the client left before the answer was complete
    duration: float | None = None  # s from the request's last byte to the end of the answer

    def end(self, now: float, *, client_closed: bool = False) -> None:
        """Note how it ended; only the first call counts."""
        if self.duration is None:
            self.duration = now - self.at
            self.finished, self.client_closed = not client_closed, client_closed

    def describe(self, *, with_body: bool = False) -> dict[str, object]:
        """The entry as JSON, the key cut to its last four characters; `body` is null if it is no JSON or was too long."""
        shown: dict[str, object] = {
            "time": datetime.fromtimestamp(self.at, UTC).isoformat(timespec="milliseconds"),
            "format": self.format,
            "key": self.api_key[-4:],
            "path": self.path,
            "model": self.model,
            "mode": self.mode,
            "stream": self.stream,
            "status": self.status,
            "finished": self.finished,
            "client_closed": self.client_closed,
            "duration": None if self.duration is None else round(self.duration, 4),
        }
        return {**shown, "body": self._document()} if with_body else shown

    def _document(self) -> object:
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return None


@dataclass(slots=True)
class RequestLog:
    """The last requests, oldest first."""

    entries: deque[Entry] = field(default_factory=lambda: deque(maxlen=KEPT))

    def add(self, entry: Entry) -> None:
        """Keep one more, dropping the oldest when full."""
        self.entries.append(entry)

    def named(self, name: str) -> Iterator[Entry]:
        """Those a control name covers: all of a format, or of one key of it; an empty name covers all."""
        format_name, colon, api_key = name.partition(":")
        for entry in self.entries:
            if name and entry.format != format_name:
                continue
            if not colon or entry.api_key == api_key:
                yield entry

    def clear(self) -> None:
        """Forget all."""
        self.entries.clear()
