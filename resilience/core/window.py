"""The sliding window of a breaker: how many calls were made of late, and how many of them failed.

Calls are counted in about twenty buckets of whole seconds, so that the window costs the same at any traffic, can be
merged with what another process counted, and fits in a row. It is precise to one bucket.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar, TypeAlias

Bucket: TypeAlias = tuple[int, int, int]
"""Start in epoch seconds, calls, failures."""

BUCKETS = 20


def bucket_width(window: timedelta) -> int:
    """Whole seconds that one bucket spans."""
    return max(1, -(-(window.days * 86_400 + window.seconds) // BUCKETS))


@dataclass(frozen=True, slots=True)
class Window:
    """Buckets in the order of time; empty ones are left out."""

    buckets: tuple[Bucket, ...] = ()

    EMPTY: ClassVar["Window"]

    def add(self, now: datetime, window: timedelta, calls: int = 1, failures: int = 0) -> "Window":
        """The window with some more calls, without what has left it."""
        width = bucket_width(window)
        second = int(now.timestamp())
        start = second - second % width
        buckets = self.buckets
        if buckets and buckets[-1][0] == start:  # the usual case, on every request
            last, last_calls, last_failures = buckets[-1]
            return Window((*buckets[:-1], (last, last_calls + calls, last_failures + failures)))
        span = int(window.total_seconds()) + width
        fresh = tuple(bucket for bucket in buckets if second - span < bucket[0] <= second + span)
        if fresh and fresh[-1][0] > start:  # the clock went back, or another process is ahead
            return Window(_merged((*fresh, (start, calls, failures))))
        return Window((*fresh, (start, calls, failures)))

    def merge(self, other: "Window") -> "Window":
        """The calls of both windows."""
        if not other.buckets:
            return self
        if not self.buckets:
            return other
        return Window(_merged((*self.buckets, *other.buckets)))

    def totals(self, now: datetime, window: timedelta) -> tuple[int, int]:
        """Calls and failures of the last `window`. What lies in a far future (the clock went back) does not count."""
        seconds = window.total_seconds()
        moment = now.timestamp()
        oldest = moment - seconds - bucket_width(window)
        newest = moment + seconds
        calls = failures = 0
        for start, bucket_calls, bucket_failures in self.buckets:
            if oldest < start <= newest:
                calls += bucket_calls
                failures += bucket_failures
        return calls, failures

    def to_json(self) -> list[list[int]]:
        """As lists of [start, calls, failures]."""
        return [list(bucket) for bucket in self.buckets]

    @classmethod
    def from_json(cls, data: Iterable[Sequence[int]]) -> "Window":
        """The window that `to_json` wrote."""
        return cls(tuple((int(start), int(calls), int(failures)) for start, calls, failures in data))


def _merged(buckets: Iterable[Bucket]) -> tuple[Bucket, ...]:
    """One bucket per start, in the order of time."""
    sums: dict[int, tuple[int, int]] = {}
    for start, calls, failures in buckets:
        known_calls, known_failures = sums.get(start, (0, 0))
        sums[start] = (known_calls + calls, known_failures + failures)
    return tuple((start, *sums[start]) for start in sorted(sums))


Window.EMPTY = Window()
