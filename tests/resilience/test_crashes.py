"""Processes that are killed at any step of a write: the rows say what the core makes of the writes that were committed."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from resilience import backlog, committing, store
from resilience.core import breaker as breakers
from resilience.core import settlement
from resilience.core.cooldown import Cooldown
from resilience.core.lockout import Lockout
from resilience.core.permit import NEEDS_LEASE, Pair, Permit
from resilience.core.policy import BreakerConfig, Policy
from resilience.core.settlement import Layers
from resilience.core.state import Breaker
from resilience.models import BreakerState, ModelLockout
from resilience.models import Cooldown as CooldownRow
from resilience.reading import read_breaker, read_cooldown, read_lockout
from resilience.registry import Registry
from resilience.sync import Sync

from .examples import NOW
from .test_store_against_core import OUTCOMES, PAIRS

POLICY = Policy(breaker=BreakerConfig(failure_threshold=3, half_open_requests=2, minimum_calls=6, jitter=0.0))
STEPS = {  # of a write: what is called there, and whether the process dies before or after it
    "before the lock": ("_next_version", False),
    "locked": ("_next_version", True),
    "applied": ("_save", False),
    "between two tables": ("_upsert", True),
    "saved": ("_save", True),
    "logged": ("_log", True),
    "committed": ("_publish", False),
}
NAMES = st.sampled_from(["a", "b"])


class KilledError(BaseException):
    """Nothing catches it, as nothing catches SIGKILL."""


class Truth:
    """The core's values after every write that was committed, in the order of the commits."""

    def __init__(self) -> None:
        self.breaker = Breaker("openai")
        self.cooldowns: dict[str, Cooldown] = {}
        self.lockouts: dict[Pair, Lockout] = {}
        self.commits = 0

    def settle(self, permit, policy, outcome, now, u, *, sibling_usable, unwritten, request_id) -> None:
        pair = Pair(permit.provider, permit.connection, permit.model)
        cooldown = self.cooldowns.get(pair.connection, Cooldown("openai", pair.connection))
        layers = Layers(self.breaker, cooldown, self.lockouts.get(pair, Lockout(*pair)))
        layers = store.with_unwritten(layers, unwritten)
        layers, _ = settlement.settle(layers, policy, permit, outcome, now, u, sibling_usable=sibling_usable)
        self.breaker, self.cooldowns[pair.connection], self.lockouts[pair] = (
            layers.breaker,
            layers.cooldown,
            layers.lockout,
        )

    def claim(self, provider, policy, now, lease_id) -> None:
        if not self.breaker.holds(lease_id, now):
            self.breaker = breakers.claim(self.breaker, policy.breaker, now, lease_id)[0]

    def flush_window(self, provider, window, now) -> None:
        self.breaker = replace(self.breaker, window=self.breaker.window.merge(window))


