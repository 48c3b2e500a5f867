"""Layer 1: the breaker of a provider.

     CLOSED ──failures──► DEGRADED ──more──► OPEN ──retry_at passed, a request comes──► HALF_OPEN
       ▲                      │                ▲                                           │
       ├──success, rate low───┘                └───────────a probe fails (longer wait)─────┤
       └───────────────────────── half_open_requests probes succeed ───────────────────────┘

Every transition adds one to `generation`; an outcome of an older generation changes nothing. While half open, attempts
hold a lease: at most `half_open_requests` at a time; an expired one frees its place and its late result is ignored.
An operator may hold a breaker (`forced.py`): outcomes then only reach the window.

A function takes the breaker and returns the one that follows, with what happened. The same breaker comes back (`is`)
when nothing changed.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from .events import Events
from .forced import effective, force, generation_at, probe_now, reset, unforce
from .kinds import BreakerEffect, Kind
from .outcome import Failure
from .permit import NEEDS_LEASE, NeedsLease, Pair, Permit, Refusal, RefusalReason
from .policy import BreakerConfig
from .state import TRANSITIONS, Breaker, Cause, Forced, IllegalTransitionError, Lease, State, close, move, moved

__all__ = [
    "NEEDS_LEASE",
    "TRANSITIONS",
    "Breaker",
    "Cause",
    "Forced",
    "IllegalTransitionError",
    "Lease",
    "NeedsLease",
    "Pair",
    "Permit",
    "Refusal",
    "RefusalReason",
    "State",
    "check",
    "claim",
    "effective",
    "fail",
    "force",
    "generation_at",
    "is_stale",
    "opening_time",
    "probe_now",
    "release",
    "reset",
    "succeed",
    "unforce",
]


def opening_time(
    config: BreakerConfig, cooldown_for_kind: timedelta, hint: timedelta | None, open_cycles: int, u: float
) -> timedelta:
    """How long the breaker stays open: the most restrictive wait, plus jitter. `u` is random, in [0, 1)."""
    longest = max(1.0, config.max_backoff_multiplier)
    multiplier = max(1.0, config.backoff_multiplier)
    # By logarithm, as the power of a breaker that has failed for weeks is no longer a float.
    grown_out = open_cycles * math.log(multiplier) >= math.log(longest)
    backoff = config.reset_timeout * (longest if grown_out and multiplier > 1 else multiplier**open_cycles)
    return max(backoff, cooldown_for_kind, hint or timedelta(0)) * (1 + config.jitter * u)


def check(breaker: Breaker, config: BreakerConfig, now: datetime) -> Refusal | NeedsLease | None:
    """Whether an attempt may be made: None if so, NEEDS_LEASE if it must claim a probe lease first. A pure read."""
    if breaker.forced is not None:
        if breaker.is_forced(now) and breaker.forced.mode == "open":
            return Refusal(RefusalReason.FORCED_OPEN, breaker.forced.until)
        return None  # held closed, or the hold has ended: closed
    if breaker.state is State.CLOSED or breaker.state is State.DEGRADED:
        return None
    if breaker.state is State.OPEN:
        if breaker.retry_at is not None and now < breaker.retry_at:
            return Refusal(RefusalReason.BREAKER_OPEN, breaker.retry_at)
        return NEEDS_LEASE
    live = breaker.live_leases(now)
    if len(live) < max(1, config.half_open_requests):
        return NEEDS_LEASE
    return Refusal(RefusalReason.BREAKER_HALF_OPEN, min(lease.expires_at for lease in live))


def claim(
    breaker: Breaker, config: BreakerConfig, now: datetime, lease_id: str
) -> tuple[Breaker, Refusal | None, Events]:
    """Claim the place of a probe: the move from OPEN to HALF_OPEN and the lease in one step, under the store's lock.

    Without a refusal the attempt is admitted under the returned breaker's generation. It holds the lease if
    `breaker.holds(lease_id, now)`; it does not if the breaker turns out to be closed by now.
    """
    breaker, events = effective(breaker, now)
    answer = check(breaker, config, now)
    if answer is not NEEDS_LEASE:
        return breaker, answer, events
    before = breaker
    lease = Lease(lease_id, now + config.probe_lease)
    if breaker.state is State.HALF_OPEN:
        return replace(breaker, leases=(*breaker.live_leases(now), lease)), None, events
    breaker = move(before, State.HALF_OPEN, Cause.RETRY_TIME_PASSED, leases=(lease,), probe_successes=0)
    return breaker, None, (*events, moved(before, breaker, Cause.RETRY_TIME_PASSED))


def is_stale(breaker: Breaker, now: datetime, *, generation: int, lease_id: str | None) -> bool:
    """Whether an outcome comes too late to count: of an older generation, or of a probe whose lease is gone."""
    if generation != generation_at(breaker, now):
        return True
    if breaker.forced is not None:
        return False
    if breaker.state is State.HALF_OPEN:
        return not breaker.holds(lease_id, now)
    return breaker.state is State.OPEN  # it admitted nobody under this generation


def succeed(
    breaker: Breaker, config: BreakerConfig, now: datetime, *, generation: int, lease_id: str | None
) -> tuple[Breaker, Events]:
    """Count a success."""
    breaker, events = effective(breaker, now)
    if is_stale(breaker, now, generation=generation, lease_id=lease_id):
        return release(breaker, lease_id=lease_id)[0], events
    window = breaker.window.add(now, config.window)
    if breaker.forced is not None:
        return replace(breaker, window=window), events
    before = breaker
    if breaker.state is State.HALF_OPEN:
        successes = breaker.probe_successes + 1
        if successes < config.half_open_requests:
            return replace(breaker, probe_successes=successes, leases=_without(breaker, lease_id)), events
        breaker = close(breaker, Cause.PROBES_SUCCEEDED)
        return breaker, (*events, moved(before, breaker, Cause.PROBES_SUCCEEDED))
    breaker = replace(breaker, window=window, failure_count=0)
    if breaker.state is State.DEGRADED and not _failing_at(breaker, config, now, config.failure_rate / 2):
        breaker = move(breaker, State.CLOSED, Cause.RECOVERED)
        return breaker, (*events, moved(before, breaker, Cause.RECOVERED))
    return breaker, events


def fail(
    breaker: Breaker,
    config: BreakerConfig,
    failure: Failure,
    now: datetime,
    u: float,
    *,
    generation: int,
    lease_id: str | None,
    counts: bool,
    cooldown_floor: timedelta,
) -> tuple[Breaker, Events]:
    """Record a failure, and count it if `counts`. `u` is random, in [0, 1); `cooldown_floor` is the kind's cooldown."""
    if failure.effects.breaker is BreakerEffect.RELEASE:
        return release(breaker, lease_id=lease_id)
    breaker, events = effective(breaker, now)
    if is_stale(breaker, now, generation=generation, lease_id=lease_id):
        return release(breaker, lease_id=lease_id)[0], events
    if breaker.forced is not None:
        if not counts:
            return breaker, events
        return replace(breaker, window=breaker.window.add(now, config.window, 1, 1)), events
    breaker = _recorded(breaker, failure, now)
    if not counts:
        return replace(breaker, leases=_without(breaker, lease_id)), events
    breaker = replace(
        breaker, failure_count=breaker.failure_count + 1, window=breaker.window.add(now, config.window, 1, 1)
    )
    to, cause = _after_failure(breaker, config, now)
    if to is breaker.state:
        return breaker, events
    before = breaker
    if to is State.OPEN:
        open_cycles = breaker.open_cycles + 1 if breaker.state is State.HALF_OPEN else 0
        hint = failure.hint.duration if failure.hint else None
        open_for = opening_time(config, cooldown_floor, hint, open_cycles, u)
        breaker = _opened(breaker, cause, now, open_for=open_for, open_cycles=open_cycles)
    else:
        breaker = move(breaker, to, cause)
    return breaker, (*events, moved(before, breaker, cause))


