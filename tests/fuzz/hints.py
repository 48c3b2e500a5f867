"""Retry hints: headers, members of bodies, prose."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, NamedTuple

import orjson

from resilience.core.hints import BODY_HINTS, SHORTEST, parse_hint
from tests.fuzz.spoil import JUNK, TEXTS, cut

MOMENTS = tuple(
    datetime(*date, tzinfo=UTC) for date in ((2026, 11, 30, 12), (1970, 1, 1), (2000, 2, 29), (9999, 12, 31))
)
LONGEST = tuple(timedelta(seconds=seconds) for seconds in (0, 0.5, 1, 60, 86_400, 31_536_000))
_KINDS = ("requests", "tokens", "input-tokens", "tokens-day", "unified")
HEADERS = (
    *("retry-after", "retry-after-ms", "x-ms-retry-after-ms", "date", "x-ratelimit-remaining", "x-ratelimit-reset"),
    *(f"x-ratelimit-{word}-{kind}" for kind in _KINDS for word in ("remaining", "reset", "limit")),
    *(f"anthropic-ratelimit-{kind}-{word}" for kind in _KINDS for word in ("remaining", "reset", "limit", "status")),
)
TIMES = (
    *("0", "1", "120", "1.5", " 7 ", "0.2", "90000", "1e3", "nan", "inf", "-5", "soon", "", "0x10", "9" * 400, "None"),
    *(
        "60s",
        "1m30s",
        "6ms",
        "3h20m1.5s",
        "1d",
        "500us",
        "5\u00b5s",
        "39.5s",
        "rejected",
        "allowed",
        "0.0",
        "00",
        "1,5",
    ),
    *("1795953690", "1795953690000", "9999999999", "1000000000000000", "Mon, 30 Nov 2026 12:01:30 GMT"),
    *("Monday, 30-Nov-26 12:01:30 GMT", "Mon Nov 30 12:01:30 2026", "Mon, 99 Nov 2026 99:99:99 GMT", ":" * 60),
    *("2026-11-30T12:01:30Z", "2026-11-30T12:01:30.123456789+05:30", "2026-11-30 at 13:00 UTC", "0001-01-01T00:00:00Z"),
    *(
        "9999-12-31T23:59:59-23:59",
        "2026-11-30T12:01Z",
        "Fri, 31 Dec 9999 23:59:59 -2359",
        "Sat, 01 Jan 0001 00:00:00 +2359",
    ),
)
SENTENCES = (
    *("Please try again in {}.", "Please retry after {} seconds.", "Your quota resets in {} days", "retry_after: {}"),
    *(
        "try again in {} hour and {} minutes",
        "You will regain access on {}",
        "available again at {}",
        "wait {} s, {} ms",
    ),
    *(
        "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit {}, Used {}, Requested {}. ",
    ),
    *("quota will reset after {}.", "resets in {}{}{}", "retrying in for at least about {}", "Retry-After: {}", "{}"),
)
MEMBERS = (*(name for name, _, _ in BODY_HINTS), "error", "details", "metadata", "seconds", "nanos", "headers", "@type")


class Hints(NamedTuple):
    """One input."""

    headers: dict[str, str]
    body: Any
    text: str
    now: datetime
    longest: timedelta


def make(chance: Random) -> Hints:
    body = None if chance.random() < 0.3 else _body(chance, 4)
    text = sentence(chance) if chance.random() < 0.7 else ""
    return Hints(headers(chance), body, text, chance.choice(MOMENTS), chance.choice(LONGEST))


def check(hints: Hints) -> None:
    found = parse_hint(*hints)
    if found is not None:
        assert SHORTEST <= found.duration <= max(hints.longest, SHORTEST)
        assert found.source


def headers(chance: Random) -> dict[str, str]:
    return {chance.choice(HEADERS): time(chance) for _ in range(chance.choice((0, 1, 1, 2, 4)))}


def time(chance: Random) -> str:
    value = chance.choice(TIMES)
    return cut(chance, value, TEXTS) if chance.random() < 0.25 else value


def sentence(chance: Random) -> str:
    text = chance.choice(SENTENCES)
    while "{}" in text:
        text = text.replace("{}", time(chance), 1)
    if chance.random() < 0.3:
        text = cut(chance, text, TEXTS)
    return text * chance.choice((2, 2, 2, 2, 30)) if chance.random() < 0.03 else text


def _body(chance: Random, depth: int) -> Any:
    kind = chance.random()
    if depth == 0 or kind < 0.35:
        return time(chance) if kind < 0.2 else orjson.loads(chance.choice(JUNK))
    if kind < 0.5:
        return [_body(chance, depth - 1) for _ in range(chance.choice((1, 2)))]
    return {chance.choice(MEMBERS): _body(chance, depth - 1) for _ in range(chance.choice((1, 2, 3)))}
