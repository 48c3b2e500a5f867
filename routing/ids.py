"""Request ids: UUIDv7 (RFC 9562, section 5.7), so that the order of ids is the order of time.

48 bits of Unix milliseconds, then 12 bits of sub-millisecond clock (method 3) that also count up within one tick, then
62 random bits. Within a process each id is greater than the one before, threads included.
"""

import threading
import time
from datetime import UTC, datetime
from random import getrandbits
from uuid import UUID

_VERSION_AND_VARIANT = (0x7 << 76) | (0x2 << 62)
_lock = threading.Lock()
_last = 0  # the 60 bits of time in the newest id


def uuid7() -> str:
    """Return a new id in its usual text form."""
    global _last  # noqa: PLW0603 (one clock per process)
    with _lock:
        now = time.time_ns()
        milliseconds = now // 1_000_000
        ticks = (milliseconds << 12) | (now - milliseconds * 1_000_000) * 4096 // 1_000_000
        if ticks <= _last:
            ticks = _last + 1
        _last = ticks
    noise = getrandbits(62)  # unique, not secret; Python seeds it anew after a fork
    return "%08x-%04x-7%03x-%04x-%012x" % (  # noqa: UP031 (half the time of an f-string)
        ticks >> 28,
        ticks >> 12 & 0xFFFF,
        ticks & 0xFFF,
        0x8000 | noise >> 48,
        noise & 0xFFFFFFFFFFFF,
    )


def uuid7_floor(at: datetime) -> UUID:
    """Return the smallest id of a moment: ids below it are older."""
    milliseconds = max(0, int(at.timestamp() * 1000))
    return UUID(int=(milliseconds << 80) | _VERSION_AND_VARIANT)


def uuid7_time(identifier: UUID | str) -> datetime:
    """Return when an id was made, to the millisecond."""
    number = identifier.int if isinstance(identifier, UUID) else UUID(identifier).int
    return datetime.fromtimestamp((number >> 80) / 1000, UTC)