def _opened(breaker: Breaker, cause: Cause, now: datetime, *, open_for: timedelta, open_cycles: int) -> Breaker:
    return move(
        breaker,
        State.OPEN,
        cause,
        opened_at=now,
        retry_at=now + open_for,
        open_cycles=open_cycles,
        probe_successes=0,
        leases=(),
    )


def release(breaker: Breaker, *, lease_id: str | None) -> tuple[Breaker, Events]:
    """Give a lease back without a result. No count changes; leases are unique, so no generation is asked for."""
    leases = _without(breaker, lease_id)
    if len(leases) == len(breaker.leases):
        return breaker, ()
    return replace(breaker, leases=leases), ()


def _without(breaker: Breaker, lease_id: str | None) -> tuple[Lease, ...]:
    return tuple(lease for lease in breaker.leases if lease.id != lease_id)


def _recorded(breaker: Breaker, failure: Failure, now: datetime) -> Breaker:
    """Keep what operators read of the last failure, and its kind's count."""
    counts: Mapping[Kind, int] = {**breaker.kind_counts, failure.kind: breaker.kind_counts.get(failure.kind, 0) + 1}
    return replace(
        breaker,
        last_failure_kind=failure.kind,
        last_failure_at=now,
        last_failure_message=failure.message,
        kind_counts=counts,
    )


def _after_failure(breaker: Breaker, config: BreakerConfig, now: datetime) -> tuple[State, Cause]:
    """The state that a counted failure leads to."""
    if breaker.state is State.HALF_OPEN:
        return State.OPEN, Cause.PROBE_FAILED
    if breaker.failure_count >= config.failure_threshold:
        return State.OPEN, Cause.FAILURES_IN_A_ROW
    if _failing_at(breaker, config, now, config.failure_rate):
        return State.OPEN, Cause.FAILURE_RATE
    if breaker.failure_count >= config.degrade_at:
        return State.DEGRADED, Cause.FAILURES_IN_A_ROW
    if _failing_at(breaker, config, now, config.failure_rate / 2):
        return State.DEGRADED, Cause.FAILURE_RATE
    return breaker.state, Cause.FAILURES_IN_A_ROW


def _failing_at(breaker: Breaker, config: BreakerConfig, now: datetime, rate: float) -> bool:
    """Whether the window holds enough calls to speak of a rate, and its rate reaches this one."""
    calls, failures = breaker.window.totals(now, config.window)
    return calls >= max(1, config.minimum_calls) and failures / calls >= rate
