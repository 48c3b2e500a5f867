"""Whatever happens in whatever order, the rows say what the core says."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from resilience import store
from resilience.core import breaker as breakers
from resilience.core import cooldown as cooldowns
from resilience.core import forced, settlement
from resilience.core import lockout as lockouts
from resilience.core.cooldown import Cooldown
from resilience.core.kinds import Kind
from resilience.core.lockout import Lockout
from resilience.core.outcome import SUCCESS, Failure, Hint
from resilience.core.permit import Pair, Permit
from resilience.core.policy import BreakerConfig, Policy
from resilience.core.settlement import Layers
from resilience.core.state import Breaker
from resilience.core.window import Window
from resilience.reading import read_breaker, read_cooldown, read_lockout

from .examples import NOW

POLICY = Policy(breaker=BreakerConfig(failure_threshold=3, half_open_requests=2, minimum_calls=6))
OUTCOMES = st.one_of(
    st.just(SUCCESS),
    st.builds(
        Failure,
        kind=st.sampled_from(Kind),
        message=st.sampled_from(["", "upstream said no"]),
        status=st.sampled_from([None, 429, 503]),
        hint=st.sampled_from([None, Hint(timedelta(seconds=12), "retry-after header")]),
        model_scope=st.booleans(),
    ),
)
PAIRS = st.sampled_from([("main", "large"), ("main", "small"), ("spare", "large")])
UNIT = st.floats(0, 0.999)
_providers = count(1)


class RowsAgainstValues(RuleBasedStateMachine):
    """Each rule does the same to a dictionary of values and to the store."""

    def __init__(self):
        super().__init__()
        self.provider = f"provider-{next(_providers)}"  # rows of earlier runs are still there
        self.now: datetime = NOW
        self.breaker = Breaker(self.provider)
        self.cooldowns: dict[str, Cooldown] = {}
        self.lockouts: dict[tuple[str, str], Lockout] = {}
        self.leases: list[tuple[int, str]] = []

    @rule(seconds=st.sampled_from([0.001, 1, 20, 45, 130, 4000, -5]))
    def time_passes(self, seconds):
        self.now += timedelta(seconds=seconds)

    @rule(pair=PAIRS, outcome=OUTCOMES, u=UNIT, old=st.booleans(), sibling=st.booleans(), calls=st.integers(0, 3))
    def settle(self, pair, outcome, u, old, sibling, calls):
        generation = forced.generation_at(self.breaker, self.now) - int(old)
        unwritten = Window.EMPTY.add(self.now, POLICY.breaker.window, calls=calls) if calls else Window.EMPTY
        self._settle(pair, outcome, u, sibling, unwritten, generation=generation, lease_id=None)

    @rule(pair=PAIRS, outcome=OUTCOMES, u=UNIT)
    def settle_a_probe(self, pair, outcome, u):
        if self.leases:
            generation, lease_id = self.leases.pop(0)
            self._settle(pair, outcome, u, False, Window.EMPTY, generation=generation, lease_id=lease_id)

    def _settle(self, pair, outcome, u, sibling, unwritten, *, generation, lease_id):
        permit = Permit(self.provider, *pair, generation, lease_id, self.now, "any")
        cooldown = self.cooldowns.get(pair[0], Cooldown(self.provider, pair[0]))
        lockout = self.lockouts.get(pair, Lockout(self.provider, *pair))
        breaker = replace(self.breaker, window=self.breaker.window.merge(unwritten))
        layers, events = settlement.settle(
            Layers(breaker, cooldown, lockout), POLICY, permit, outcome, self.now, u, sibling_usable=sibling
        )
        change = store.settle(permit, POLICY, outcome, self.now, u, sibling_usable=sibling, unwritten=unwritten)
        assert change.events == events
        self.breaker, self.cooldowns[pair[0]], self.lockouts[pair] = layers.breaker, layers.cooldown, layers.lockout

    @rule(name=st.uuids())
    def claim(self, name):
        self.breaker, refusal, events = breakers.claim(self.breaker, POLICY.breaker, self.now, name.hex)
        change, answer = store.claim(self.provider, POLICY, self.now, name.hex)
        assert (answer, change.events) == (refusal, events)
        if refusal is None and self.breaker.holds(name.hex, self.now):
            self.leases.append((self.breaker.generation, name.hex))

    @rule(mode=st.sampled_from(["open", "closed"]), seconds=st.sampled_from([None, 30]))
    def force(self, mode, seconds):
        until = None if seconds is None else self.now + timedelta(seconds=seconds)
        self.breaker, _ = forced.force(self.breaker, mode, self.now, by="ann", reason="drill", until=until)
        store.force(self.provider, mode, actor="ann", reason="drill", until=until, now=self.now)

    @rule()
    def unforce(self):
        self.breaker, _ = forced.unforce(self.breaker, self.now, cause="operator")
        store.unforce(self.provider, actor="ann", reason="over", now=self.now)

    @rule()
    def probe_now(self):
        self.breaker, _ = forced.probe_now(self.breaker, self.now)
        store.probe_now(self.provider, actor="ann", reason="they say it is fixed", now=self.now)

    @rule()
    def reset(self):
        self.breaker, _ = forced.reset(self.breaker, self.now)
        store.reset(self.provider, actor="ann", reason="clean slate", now=self.now)

    @rule(pair=PAIRS)
    def clear(self, pair):
        if pair[0] in self.cooldowns:
            self.cooldowns[pair[0]], _ = cooldowns.clear(self.cooldowns[pair[0]], self.now)
        store.clear_cooldown(self.provider, pair[0], actor="ann", reason="new key", now=self.now)

    @rule(pair=PAIRS, locks=st.booleans())
    def lock_or_unlock(self, pair, locks):
        before = self.lockouts.get(pair, Lockout(self.provider, *pair))
        duration, key = timedelta(seconds=50), Pair(self.provider, *pair)
        if locks:
            self.lockouts[pair], _ = lockouts.lock(before, self.now, duration, message="wrong answers")
            store.lock(key, duration, actor="ann", reason="wrong answers", now=self.now)
        else:
            self.lockouts[pair], _ = lockouts.unlock(before, self.now)
            store.unlock(key, actor="ann", reason="fixed", now=self.now)

    @invariant()
    def rows_equal_values(self):
        assert read_breaker(self.provider) == self.breaker
        for connection, cooldown in self.cooldowns.items():
            assert read_cooldown(self.provider, connection) == cooldown
        for pair, lockout in self.lockouts.items():
            assert read_lockout(self.provider, *pair) == lockout

    @invariant()
    def an_open_breaker_has_a_way_back_and_leases_are_bounded(self):
        breaker = read_breaker(self.provider)
        assert breaker.retry_at is not None or breaker.state != "OPEN" or breaker.forced is not None
        assert len(breaker.live_leases(self.now)) <= POLICY.breaker.half_open_requests


@pytest.mark.django_db
def test_rows_follow_the_core():
    run_state_machine_as_test(
        RowsAgainstValues,
        settings=settings(
            max_examples=15, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
