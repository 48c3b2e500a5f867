"""What happened to one request, for its headers, its error object and its row in the request log."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from resilience.core.outcome import Failure
from resilience.core.permit import Refusal
from routing.chains import Target

Line = dict[str, Any]

SHOWN_TO_CLIENTS = ("provider", "connection", "model", "decision", "reason", "status", "retry_after")


@dataclass(slots=True)
class Journal:
    """Attempts and skips in the order in which they happened. Times are seconds since the request came."""

    started: float  # of the loop's clock
    lines: list[Line] = field(default_factory=list)
    failures: list[tuple[Target, Failure]] = field(default_factory=list)
    skips: list[tuple[Target, Refusal]] = field(default_factory=list)
    calls: int = 0  # upstream calls made
    upstream_time: float = 0.0  # seconds spent waiting for providers, or on purpose

    def begin(self, target: Target, at: float) -> Line:
        """An upstream call is about to be made."""
        self.calls += 1
        line = _line(target, "started")
        line["started"] = at - self.started
        self.lines.append(line)
        return line

    def skip(self, target: Target, refusal: Refusal, now: datetime) -> None:
        """A gate was shut."""
        line = _line(target, "skipped")
        line["reason"] = refusal.reason.value
        if refusal.until is not None:
            line["retry_after"] = seconds_until(refusal.until, now)
        if problem := target.connection.problem:
            line["message"] = problem
        self.lines.append(line)
        self.skips.append((target, refusal))

    def forget_skips(self) -> None:
        """The targets are asked again, after a wait; what was skipped before it does not count."""
        self.skips.clear()

    def answered(self, line: Line, at: float) -> None:
        """The call gave a usable answer."""
        line["decision"] = "answered"
        self._end(line, at)

    def released(self, line: Line, failure: Failure, at: float) -> None:
        """The call was given up through no fault of the provider."""
        line["decision"] = "released"
        line["reason"] = failure.kind.value
        line["message"] = failure.message
        self._end(line, at)

    def failed(self, line: Line, target: Target, failure: Failure, at: float, *, retry_after: float | None) -> None:
        """The call gave no usable answer. retry_after: seconds until this target can be called again, if known."""
        line["decision"] = "failed"
        line["reason"] = failure.kind.value
        line["message"] = failure.message
        if failure.status is not None:
            line["status"] = failure.status
        if failure.code:
            line["code"] = failure.code
        if failure.rule:
            line["rule"] = failure.rule
        if failure.decided_by is not None:
            line["decided_by"] = failure.decided_by.value
        if failure.hint is not None:
            line["hint"] = {"seconds": failure.hint.duration.total_seconds(), "source": failure.hint.source}
        if retry_after is not None:
            line["retry_after"] = retry_after
        self._end(line, at)
        self.failures.append((target, failure))

    def _end(self, line: Line, at: float) -> None:
        line["ended"] = at - self.started
        self.upstream_time += line["ended"] - line["started"]

    def for_client(self) -> list[Mapping[str, Any]]:
        """The lines as CONTRACT section 4 shows them."""
        return [{name: line[name] for name in SHOWN_TO_CLIENTS if name in line} for line in self.lines]

    @property
    def unmatched(self) -> list[tuple[str, Failure]]:
        """Providers and their errors that no rule, code or text told."""
        return [(target.provider.slug, failure) for target, failure in self.failures if failure.unmatched is not None]

    @property
    def soonest(self) -> float | None:
        """Seconds until the first target can be called again, where any such time is known: each target's last word."""
        known = {(line["provider"], line["connection"], line["model"]): line.get("retry_after") for line in self.lines}
        return min((seconds for seconds in known.values() if seconds is not None), default=None)


def seconds_until(moment: datetime, now: datetime) -> float:
    """Never negative, to the millisecond."""
    return max(0.0, round((moment - now).total_seconds(), 3))


def _line(target: Target, decision: str) -> Line:
    line: Line = {
        "provider": target.provider.slug,
        "connection": target.connection.slug,
        "model": target.model,
        "decision": decision,
    }
    if target.emergency:
        line["emergency"] = True
    return line
