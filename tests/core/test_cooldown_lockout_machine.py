"""The invariants of RESILIENCE section 10 for one connection and pair, with a clock that also goes back."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from resilience.core import cooldown as cooldowns
from resilience.core import lockout as lockouts
from resilience.core.cooldown import Cooldown
from resilience.core.kinds import CooldownEffect, Kind, LockoutEffect
from resilience.core.lockout import Lockout
from resilience.core.outcome import Failure, Hint
from resilience.core.policy import CooldownConfig, LockoutConfig
from tests.core.short_runs import SHORT

COOLING = CooldownConfig()
LOCKING = LockoutConfig(max_attempts=3)


class PairMachine(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.now = datetime(2026, 11, 30, 12, tzinfo=UTC)
        self.cooldown = Cooldown("openai", "main")
        self.lockout = Lockout("openai", "main", "m")

    @rule(seconds=st.integers(-600, 4000))
    def pass_time(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(
        kind=st.sampled_from(Kind),
        hint=st.none() | st.integers(1, 10_000),
        times=st.integers(1, 10),
        may_lock=st.booleans(),
    )
    def fail(self, kind: Kind, hint: int | None, times: int, *, may_lock: bool) -> None:
        failure = Failure(kind, hint=Hint(timedelta(seconds=hint), "test") if hint else None)
        before, locked = self.cooldown, self.lockout
        for _ in range(times):
            self.cooldown, _events = cooldowns.start(self.cooldown, COOLING, failure, self.now)
            self.lockout, _events = lockouts.fail(self.lockout, LOCKING, failure, self.now, may_lock=may_lock)
        assert before.level <= self.cooldown.level <= before.level + 1, "failures in flight raise the level once"
        if before.until is not None:
            assert self.cooldown.until is not None
            assert self.cooldown.until >= min(before.until, self.now), "never shortened"
            assert not before.in_force(self.now) or self.cooldown.until >= before.until
        if failure.effects.cooldown is CooldownEffect.NEVER:
            assert self.cooldown is before
        if failure.effects.lockout is LockoutEffect.NEVER:
            assert self.lockout is locked
        if failure.effects.lockout is LockoutEffect.AT_ONCE and may_lock:
            assert self.lockout.in_force(self.now)
        if not may_lock:
            assert self.lockout.until == locked.until

    @rule(age=st.integers(0, 100))
    def succeed(self, age: int) -> None:
        admitted_at, before, locked = self.now - timedelta(seconds=age), self.cooldown, self.lockout
        self.cooldown, _events = cooldowns.succeed(before, admitted_at, self.now)
        self.lockout, _events = lockouts.succeed(locked, admitted_at, self.now)
        assert self.cooldown.level == max(0, before.level - 1)
        if before.failed_at is not None and admitted_at < before.failed_at:
            assert self.cooldown.until == before.until
        if locked.failures and admitted_at < max(locked.failures):
            assert self.lockout is locked

    @rule()
    def clear(self) -> None:
        self.cooldown, _events = cooldowns.clear(self.cooldown, self.now)
        assert (self.cooldown.until, self.cooldown.level) == (None, 0)

    @rule(seconds=st.integers(1, 5000))
    def lock(self, seconds: int) -> None:
        self.lockout, _events = lockouts.lock(self.lockout, self.now, timedelta(seconds=seconds))
        assert self.lockout.in_force(self.now)

    @rule()
    def unlock(self) -> None:
        self.lockout, _events = lockouts.unlock(self.lockout, self.now)
        assert self.lockout == Lockout("openai", "main", "m")

    @invariant()
    def all_end_by_time(self) -> None:
        later = self.now + timedelta(days=3)
        assert not self.cooldown.in_force(later)
        assert not self.lockout.in_force(later)
        assert len(self.lockout.failures) <= LOCKING.max_attempts


TestPairMachine = PairMachine.TestCase
TestPairMachine.settings = SHORT
