"""The lockout, sentence by sentence of RESILIENCE section 5."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from resilience.core import lockout as lockouts
from resilience.core.events import ModelLocked, ModelUnlocked
from resilience.core.kinds import Kind
from resilience.core.lockout import Lockout
from resilience.core.outcome import Failure, Hint
from resilience.core.policy import LockoutConfig

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CONFIG = LockoutConfig(max_attempts=3)
FRESH = Lockout("groq", "main", "llama")
SECOND = timedelta(seconds=1)


def failed(
    times: int = 1,
    now: datetime = NOW,
    *,
    kind: Kind = Kind.TRANSIENT,
    lockout: Lockout = FRESH,
    may_lock: bool = True,
    **more,
) -> Lockout:
    for _ in range(times):
        lockout, _ = lockouts.fail(lockout, CONFIG, Failure(kind, "boom", **more), now, may_lock=may_lock)
    return lockout


def left(lockout: Lockout, now: datetime = NOW) -> float | None:
    return (lockout.until - now).total_seconds() if lockout.until else None


def test_enough_failures_lock_the_pair() -> None:
    assert left(failed(2)) is None
    lockout, events = lockouts.fail(failed(2), CONFIG, Failure(Kind.TRANSIENT), NOW, may_lock=True)
    assert (left(lockout), lockout.reason, lockout.locked_at) == (120, Kind.TRANSIENT, NOW)
    until = NOW + timedelta(seconds=120)
    assert events == (ModelLocked("groq", "main", "llama", Kind.TRANSIENT, until, 3, "transient"),)


def test_failures_older_than_the_window_drop_out() -> None:
    later = NOW + timedelta(seconds=301)
    assert left(failed(1, later, lockout=failed(2))) is None
    assert left(failed(1, NOW + timedelta(seconds=299), lockout=failed(2)), NOW + timedelta(seconds=299)) == 120


@pytest.mark.parametrize("kind", list(Kind))
def test_which_kinds_count(kind: Kind) -> None:
    counts = {
        Kind.RATE_LIMIT,
        Kind.QUOTA_EXHAUSTED,
        Kind.OVERLOADED,
        Kind.TRANSIENT,
        Kind.TIMEOUT,
        Kind.MODEL_UNAVAILABLE,
    }
    assert bool(failed(1, kind=kind).failures) == (kind in counts)


def test_a_model_that_is_not_there_locks_at_once() -> None:
    assert left(failed(1, kind=Kind.MODEL_UNAVAILABLE)) == 120


def test_a_spent_quota_of_the_model_locks_until_the_stated_reset() -> None:
    hint = Hint(timedelta(hours=5), "quotaResetDelay")
    assert left(failed(1, kind=Kind.QUOTA_EXHAUSTED, model_scope=True, hint=hint)) == 5 * 3600
    short = Hint(timedelta(seconds=39), "RetryInfo")
    assert left(failed(1, kind=Kind.QUOTA_EXHAUSTED, model_scope=True, hint=short)) == 120, (
        "a day's quota is not back in 39 s"
    )


def test_a_failure_that_may_not_lock_keeps_its_time() -> None:
    lockout = failed(3, may_lock=False)
    assert (len(lockout.failures), lockout.until) == (3, None)


def test_after_a_lock_a_failure_at_once_locks_again_for_twice_as_long() -> None:
    waits, lockout, now = [], FRESH, NOW
    for _ in range(6):
        lockout = failed(3, now, lockout=lockout)
        waits.append(left(lockout, now))
        now = lockout.until or now
    assert waits == [120, 240, 480, 960, 1800, 1800]


def test_the_count_stays_in_its_window_when_a_lock_ends_by_time() -> None:
    lockout = failed(3)
    now = lockout.until
    assert now is not None
    assert left(failed(1, now, lockout=lockout), now) == 240


def test_an_hour_after_the_last_lock_the_time_starts_small_again() -> None:
    lockout = failed(3)
    assert lockout.until is not None
    now = lockout.until + timedelta(hours=1)
    assert left(failed(3, now, lockout=lockout), now) == 120


def test_failures_in_flight_neither_extend_nor_double_a_lock() -> None:
    lockout = failed(3)
    later = failed(5, NOW + SECOND, lockout=lockout)
    assert (later.until, later.locks_in_a_row) == (lockout.until, 1)


def test_a_success_that_began_after_the_last_failure_clears_window_and_lock() -> None:
    lockout = failed(3)
    assert lockouts.succeed(lockout, NOW - SECOND, NOW + SECOND) == (lockout, ())
    after, events = lockouts.succeed(lockout, NOW + SECOND, NOW + 2 * SECOND)
    assert (after.failures, after.until) == ((), None)
    assert events == (ModelUnlocked("groq", "main", "llama", "success"),)
    assert lockouts.succeed(FRESH, NOW, NOW) == (FRESH, ())


def test_a_success_in_flight_does_not_lift_an_operators_lock() -> None:
    lockout, (event,) = lockouts.lock(FRESH, NOW, timedelta(hours=1), None, message="maintenance")
    assert (event.cause, event.kind, left(lockout)) == ("operator", None, 3600)
    assert lockouts.succeed(lockout, NOW - SECOND, NOW + SECOND)[0] is lockout


def test_an_operator_unlocks_and_all_is_forgotten() -> None:
    lockout, events = lockouts.unlock(failed(3), NOW)
    assert lockout == FRESH
    assert events == (ModelUnlocked("groq", "main", "llama", "operator"),)


def test_the_list_of_failures_is_bounded() -> None:
    assert len(failed(500, may_lock=False).failures) == CONFIG.max_attempts


def test_a_clock_that_goes_back_neither_locks_nor_raises() -> None:
    lockout = failed(2, NOW + timedelta(days=400))
    assert left(failed(1, lockout=lockout)) is None
    assert lockouts.succeed(replace(lockout, locked_at=NOW + timedelta(days=400)), NOW, NOW)[1] == ()
