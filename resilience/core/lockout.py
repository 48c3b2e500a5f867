"""Layer 3: the lockout of a (connection, model) pair.

Failures that count are kept as times. When `max_attempts` of them fall into the attempt window the pair is locked; a
model that is not there locks it at once. The times stay when a lock runs out, so a failure at once locks again, and for
twice as long if the last lock is less than an hour past.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from .events import Events, ModelLocked, ModelUnlocked
from .kinds import Kind, LockoutEffect
from .outcome import Failure
from .policy import LockoutConfig

RELOCK_WINDOW = timedelta(hours=1)
HIGHEST_EXPONENT = 30
"""Beyond it every lock has met its cap; keeps the power within a float."""


@dataclass(frozen=True, slots=True)
class Lockout:
    """What is known of one pair."""

    provider: str
    connection: str
    model: str
    failures: tuple[datetime, ...] = ()
    reason: Kind | None = None
    locked_at: datetime | None = None
    until: datetime | None = None
    last_locked_at: datetime | None = None
    locks_in_a_row: int = 0
    message: str = ""

    def in_force(self, now: datetime) -> bool:
        """Whether the pair is to be skipped."""
        return self.until is not None and now < self.until


def fail(
    lockout: Lockout, config: LockoutConfig, failure: Failure, now: datetime, *, may_lock: bool
) -> tuple[Lockout, Events]:
    """Keep the failure's time, and lock the pair if that is due and `may_lock`."""
    effect = failure.effects.lockout
    if effect is LockoutEffect.NEVER:
        return lockout, ()
    at_once = effect is LockoutEffect.AT_ONCE or failure.model_scope
    failures = _recent(lockout.failures, config, now)
    lockout = replace(lockout, failures=(*failures, now)[-max(1, config.max_attempts) :], message=failure.message)
    due = at_once or len(lockout.failures) >= config.max_attempts
    if not (due and may_lock):
        return lockout, ()
    hint = failure.hint.duration if failure.hint else None
    stated = (failure.cooldown or hint) if at_once else None
    return _lock(lockout, config, now, stated=stated, kind=failure.kind)


def succeed(lockout: Lockout, admitted_at: datetime, now: datetime) -> tuple[Lockout, Events]:
    """Clear window and lock, if the attempt began after the last failure (and after the lock)."""
    known = lockout.failures if lockout.locked_at is None else (*lockout.failures, lockout.locked_at)
    if not known and lockout.until is None:
        return lockout, ()
    if known and admitted_at < max(known):
        return lockout, ()
    return _unlocked(lockout, now, "success")


def lock(
    lockout: Lockout,
    now: datetime,
    duration: timedelta,
    reason: Kind | None = None,
    *,
    message: str = "",
    cause: str = "operator",
) -> tuple[Lockout, Events]:
    """Lock the pair by hand, for exactly this long."""
    until = now + duration
    after = replace(lockout, reason=reason, locked_at=now, until=until, last_locked_at=now, message=message)
    return after, (_locked_event(after, until, cause),)


def unlock(lockout: Lockout, now: datetime, *, cause: str = "operator") -> tuple[Lockout, Events]:
    """End the lock by hand and forget what led to it."""
    after, events = _unlocked(lockout, now, cause)
    return replace(after, locks_in_a_row=0, last_locked_at=None), events


def _lock(
    lockout: Lockout, config: LockoutConfig, now: datetime, *, stated: timedelta | None, kind: Kind
) -> tuple[Lockout, Events]:
    """Lock for the configured time, doubled for each lock in a row, or until the stated reset if that is later."""
    in_force = lockout.in_force(now)
    locks = lockout.locks_in_a_row if in_force else _locks_so_far(lockout, now) + 1
    # A spent daily quota is often told with a hint of seconds: the hint alone would try it again all day.
    until = now + max(stated or timedelta(0), _doubled(config, locks - 1))
    if in_force and lockout.until is not None and (stated is None or until <= lockout.until):
        return lockout, ()  # a failure in flight: the lock it would set is in force
    after = replace(
        lockout,
        reason=kind,
        locked_at=lockout.locked_at if in_force else now,
        until=until,
        last_locked_at=lockout.last_locked_at if in_force else now,
        locks_in_a_row=locks,
    )
    return after, (_locked_event(after, until, kind.value),)


def _locks_so_far(lockout: Lockout, now: datetime) -> int:
    """Locks in a row up to now. The hour is counted from the end of a lock that ran its time."""
    if lockout.last_locked_at is None:
        return 0
    last = max(lockout.last_locked_at, lockout.until or lockout.last_locked_at)
    return lockout.locks_in_a_row if now - last < RELOCK_WINDOW else 0


def _doubled(config: LockoutConfig, times: int) -> timedelta:
    seconds: float = config.lockout_duration.total_seconds() * 2.0 ** min(max(0, times), HIGHEST_EXPONENT)
    longest = max(config.lockout_duration, config.max_lockout_duration)
    return timedelta(seconds=min(seconds, longest.total_seconds()))


def _recent(failures: tuple[datetime, ...], config: LockoutConfig, now: datetime) -> tuple[datetime, ...]:
    """The failures within the attempt window; those of a far future (the clock went back) are dropped too."""
    window = config.attempt_window
    return tuple(at for at in failures if -window <= now - at <= window)


def _unlocked(lockout: Lockout, now: datetime, cause: str) -> tuple[Lockout, Events]:
    events = (
        (ModelUnlocked(lockout.provider, lockout.connection, lockout.model, cause),) if lockout.in_force(now) else ()
    )
    return replace(lockout, failures=(), reason=None, locked_at=None, until=None, message=""), events


def _locked_event(lockout: Lockout, until: datetime, cause: str) -> ModelLocked:
    return ModelLocked(
        provider=lockout.provider,
        connection=lockout.connection,
        model=lockout.model,
        kind=lockout.reason,
        until=until,
        failures=len(lockout.failures),
        cause=cause,
    )
