"""What is known of a breaker, and which transitions are legal."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from .events import BreakerMoved
from .kinds import Kind
from .window import Window

Mode: TypeAlias = Literal["open", "closed"]


class State(StrEnum):
    """The states of a breaker."""

    CLOSED = "CLOSED"
    DEGRADED = "DEGRADED"
    OPEN = "OPEN"
    HALF_OPEN = "HALF_OPEN"


class Cause(StrEnum):
    """Why a breaker moved, in the words that operators read."""

    FAILURES_IN_A_ROW = "failures in a row"
    FAILURE_RATE = "failure rate"
    RETRY_TIME_PASSED = "retry time passed"
    PROBE_FAILED = "probe failed"
    PROBES_SUCCEEDED = "probes succeeded"
    RECOVERED = "recovered"
    FORCED = "forced"
    FORCE_ENDED = "force ended"
    RESET = "reset"


class IllegalTransitionError(RuntimeError):
    """A transition that is not in the table: a mistake in this package, never in its input."""


_FAILING = frozenset({Cause.FAILURES_IN_A_ROW, Cause.FAILURE_RATE})

TRANSITIONS: Mapping[tuple[State, State], frozenset[Cause]] = MappingProxyType(
    {
        (State.CLOSED, State.DEGRADED): _FAILING,
        (State.CLOSED, State.OPEN): _FAILING,
        (State.DEGRADED, State.OPEN): _FAILING,
        (State.DEGRADED, State.CLOSED): frozenset({Cause.RECOVERED}),
        (State.OPEN, State.HALF_OPEN): frozenset({Cause.RETRY_TIME_PASSED}),
        (State.HALF_OPEN, State.OPEN): frozenset({Cause.PROBE_FAILED}),
        (State.HALF_OPEN, State.CLOSED): frozenset({Cause.PROBES_SUCCEEDED}),
    }
)
"""The legal transitions and their causes. An operator's causes (`OPERATOR_CAUSES`) lead from anywhere."""

OPERATOR_CAUSES: Mapping[Cause, frozenset[State]] = MappingProxyType(
    {
        Cause.FORCED: frozenset({State.OPEN, State.CLOSED}),
        Cause.FORCE_ENDED: frozenset({State.CLOSED}),
        Cause.RESET: frozenset({State.CLOSED}),
    }
)


@dataclass(frozen=True, slots=True)
class Lease:
    """The place of one attempt in a half-open breaker, until it is settled or expires."""

    id: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Forced:
    """An operator holds the breaker open or closed, until a time or until told otherwise (None)."""

    mode: Mode
    by: str
    reason: str
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Breaker:
    """What is known of one provider. `kind_counts` counts since the breaker was last closed by probes or by hand."""

    provider: str
    state: State = State.CLOSED
    failure_count: int = 0
    last_failure_kind: Kind | None = None
    last_failure_at: datetime | None = None
    last_failure_message: str = ""
    opened_at: datetime | None = None
    retry_at: datetime | None = None
    open_cycles: int = 0
    probe_successes: int = 0
    leases: tuple[Lease, ...] = ()
    kind_counts: Mapping[Kind, int] = field(default_factory=dict)
    window: Window = Window.EMPTY
    forced: Forced | None = None
    generation: int = 0

    def live_leases(self, now: datetime) -> tuple[Lease, ...]:
        """The leases that still hold a place."""
        return tuple(lease for lease in self.leases if lease.expires_at > now)

    def holds(self, lease_id: str | None, now: datetime) -> bool:
        """Whether a lease still holds its place."""
        return any(lease.id == lease_id and lease.expires_at > now for lease in self.leases)

    def is_forced(self, now: datetime) -> bool:
        """Whether an operator's hold is in force."""
        return self.forced is not None and not self.force_ended(now)

    def force_ended(self, now: datetime) -> bool:
        """Whether a hold has run out, though nothing has taken note of it yet."""
        return self.forced is not None and self.forced.until is not None and self.forced.until <= now


def move(breaker: Breaker, to: State, cause: Cause, **changes: Any) -> Breaker:
    """The breaker after one transition, a generation younger.

    Raises IllegalTransitionError for a transition that is in no table.
    """
    legal = to in OPERATOR_CAUSES.get(cause, ()) or cause in TRANSITIONS.get((breaker.state, to), ())
    if not legal:
        raise IllegalTransitionError(f"{breaker.provider}: {breaker.state} to {to} because of {cause}")
    return replace(breaker, state=to, generation=breaker.generation + 1, **changes)


def close(breaker: Breaker, cause: Cause) -> Breaker:
    """The breaker closed, all counts zero. The last failure stays to be read."""
    return move(
        breaker,
        State.CLOSED,
        cause,
        failure_count=0,
        opened_at=None,
        retry_at=None,
        open_cycles=0,
        probe_successes=0,
        leases=(),
        kind_counts={},
        window=Window.EMPTY,
        forced=None,
    )


def moved(before: Breaker, after: Breaker, cause: Cause) -> BreakerMoved:
    """The event of a transition."""
    return BreakerMoved(
        provider=after.provider,
        from_state=before.state.value,
        to_state=after.state.value,
        cause=cause.value,
        failure_count=after.failure_count,
        kind=after.last_failure_kind,
        retry_at=after.retry_at,
        generation=after.generation,
    )
