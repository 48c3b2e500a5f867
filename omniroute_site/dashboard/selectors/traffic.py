"""What the request log says of the last minutes: one bounded read for every provider's picture, two for the counts."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import orjson

from omniroute_site.dashboard.board_rows import Count, Numbers
from omniroute_site.dashboard.charts import bars, beats, percentile
from omniroute_site.dashboard.rows import Traffic
from routing.ids import uuid7_floor
from routing.models import Outcome, RequestLog

SPAN = timedelta(minutes=2)
BUCKET_SECONDS = 2
BUCKETS = int(SPAN.total_seconds()) // BUCKET_SECONDS
PLACES = 60  # outcomes in a strip
RATE_SECONDS = 10.0  # requests a second are averaged over
MOST_ROWS = 2_000
"""Enough for two minutes at 16 requests a second. Beyond it the pictures show the newest of them, cut on the left:
reading on would cost more than it tells."""
COUNTED = timedelta(minutes=5)
COUNT_LIMIT = 1_000
LOST = (Outcome.FAILED, Outcome.REFUSED, Outcome.INTERRUPTED)
LIMITED_KINDS = frozenset({"rate_limit", "quota_exhausted"})
HARMLESS_KINDS = frozenset({"context_length", "content_filter", "invalid_request", "model_unavailable"})
"""Well-formed answers: the provider is alive, and its circuit does not count them."""

Row = tuple[datetime, float | None, str]


@dataclass(slots=True)
class _Tally:
    """One provider's attempts while they are counted."""

    calls: list[int] = field(default_factory=lambda: [0] * BUCKETS)
    failures: list[int] = field(default_factory=lambda: [0] * BUCKETS)
    outcomes: deque[tuple[float, str]] = field(default_factory=deque)
    first_tokens: list[float] = field(default_factory=list)
    lately: int = 0


def read_traffic(at: datetime) -> tuple[Mapping[str, Traffic], Numbers]:
    """The picture of every provider that was called lately, and the figures for the top of the page."""
    rows = _newest(at)
    tallies: dict[str, _Tally] = defaultdict(_Tally)
    for started_at, _first_token, targets in rows:
        for target in orjson.loads(targets or "[]"):
            _count(tallies, started_at.timestamp(), target, at.timestamp())
    return {provider: _drawn(tally) for provider, tally in tallies.items()}, _numbers(rows, at)


def _newest(at: datetime) -> Sequence[Row]:
    recent = RequestLog.objects.filter(id__gte=uuid7_floor(at - SPAN)).newest_first()
    return list(recent.values_list("started_at", "first_token", "targets_json")[:MOST_ROWS])


def _count(tallies: Mapping[str, _Tally], request_start: float, target: dict[str, Any], now: float) -> None:
    sign = _sign(target)
    if not sign:
        return
    ended = request_start + float(target.get("ended") or target.get("started") or 0.0)
    position = BUCKETS - 1 - (int(now // BUCKET_SECONDS) - int(ended // BUCKET_SECONDS))
    tally = tallies[str(target.get("provider", ""))]
    tally.outcomes.append((ended, sign))
    if now - ended <= RATE_SECONDS:
        tally.lately += 1
    if 0 <= position < BUCKETS:
        tally.calls[position] += 1
        tally.failures[position] += sign == "x"
    if target.get("first_token") is not None:
        tally.first_tokens.append(float(target["first_token"]) - float(target.get("started") or 0.0))


def _sign(target: dict[str, Any]) -> str:
    """How an attempt counts in a picture: good `o`, limited `l`, failed `x`; empty for what was no call."""
    decision = target.get("decision")
    if decision == "answered":
        return "o"
    if decision != "failed":
        return ""
    reason = target.get("reason")
    if reason in LIMITED_KINDS:
        return "l"
    return "o" if reason in HARMLESS_KINDS else "x"


def _drawn(tally: _Tally) -> Traffic:
    highest = max(tally.calls)
    outcomes = "".join(sign for _ended, sign in sorted(tally.outcomes)[-PLACES:])
    return Traffic(
        calls_path=bars(tally.calls, highest),
        fails_path=bars(tally.failures, highest),
        good_path=beats(outcomes, "o", PLACES, 0.7),
        limited_path=beats(outcomes, "l", PLACES, 0.85),
        failed_path=beats(outcomes, "x", PLACES),
        calls=sum(tally.calls),
        failures=sum(tally.failures),
        per_second=round(tally.lately / RATE_SECONDS, 1),
        first_token_p95=_rounded(percentile(tally.first_tokens, 0.95)),
    )


def _numbers(rows: Sequence[Row], at: datetime) -> Numbers:
    lately = sum((at - started_at).total_seconds() <= RATE_SECONDS for started_at, *_rest in rows)
    seconds = RATE_SECONDS
    if lately == MOST_ROWS:  # more came in ten seconds than were read
        seconds = max(0.1, (at - rows[-1][0]).total_seconds())
    return Numbers(
        per_second=round(lately / seconds, 1),
        rescued=_bounded([Outcome.RESCUED], at),
        lost=_bounded(LOST, at),
        first_token_p95=_rounded(percentile([row[1] for row in rows if row[1] is not None], 0.95)),
    )


def _bounded(outcomes: Iterable[Outcome], at: datetime) -> Count:
    """A count that never walks through more rows than a person can tell apart."""
    rows = RequestLog.objects.filter(outcome__in=list(outcomes), id__gte=uuid7_floor(at - COUNTED))
    found = rows.order_by()[: COUNT_LIMIT + 1].count()
    return Count(min(found, COUNT_LIMIT), more=found > COUNT_LIMIT)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 2)
