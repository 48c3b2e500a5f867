"""One request and its attempts, as rows: what was tried, what was skipped, and when each part of it happened."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from routing.models import Outcome, RequestLog

OUTCOME_TONES = {
    Outcome.ANSWERED: "ok",
    Outcome.RESCUED: "degraded",
    Outcome.FAILED: "open",
    Outcome.REFUSED: "open",
    Outcome.INTERRUPTED: "open",
    Outcome.REJECTED: "off",
    Outcome.CLIENT_CLOSED: "off",
}
SCALE = 1000  # the width of a track's drawing box
SMALLEST = 3.0  # of a bar, in the units of SCALE: nothing that happened is invisible


@dataclass(frozen=True, slots=True)
class RequestRow:
    """A line of the request list."""

    id: str
    started_at: datetime
    chain: str
    key_name: str
    outcome: str
    label: str
    tone: str
    status: int
    code: str
    target: str
    model: str
    attempts: int
    fallback: bool
    emergency: bool
    stream: bool
    duration: float
    first_token: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost: Decimal | None  # USD


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of time in a track."""

    part: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Attempt:
    """One target of a request: called, or skipped."""

    number: int | None
    target: str
    model: str
    decision: str
    tone: str
    verdict: str
    why: str
    bars: tuple[Bar, ...]
    emergency: bool


@dataclass(frozen=True, slots=True)
class RequestPage:
    """One request with everything known of it."""

    row: RequestRow
    requested_model: str
    client_format: str
    error: str
    overhead: float | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    attempts: tuple[Attempt, ...]


def row_of(log: RequestLog) -> RequestRow:
    """A line of the list."""
    outcome = Outcome(log.outcome)
    return RequestRow(
        id=str(log.pk),
        started_at=log.started_at,
        chain=log.chain or log.requested_model,
        key_name=log.key_name,
        outcome=log.outcome,
        label=log.outcome.replace("_", " "),
        tone=OUTCOME_TONES[outcome],
        status=log.status,
        code=log.code,
        target=f"{log.provider}/{log.connection}" if log.provider else "",
        model=log.model,
        attempts=log.attempts,
        fallback=log.fallback,
        emergency=log.emergency,
        stream=log.stream,
        duration=log.duration,
        first_token=log.first_token,
        input_tokens=log.input_tokens,
        output_tokens=log.output_tokens,
        cost=log.cost,
    )


def page_of(log: RequestLog) -> RequestPage:
    """The whole request."""
    targets = log.targets
    end = max([log.duration, *(float(target.get("ended") or 0) for target in targets)], default=0.0) or 1.0
    attempts: list[Attempt] = []
    number = 0
    for target in targets:
        called = target.get("decision") != "skipped"
        number += called
        attempts.append(_attempt(target, number if called else None, end))
    return RequestPage(
        row=row_of(log),
        requested_model=log.requested_model,
        client_format=log.client_format,
        error=log.error,
        overhead=log.overhead,
        cached_tokens=log.cached_tokens,
        reasoning_tokens=log.reasoning_tokens,
        attempts=tuple(attempts),
    )


def _attempt(target: dict[str, Any], number: int | None, end: float) -> Attempt:
    decision = str(target.get("decision", ""))
    reason = str(target.get("reason") or "").replace("_", " ")
    status = target.get("status")
    verdict = {"answered": "answered", "skipped": "skipped", "released": "given up"}.get(decision, "")
    if not verdict:
        verdict = " ".join(str(part) for part in (status, reason) if part) or decision
    return Attempt(
        number=number,
        target=f"{target.get('provider', '')}/{target.get('connection', '')}",
        model=str(target.get("model", "")),
        decision=decision,
        tone={"answered": "ok", "failed": "open"}.get(decision, "off"),
        verdict=verdict,
        why=_why(target, decision, reason),
        bars=tuple(_bars(target, decision, end)) if number is not None else (),
        emergency=bool(target.get("emergency")),
    )


def _why(target: dict[str, Any], decision: str, reason: str) -> str:
    parts = []
    if decision in ("skipped", "released") and reason:
        parts.append(reason)
    if decision == "answered" and target.get("first_token") is not None:
        wait = float(target["first_token"]) - float(target.get("started") or 0)
        parts.append(f"first token after {wait:.2f} s")
    if target.get("rescue"):
        parts.append(f"continues the stream by {target['rescue']}")
    if target.get("retry_after") is not None:
        parts.append(f"for {float(target['retry_after']):.0f} s more")
    if target.get("rule"):
        parts.append(f"by rule “{target['rule']}”")
    if target.get("message"):
        parts.append(str(target["message"]))
    return "; ".join(parts)


def _bars(target: dict[str, Any], decision: str, end: float) -> list[Bar]:
    """Connecting until the headers, waiting until the first token, streaming until the end; red if it came to nothing."""
    moments = [target.get(name) for name in ("started", "headers", "first_token", "ended")]
    started = float(moments[0] or 0.0)
    ended = float(moments[3] if moments[3] is not None else end)
    headers = float(moments[1]) if moments[1] is not None else None
    first_token = float(moments[2]) if moments[2] is not None else None
    last = {"failed": "failed", "released": "released"}.get(decision, "streaming")
    if headers is None and first_token is None:
        return [_bar(last, started, ended, end)]
    bars = [_bar("connecting", started, headers if headers is not None else started, end)]
    begun = headers if headers is not None else started
    if first_token is not None:
        bars.append(_bar("waiting", begun, first_token, end))
        begun = first_token
    return [*bars, _bar(last, begun, ended, end)]


def _bar(part: str, start: float, stop: float, end: float) -> Bar:
    width = max(SMALLEST, (stop - start) / end * SCALE)
    x = min(max(0.0, start / end * SCALE), SCALE - SMALLEST)
    return Bar(part, round(x, 1), round(min(width, SCALE - x), 1))