class Crashes(RuleBasedStateMachine):
    """Two processes on one database. Each may die at any step, and starts again with nothing but the rows."""

    def __init__(self) -> None:
        super().__init__()
        for table in (BreakerState, CooldownRow, ModelLockout):
            table.objects.all().delete()
        self.now, self.truth, self.patch = NOW, Truth(), pytest.MonkeyPatch()
        for name in ("settle", "claim", "flush_window"):
            self.patch.setattr(store, name, self._noting(getattr(store, name), getattr(self.truth, name)))
        self.patch.setattr(backlog, "PATIENCE", 5.0)
        self.runner = asyncio.Runner()
        self.processes: dict[str, tuple[Registry, Sync]] = {}
        self.probes: dict[str, list[Permit]] = {}
        for name in ("a", "b"):
            self._start(name)

    def teardown(self) -> None:
        for registry, _ in self.processes.values():
            self.runner.run(registry.thread.stop())
        self.runner.close()
        self.patch.undo()

    def _noting(self, write: Callable[..., Any], apply: Callable[..., None]) -> Callable[..., Any]:
        """The store's function, which also tells the truth of it once it is committed."""

        def noting(*args: Any, **details: Any) -> Any:
            publish = committing._publish  # what is done after the commit, or what kills there

            def published(*of: Any, **it: Any) -> None:
                apply(*args, **details)
                publish(*of, **it)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(committing, "_publish", published)
                return write(*args, **details)

        return noting

    def _start(self, name: str) -> None:
        registry = Registry(chance=lambda: 0.0)
        self.processes[name] = registry, Sync(registry, lambda: self.now)
        self.probes[name] = []
        self.runner.run(self.processes[name][1].round())

    @rule(seconds=st.sampled_from([0.5, 1, 20, 45, 130, -3]))
    def time_passes(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(name=NAMES)
    def poll(self, name: str) -> None:
        self.runner.run(self.processes[name][1].round())

    @rule(name=NAMES, pair=PAIRS, outcome=OUTCOMES)
    def attempt(self, name: str, pair: tuple[str, str], outcome: Any) -> None:
        registry = self.processes[name][0]
        permit = self.runner.run(self._admitted(registry, Pair("openai", *pair)))
        if permit is not None:
            self.runner.run(self._settle(registry, permit, outcome))
            assert not len(registry.backlog), "it was answered before it was written"

    @rule(name=NAMES, pair=PAIRS)
    def begin_a_probe(self, name: str, pair: tuple[str, str]) -> None:
        permit = self.runner.run(self._admitted(self.processes[name][0], Pair("openai", *pair)))
        if permit is not None:
            self.probes[name].append(permit)

    @rule(name=NAMES, outcome=OUTCOMES)
    def end_a_probe(self, name: str, outcome: Any) -> None:
        if self.probes[name]:
            self.runner.run(self._settle(self.processes[name][0], self.probes[name].pop(0), outcome))

    @rule(name=NAMES, pair=PAIRS, outcome=OUTCOMES, step=st.sampled_from(sorted(STEPS)))
    def die_in_a_write(self, name: str, pair: tuple[str, str], outcome: Any, step: str) -> None:
        registry = self.processes[name][0]
        with pytest.MonkeyPatch.context() as patch:
            _kill_at(patch, *STEPS[step])
            self.runner.run(self._dying(registry, Pair("openai", *pair), outcome))
        self.runner.run(registry.thread.stop())
        self._start(name)

    async def _admitted(self, registry: Registry, pair: Pair) -> Permit | None:
        answer = registry.check(pair, POLICY, self.now)
        if answer is None:
            return registry.permit(pair, self.now)
        claimed = await registry.claim(pair, POLICY, self.now) if answer is NEEDS_LEASE else answer
        return claimed if isinstance(claimed, Permit) else None

    async def _settle(self, registry: Registry, permit: Permit, outcome: Any) -> None:
        await registry.settle(permit, POLICY, outcome, now=self.now, sibling_usable=False, request_id="r")

    async def _dying(self, registry: Registry, pair: Pair, outcome: Any) -> None:
        """Get as far as the write that kills; what runs in the process then ends with it."""
        life = asyncio.ensure_future(self._attempt(registry, pair, outcome))
        while not life.done() and not _killed(registry):  # noqa: ASYNC110 (no event for it)
            await asyncio.sleep(0)
        life.cancel()
        await asyncio.wait({life})

    async def _attempt(self, registry: Registry, pair: Pair, outcome: Any) -> None:
        permit = await self._admitted(registry, pair)
        if permit is not None:
            await self._settle(registry, permit, outcome)

    @invariant()
    def rows_are_what_was_committed(self) -> None:
        assert read_breaker("openai") == self.truth.breaker
        for slug, cooldown in self.truth.cooldowns.items():
            assert read_cooldown("openai", slug) == cooldown
        for pair, lockout in self.truth.lockouts.items():
            assert read_lockout(*pair) == lockout

    @invariant()
    def leases_are_bounded(self) -> None:
        assert len(read_breaker("openai").live_leases(self.now)) <= POLICY.breaker.half_open_requests


def _kill_at(patch: pytest.MonkeyPatch, name: str, after: bool) -> None:
    step = getattr(committing, name)

    def dies(*args: Any, **details: Any) -> Any:
        if after:
            step(*args, **details)
        raise KilledError

    patch.setattr(committing, name, dies)


def _killed(registry: Registry) -> bool:
    """Whether the writer met the step at which the process was to die."""
    writer = registry.backlog._writer
    return writer is not None and writer.done() and isinstance(writer.exception(), KilledError)


@pytest.mark.django_db(transaction=True)
def test_a_process_killed_at_any_step_leaves_a_whole_write_or_none():
    run_state_machine_as_test(
        Crashes,
        settings=settings(
            max_examples=10, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
    connection.close()
