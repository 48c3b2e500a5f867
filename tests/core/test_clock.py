"""A clock that was ahead leaves nothing behind that lasts longer than it was to last."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from resilience.core import clock
from resilience.core.cooldown import Cooldown
from resilience.core.kinds import Kind
from resilience.core.lockout import Lockout
from resilience.core.policy import Policy
from resilience.core.state import Breaker, Forced, Lease, State

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
POLICY = Policy()
HOUR = timedelta(hours=1)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


AHEAD = NOW + HOUR
OPEN = Breaker("openai", State.OPEN, opened_at=AHEAD, retry_at=AHEAD + timedelta(seconds=30))
COOLING = Cooldown("openai", "main", started_at=AHEAD, failed_at=AHEAD, until=AHEAD + timedelta(seconds=60))
LOCKED = Lockout(
    "openai", "main", "m", (AHEAD,), Kind.TRANSIENT, AHEAD, AHEAD + timedelta(seconds=120), last_locked_at=AHEAD
)


def test_what_began_in_the_future_begins_now_and_lasts_as_long() -> None:
    breaker = clock.breaker_by(NOW, OPEN, POLICY)
    cooldown = clock.cooldown_by(NOW, COOLING, POLICY)
    lockout = clock.lockout_by(NOW, LOCKED, POLICY)
    assert (breaker.opened_at, breaker.retry_at) == (NOW, at(30))
    assert (cooldown.started_at, cooldown.failed_at, cooldown.until) == (NOW, NOW, at(60))
    assert (lockout.failures, lockout.locked_at, lockout.last_locked_at, lockout.until) == ((NOW,), NOW, NOW, at(120))


def test_again_is_as_once() -> None:
    breaker, cooldown, lockout = (
        clock.breaker_by(NOW, OPEN, POLICY),
        clock.cooldown_by(NOW, COOLING, POLICY),
        clock.lockout_by(NOW, LOCKED, POLICY),
    )
    assert clock.breaker_by(at(-3), breaker, POLICY) is breaker
    assert clock.cooldown_by(at(-3), cooldown, POLICY) is cooldown
    assert clock.lockout_by(at(-3), lockout, POLICY) is lockout


@pytest.mark.parametrize("skew", [0, 1, 5])
def test_two_machines_may_differ_a_little(skew: int) -> None:
    begun = at(skew)
    opened = replace(OPEN, opened_at=begun, retry_at=begun + timedelta(seconds=30))
    assert clock.breaker_by(NOW, opened, POLICY) is opened


def test_a_cooldown_that_a_later_failure_made_longer_lasts_from_that_failure() -> None:
    longer = replace(COOLING, started_at=at(-10), until=AHEAD + timedelta(seconds=90))
    cooldown = clock.cooldown_by(NOW, longer, POLICY)
    assert (cooldown.started_at, cooldown.until) == (at(-10), at(90))


def test_leases_end_within_their_time() -> None:
    leased = Breaker("openai", State.HALF_OPEN, leases=(Lease("a", AHEAD), Lease("b", at(10))))
    limit = NOW + POLICY.breaker.probe_lease
    assert clock.breaker_by(NOW, leased, POLICY).leases == (Lease("a", limit), Lease("b", at(10)))


def test_what_an_operator_holds_is_left_alone() -> None:
    held = replace(OPEN, forced=Forced("open", "ann", "drill", AHEAD + 30 * HOUR))
    assert clock.breaker_by(NOW, held, POLICY) is held
    by_hand = replace(LOCKED, failures=(), reason=None, locked_at=NOW, last_locked_at=NOW, until=NOW + 1000 * HOUR)
    assert clock.lockout_by(NOW, by_hand, POLICY) is by_hand
