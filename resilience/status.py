"""The state as people and scripts read it: the shapes of the state API.

A read changes nothing: a breaker past its `retry_at` still reads OPEN, a forced state that has run out reads as ended.
Rows are the source; if the database does not answer, this process's copy is.
"""

import logging
from datetime import datetime, timedelta

from django.db import Error

from resilience import eventlog, policies, reading
from resilience.change import Change
from resilience.core import breaker as breakers
from resilience.core import forced
from resilience.core.cooldown import Cooldown
from resilience.core.lockout import Lockout
from resilience.core.policy import Policy
from resilience.core.state import Breaker, State
from resilience.core.window import Window
from resilience.eventlog import events_after, iso
from resilience.models import ResilienceEvent
from resilience.registry import get_registry
from resilience.shapes import (
    BreakerData,
    BreakerDetail,
    CooldownData,
    EventData,
    ForcedData,
    LockoutData,
    Snapshot,
    TransitionData,
    WindowData,
)

__all__ = [
    "BreakerData",
    "BreakerDetail",
    "CooldownData",
    "EventData",
    "LockoutData",
    "Snapshot",
    "UnknownProviderError",
    "breaker_detail",
    "events_after",
    "snapshot",
]

logger = logging.getLogger(__name__)

BY_HAND = "operator"


class UnknownProviderError(LookupError):
    """Neither configured nor known from before."""


def snapshot(now: datetime) -> Snapshot:
    """Every provider's breaker, and the cooldowns and lockouts in force."""
    found = _state()
    known = {breaker.provider: breaker for breaker in found.breakers}
    configured = policies.providers()
    return Snapshot(
        time=iso(now),
        breakers=[
            describe_breaker(known.get(provider) or Breaker(provider), policies.policy_for(provider), now)
            for provider in sorted({*configured, *known})
        ],
        cooldowns=[_describe_cooldown(one, now) for one in found.cooldowns if one.in_force(now)],
        lockouts=[_describe_lockout(one, now) for one in found.lockouts if one.in_force(now)],
    )


def breaker_detail(provider: str, now: datetime) -> BreakerDetail:
    """One breaker with its last 50 transitions, newest first. Raises UnknownProviderError."""
    breaker = next((one for one in _state().breakers if one.provider == provider), None)
    if breaker is None and provider not in policies.providers():
        raise UnknownProviderError(provider)
    data = describe_breaker(breaker or Breaker(provider), policies.policy_for(provider), now)
    return BreakerDetail(**data, transitions=[describe_transition(row) for row in eventlog.transitions_of(provider)])


def describe_breaker(breaker: Breaker, policy: Policy, now: datetime) -> BreakerData:
    """One breaker at a time, with the calls that this process has not written yet."""
    breaker, _ = forced.effective(breaker, now)
    config = policy.breaker
    window = breaker.window.merge(get_registry().unwritten.get(breaker.provider, Window.EMPTY))
    calls, failures = window.totals(now, config.window)
    hold = breaker.forced
    return BreakerData(
        provider=breaker.provider,
        state=breaker.state,
        failure_count=breaker.failure_count,
        last_failure_kind=None if breaker.last_failure_kind is None else breaker.last_failure_kind.value,
        last_failure_at=iso(breaker.last_failure_at),
        opened_at=iso(breaker.opened_at),
        retry_at=iso(breaker.retry_at),
        retry_after=_retry_after(breaker, now),
        open_cycles=breaker.open_cycles,
        effective_reset_timeout=_effective_reset_timeout(breaker, policy),
        probes_in_flight=len(breaker.live_leases(now)),
        half_open_requests=config.half_open_requests,
        failure_threshold=config.failure_threshold,
        degradation_threshold=config.degrade_at,
        kind_counts={kind.value: count for kind, count in breaker.kind_counts.items()},
        window=WindowData(calls=calls, failures=failures, rate=round(failures / calls, 3) if calls else 0.0),
        forced=None
        if hold is None
        else ForcedData(mode=hold.mode, by=hold.by, reason=hold.reason, until=iso(hold.until)),
        generation=breaker.generation,
    )


def describe_transition(row: ResilienceEvent) -> TransitionData:
    """One transition out of the event log."""
    return {
        "from": row.from_state,
        "to": row.to_state,
        "at": iso(row.at),
        "cause": row.cause,
        "failure_count": row.failure_count,
        "request_id": row.request_id,
        "actor": row.actor,
        "reason": row.reason,
    }


def _state() -> Change:
    try:
        return reading.load_all()
    except Error as error:
        logger.warning("status.from_copy", extra={"error": f"{type(error).__name__}: {error}"})
        registry = get_registry()
        return Change(
            version=registry.version,
            breakers=tuple(registry.breakers.values()),
            cooldowns=tuple(registry.cooldowns.values()),
            lockouts=tuple(registry.lockouts.values()),
        )


def _retry_after(breaker: Breaker, now: datetime) -> float | None:
    if breaker.state is not State.OPEN or breaker.retry_at is None:
        return None
    return _seconds(max(timedelta(0), breaker.retry_at - now))


def _effective_reset_timeout(breaker: Breaker, policy: Policy) -> float:
    """The wait in use while open or half open; else the one that the next opening would have, without jitter."""
    opened_at, retry_at = breaker.opened_at, breaker.retry_at
    if breaker.forced is None and opened_at is not None and retry_at is not None:
        return _seconds(retry_at - opened_at)
    return _seconds(breakers.opening_time(policy.breaker, timedelta(0), None, breaker.open_cycles, u=0.0))


def _describe_cooldown(cooldown: Cooldown, now: datetime) -> CooldownData:
    until = cooldown.until or now
    return CooldownData(
        provider=cooldown.provider,
        connection=cooldown.connection,
        kind=cooldown.kind.value if cooldown.kind else "",
        until=iso(until),
        remaining=_seconds(until - now),
        source=cooldown.source,
        level=cooldown.level,
    )


def _describe_lockout(lockout: Lockout, now: datetime) -> LockoutData:
    until = lockout.until or now
    return LockoutData(
        provider=lockout.provider,
        connection=lockout.connection,
        model=lockout.model,
        reason=lockout.reason.value if lockout.reason else BY_HAND,
        locked_at=iso(lockout.locked_at or now),
        until=iso(until),
        remaining=_seconds(until - now),
        attempts=len(lockout.failures),
    )


def _seconds(duration: timedelta) -> float:
    return round(duration.total_seconds(), 3)
