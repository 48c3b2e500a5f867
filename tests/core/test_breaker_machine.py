"""The invariants of RESILIENCE section 10 for the breaker, under any order of events and a clock that also goes back."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from resilience.core import breaker as breakers
from resilience.core.breaker import NEEDS_LEASE, TRANSITIONS, Breaker, Cause, Permit, State
from resilience.core.events import BreakerMoved, Events
from resilience.core.kinds import BreakerEffect, Kind
from resilience.core.outcome import Failure, Hint
from resilience.core.policy import BreakerConfig
from tests.core.short_runs import SHORT

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
FLOOR = timedelta(seconds=7)
COUNTED = [
    kind for kind in Kind if Failure(kind).effects.breaker in {BreakerEffect.COUNTS, BreakerEffect.COUNTS_IF_ALONE}
]
UNCOUNTED = [kind for kind in Kind if kind not in COUNTED]


class BreakerMachine(RuleBasedStateMachine):
    @initialize(
        threshold=st.integers(1, 4),
        half_open_requests=st.integers(1, 3),
        minimum_calls=st.integers(1, 8),
        multiplier=st.sampled_from([1.0, 2.0, 3.0]),
    )
    def begin(self, threshold: int, half_open_requests: int, minimum_calls: int, multiplier: float) -> None:
        self.config = BreakerConfig(
            failure_threshold=threshold,
            half_open_requests=half_open_requests,
            minimum_calls=minimum_calls,
            backoff_multiplier=multiplier,
            probe_lease=timedelta(seconds=20),
        )
        self.breaker = Breaker("openai")
        self.now = START
        self.permits: list[Permit] = []
        self.leases = 0
        self.wait = timedelta(0)

    @rule(seconds=st.integers(-60, 200))
    def pass_time(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def admit(self) -> None:
        before = self.breaker
        answer = breakers.check(before, self.config, self.now)
        assert self.breaker is before, "a read changes nothing"
        lease_id = None
        if answer is NEEDS_LEASE:
            assert before.state in {State.OPEN, State.HALF_OPEN}
            self.leases += 1
            lease_id = f"lease-{self.leases}"
            after, refusal, events = breakers.claim(before, self.config, self.now, lease_id)
            assert refusal is None
            self.apply(after, events)
            assert after.holds(lease_id, self.now)
        elif answer is not None:
            assert breakers.claim(before, self.config, self.now, "refused")[1] == answer
            return
        if before.state is State.OPEN and not before.forced:
            assert before.retry_at is not None
            assert self.now >= before.retry_at, "OPEN admits nobody before retry_at"
        generation = breakers.generation_at(self.breaker, self.now)
        permit = Permit("openai", "main", "m", generation, lease_id, self.now, str(len(self.permits)))
        self.permits.append(permit)

    @precondition(lambda self: self.permits)
    @rule(data=st.data())
    def settle_with_success(self, data: st.DataObject) -> None:
        permit = self.taken(data)
        ignored = self.is_ignored(permit)
        after, events = breakers.succeed(
            self.breaker, self.config, self.now, generation=permit.generation, lease_id=permit.lease_id
        )
        self.settled(after, events, ignored=ignored)

    @precondition(lambda self: self.permits)
    @rule(data=st.data(), kind=st.sampled_from(COUNTED), u=st.floats(0, 0.999), hint=st.none() | st.integers(1, 3000))
    def settle_with_counted_failure(self, data: st.DataObject, kind: Kind, u: float, hint: int | None) -> None:
        permit, before = self.taken(data), self.breaker
        failure = Failure(kind, hint=Hint(timedelta(seconds=hint), "test") if hint else None)
        ignored = self.is_ignored(permit)
        after, events = self.fail(permit, failure, u, counts=True)
        self.settled(after, events, ignored=ignored)
        opened = after.state is State.OPEN and before.state is not State.OPEN
        if opened and not ignored:
            self.check_wait(before, after, failure)

    @precondition(lambda self: self.permits)
    @rule(data=st.data(), kind=st.sampled_from(UNCOUNTED))
    def settle_without_counting(self, data: st.DataObject, kind: Kind) -> None:
        permit, before = self.taken(data), self.breaker
        ended = before.force_ended(self.now)
        after, events = self.fail(permit, Failure(kind), 0.5, counts=False)
        if not ended:
            assert (after.state, after.failure_count, after.generation) == (
                before.state,
                before.failure_count,
                before.generation,
            )
            assert events == ()
        if kind in {Kind.CANCELLED, Kind.LOCAL}:
            assert replace(after, leases=()) == replace(before, leases=()), "a release changes no count"
        self.apply(after, events)

    @rule(mode=st.sampled_from(["open", "closed"]), seconds=st.none() | st.integers(1, 100))
    def force(self, mode: breakers.Forced, seconds: int | None) -> None:
        until = self.now + timedelta(seconds=seconds) if seconds else None
        after, events = breakers.force(self.breaker, mode, self.now, by="ann", reason="drill", until=until)
        self.apply(after, events)

    @rule()
    def unforce(self) -> None:
        self.apply(*breakers.unforce(self.breaker, self.now))
        assert self.breaker.forced is None

    @rule()
    def probe_now(self) -> None:
        before = self.breaker
        self.apply(*breakers.probe_now(before, self.now))
        assert replace(self.breaker, retry_at=None) == replace(before, retry_at=None), "only the wait ends"

    @rule()
    def reset(self) -> None:
        self.apply(*breakers.reset(self.breaker, self.now))
        assert replace(self.breaker, generation=0) == Breaker("openai")

    @invariant()
    def never_more_live_leases_than_allowed(self) -> None:
        live = self.breaker.live_leases(self.now)
        assert len(self.breaker.leases) <= self.config.half_open_requests
        assert not live or self.breaker.state is State.HALF_OPEN

    @invariant()
    def counts_fit_the_state(self) -> None:
        breaker = self.breaker
        if breaker.state is State.CLOSED and not breaker.forced:
            assert breaker.failure_count < self.config.failure_threshold
        if breaker.state is State.OPEN and not breaker.forced:
            assert breaker.retry_at is not None

    @invariant()
    def there_is_a_way_back_to_closed(self) -> None:
        """Wait long enough, let the probes succeed: the breaker closes, from wherever it is."""
        if self.breaker.forced and self.breaker.forced.until is None:
            return
        breaker, later = self.breaker, self.now + timedelta(days=2)
        for number in range(4):
            answer = breakers.check(breaker, self.config, later)
            lease_id = None
            if answer is NEEDS_LEASE:
                lease_id = f"way-back-{number}"
                breaker, refusal, _ = breakers.claim(breaker, self.config, later, lease_id)
                assert refusal is None
            generation = breakers.generation_at(breaker, later)
            breaker, _ = breakers.succeed(breaker, self.config, later, generation=generation, lease_id=lease_id)
        assert breaker.state is State.CLOSED

    def fail(self, permit: Permit, failure: Failure, u: float, *, counts: bool) -> tuple[Breaker, Events]:
        return breakers.fail(
            self.breaker, self.config, failure, self.now, u,
            generation=permit.generation, lease_id=permit.lease_id, counts=counts, cooldown_floor=FLOOR,
        )  # fmt: skip

    def taken(self, data: st.DataObject) -> Permit:
        """A permit settles once: it is taken off the list."""
        return self.permits.pop(data.draw(st.integers(0, len(self.permits) - 1)))

    def is_ignored(self, permit: Permit) -> bool:
        return breakers.is_stale(self.breaker, self.now, generation=permit.generation, lease_id=permit.lease_id)

    def settled(self, after: Breaker, events: Events, *, ignored: bool) -> None:
        before, ended = self.breaker, self.breaker.force_ended(self.now)
        if not ended and ignored:
            assert replace(after, leases=()) == replace(before, leases=()), "an older generation changes nothing"
        if not ended and before.forced:
            assert replace(after, window=before.window) == before, "a forced state ignores outcomes"
        self.apply(after, events)

    def apply(self, after: Breaker, events: Events) -> None:
        assert after.generation == self.breaker.generation + len(events), "every transition adds one, nothing else does"
        for event in events:
            if isinstance(event, BreakerMoved) and event.cause != Cause.RESET:
                assert Cause(event.cause) in TRANSITIONS[State(event.from_state), State(event.to_state)]
        self.breaker = after

    def check_wait(self, before: Breaker, after: Breaker, failure: Failure) -> None:
        assert after.retry_at is not None
        hint = failure.hint.duration if failure.hint else timedelta(0)
        wait = after.retry_at - self.now
        least = max(self.config.reset_timeout, FLOOR, hint)
        most = max(self.config.reset_timeout * self.config.max_backoff_multiplier, FLOOR, hint)
        assert least <= wait <= most * (1 + self.config.jitter) + timedelta(microseconds=1)
        assert after.open_cycles == (before.open_cycles + 1 if before.state is State.HALF_OPEN else 0)


TestBreakerMachine = BreakerMachine.TestCase
TestBreakerMachine.settings = SHORT
