"""Retry hints: how long a provider asks us to stay away.

The first that can be read wins, in this order:
1. `retry-after-ms`, `x-ms-retry-after-ms`; 2. `retry-after`; 3. the reset of an exhausted bucket (`x-ratelimit-…`,
`anthropic-ratelimit-…`; a bucket with something left says nothing); 4. the body's `RetryInfo.retryDelay`,
`quotaResetDelay`, `resets_at`, `resets_in_seconds`; 5. prose.

What cannot be read, is negative, NaN or infinite is as if absent.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TypeAlias

from .durations import in_prose, number, seconds_from_now
from .outcome import Hint

SHORTEST = timedelta(seconds=1)
SCANNED_CHARACTERS = 16_384
"""As much of a text is searched; a hint stands at the beginning of an error, and bodies may be huge."""
VISITED_NODES = 300
"""As many members of a body are looked at."""

Found: TypeAlias = tuple[float, str]

MILLISECOND_HEADERS = ("retry-after-ms", "x-ms-retry-after-ms")


def parse_hint(
    headers: Mapping[str, str], body: object, text: str, now: datetime, max_cooldown: timedelta
) -> Hint | None:
    """The first hint found, clamped to [1 s, `max_cooldown`]; None if there is none that can be read. Never raises.

    `headers` have lower-case names, `body` is decoded JSON or None, `text` is prose.
    """
    found = in_headers(headers, now) or _in_body(body, now)
    if found is None:
        seconds = in_prose(text[:SCANNED_CHARACTERS], now)
        if seconds is None:
            return None
        found = (seconds, "error text")
    seconds, source = found
    # Compared as numbers: a timedelta of 1e15 seconds does not exist.
    bounded = min(max(seconds, SHORTEST.total_seconds()), max(max_cooldown, SHORTEST).total_seconds())
    return Hint(timedelta(seconds=bounded), source)


def in_headers(headers: Mapping[str, str], now: datetime) -> Found | None:
    """Seconds and source of a hint in the headers."""
    for name in MILLISECOND_HEADERS:
        milliseconds = number(headers.get(name))
        if milliseconds is not None:
            return milliseconds / 1000, f"{name} header"
    seconds = seconds_from_now(headers.get("retry-after"), now)
    if seconds is not None:
        return seconds, "retry-after header"
    return max(_exhausted_buckets(headers, now), default=None)


def _exhausted_buckets(headers: Mapping[str, str], now: datetime) -> Iterator[Found]:
    """The resets of the buckets with nothing left."""
    for name, value in headers.items():
        if "ratelimit" not in name:
            continue
        if name.endswith("-unified-status") and value.strip().lower() == "rejected":
            reset_name = name.replace("-status", "-reset")  # Anthropic's subscriptions name no remainder
        elif "remaining" in name and number(value) == 0:
            reset_name = name.replace("remaining", "reset")
        else:
            continue
        seconds = seconds_from_now(headers.get(reset_name), now)
        if seconds is not None:
            yield seconds, f"{reset_name} header"


def _in_body(body: object, now: datetime) -> Found | None:
    """The hint of a body, whichever member holds it; the order of `BODY_HINTS` decides."""
    if not isinstance(body, dict | list):
        return None
    members = list(_members(body))
    for key, source, read in BODY_HINTS:
        for value in (value for name, value in members if name == key):
            seconds = read(value, now)
            if seconds is not None:
                return seconds, source
    return None


def _members(body: object) -> Iterator[tuple[str, object]]:
    """The members of a body, level by level, as many as may be looked at."""
    level: list[object] = [body]
    visited = 0
    while level and visited < VISITED_NODES:
        for node in level:
            members = list(node.items()) if isinstance(node, dict) else []
            yield from members[: max(0, VISITED_NODES - visited)]
            visited += 1 + len(members)
        level = [child for node in level for child in _children(node)][: max(0, VISITED_NODES - visited)]


def _children(node: object) -> list[object]:
    """What else is to be looked into, in one object or list."""
    inside = node.values() if isinstance(node, dict) else node[:VISITED_NODES] if isinstance(node, list) else ()
    return [value for value in inside if isinstance(value, dict | list)]


def _google_duration(value: object, now: datetime) -> float | None:
    """`"39s"`, or `{"seconds": 39, "nanos": 5}` as protobuf's other notation has it."""
    if isinstance(value, dict):
        seconds, nanos = number(value.get("seconds")), number(value.get("nanos", 0))
        return None if seconds is None else seconds + (nanos or 0.0) / 1e9
    return seconds_from_now(value, now)


def _milliseconds(value: object, now: datetime) -> float | None:  # noqa: ARG001 - the signature of its siblings
    amount = number(value)
    return None if amount is None else amount / 1000


BODY_HINTS: tuple[tuple[str, str, Callable[[object, datetime], float | None]], ...] = (
    ("retryDelay", "RetryInfo", _google_duration),
    ("quotaResetDelay", "quotaResetDelay", _google_duration),
    ("quotaResetTimeStamp", "quotaResetTimeStamp", seconds_from_now),
    ("resets_at", "resets_at", seconds_from_now),
    ("resets_in_seconds", "resets_in_seconds", seconds_from_now),
    ("retry_after_ms", "retry_after_ms", _milliseconds),
    ("retry_after", "retry_after", seconds_from_now),
    ("retry_after_seconds", "retry_after_seconds", seconds_from_now),
)
"""Members of error bodies that name a time, the first that is there wins."""
