"""Whose fault is it: RESILIENCE section 6, and what a settlement may leave unwritten."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilience.core import breaker as breakers
from resilience.core.breaker import Breaker, Permit, State
from resilience.core.cooldown import Cooldown
from resilience.core.kinds import Kind
from resilience.core.lockout import Lockout
from resilience.core.outcome import SUCCESS, Failure, Hint, Outcome
from resilience.core.policy import BreakerConfig, LockoutConfig, Policy
from resilience.core.settlement import Layers, changes_nothing, grows_window, settle
from resilience.core.window import Window
from tests.core.short_runs import SHORT

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
POLICY = Policy(breaker=BreakerConfig(jitter=0))
FRESH = Layers(Breaker("openai"), Cooldown("openai", "main"), Lockout("openai", "main", "gpt-4o"))


def permit(layers: Layers, *, generation: int | None = None, lease_id: str | None = None, at: datetime = NOW) -> Permit:
    generation = layers.breaker.generation if generation is None else generation
    return Permit("openai", "main", "gpt-4o", generation, lease_id, at, "1")


def settled(
    layers: Layers,
    outcome: Outcome,
    *,
    policy: Policy = POLICY,
    sibling_usable: bool = False,
    now: datetime = NOW,
    **more,
) -> Layers:
    return settle(layers, policy, permit(layers, **more), outcome, now, 0.0, sibling_usable=sibling_usable)[0]


def after(times: int, kind: Kind = Kind.TRANSIENT, *, policy: Policy = POLICY, sibling_usable: bool = False) -> Layers:
    layers = FRESH
    for _ in range(times):
        layers = settled(layers, Failure(kind), policy=policy, sibling_usable=sibling_usable)
    return layers


@pytest.mark.parametrize(("sibling_usable", "expected"), [(True, 0), (False, 1)])
@pytest.mark.parametrize("kind", [Kind.RATE_LIMIT, Kind.QUOTA_EXHAUSTED])
def test_a_rate_limit_counts_only_if_no_sibling_is_usable(kind: Kind, expected: int, *, sibling_usable: bool) -> None:
    layers = after(1, kind, sibling_usable=sibling_usable)
    assert layers.breaker.failure_count == expected
    assert layers.cooldown.in_force(NOW)


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in {Kind.CANCELLED, Kind.LOCAL}])
def test_every_kind_that_reached_the_provider_is_told(kind: Kind) -> None:
    layers = after(1, kind, sibling_usable=True)
    assert layers.breaker.last_failure_kind is kind
    assert layers.breaker.kind_counts == {kind: 1}


@pytest.mark.parametrize(
    "kind", [Kind.AUTH, Kind.MODEL_UNAVAILABLE, Kind.CONTEXT_LENGTH, Kind.CONTENT_FILTER, Kind.INVALID_REQUEST]
)
def test_what_is_not_the_providers_fault_does_not_count(kind: Kind) -> None:
    breaker = after(10, kind).breaker
    assert (breaker.state, breaker.failure_count, breaker.window.buckets) == (State.CLOSED, 0, ())


def test_a_failure_that_opens_the_breaker_locks_no_model() -> None:
    layers = after(5)
    assert layers.breaker.state is State.OPEN
    assert (len(layers.lockout.failures), layers.lockout.until) == (5, None)


def test_a_pair_is_locked_while_its_provider_lives() -> None:
    policy = Policy(breaker=BreakerConfig(failure_threshold=100), lockout=LockoutConfig(max_attempts=3))
    assert after(3, policy=policy).lockout.in_force(NOW)


def test_fifty_calls_in_flight_when_a_provider_dies_lock_no_model() -> None:
    policy = Policy(breaker=BreakerConfig(jitter=0), lockout=LockoutConfig(max_attempts=3))
    layers = FRESH
    for _ in range(50):
        outcome = Failure(Kind.TRANSIENT)
        layers, _ = settle(layers, policy, permit(FRESH), outcome, NOW, 0.0, sibling_usable=False)
    assert (layers.breaker.state, layers.breaker.failure_count) == (State.DEGRADED, 3)
    assert len(layers.lockout.failures) == 3


def test_a_spent_quota_of_the_model_locks_the_pair_instead_of_cooling() -> None:
    layers = settled(FRESH, Failure(Kind.QUOTA_EXHAUSTED, model_scope=True), sibling_usable=True)
    assert layers.lockout.in_force(NOW)
    assert not layers.cooldown.in_force(NOW)


def test_an_older_generation_changes_nothing_anywhere() -> None:
    layers = after(5)
    for outcome in (SUCCESS, Failure(Kind.RATE_LIMIT), Failure(Kind.MODEL_UNAVAILABLE)):
        assert settled(layers, outcome, generation=0) is layers


def test_a_late_probe_changes_nothing_anywhere() -> None:
    layers = after(5)
    now = NOW + timedelta(seconds=31)
    breaker, _, _ = breakers.claim(layers.breaker, POLICY.breaker, now, "probe")
    layers = replace(layers, breaker=breaker)
    late = now + POLICY.breaker.probe_lease
    result = settled(layers, Failure(Kind.RATE_LIMIT), lease_id="probe", now=late)
    assert replace(result, breaker=breaker) == layers
    assert result.breaker == replace(breaker, leases=())


@pytest.mark.parametrize("kind", [Kind.CANCELLED, Kind.LOCAL])
def test_what_we_did_ourselves_only_gives_back_the_lease(kind: Kind) -> None:
    assert settled(after(2), Failure(kind)) == after(2)
    layers = after(5)
    breaker, _, _ = breakers.claim(layers.breaker, POLICY.breaker, NOW + 31 * SECOND, "probe")
    layers = replace(layers, breaker=breaker)
    result = settled(layers, Failure(kind), lease_id="probe", now=NOW + 32 * SECOND)
    assert result == replace(layers, breaker=replace(breaker, leases=()))


def test_the_providers_cooldown_and_hint_hold_its_breaker_open() -> None:
    layers = after(5, Kind.RATE_LIMIT)
    assert layers.breaker.retry_at == NOW + timedelta(seconds=60)
    hint = Hint(timedelta(seconds=500), "retry-after header")
    layers = settled(after(4, Kind.RATE_LIMIT), Failure(Kind.RATE_LIMIT, hint=hint))
    assert layers.breaker.retry_at == NOW + timedelta(seconds=500)


def test_a_success_on_clean_layers_changes_nothing() -> None:
    assert changes_nothing(FRESH, POLICY, permit(FRESH), SUCCESS, NOW)
    assert grows_window(FRESH.breaker, permit(FRESH), SUCCESS)


@pytest.mark.parametrize(
    "layers",
    [
        after(1),
        after(3),
        after(1, Kind.RATE_LIMIT, sibling_usable=True),
        after(1, Kind.TIMEOUT),
        settled(FRESH, Failure(Kind.MODEL_UNAVAILABLE)),
    ],
)
def test_a_success_on_anything_else_is_written(layers: Layers) -> None:
    assert not changes_nothing(layers, POLICY, permit(layers), SUCCESS, NOW)


def test_a_degraded_breaker_with_a_high_rate_only_grows_its_window() -> None:
    policy = Policy(breaker=BreakerConfig(jitter=0, minimum_calls=4, failure_rate=0.9))
    layers = replace(settled(after(3, policy=policy), SUCCESS, policy=policy), lockout=FRESH.lockout)
    assert layers.breaker.state is State.DEGRADED
    assert changes_nothing(layers, policy, permit(layers), SUCCESS, NOW)
    unwritten = Window.EMPTY.add(NOW, policy.breaker.window, 10)
    assert not changes_nothing(layers, policy, permit(layers), SUCCESS, NOW, unwritten)


def test_a_cancelled_attempt_is_written_only_for_its_lease() -> None:
    assert changes_nothing(FRESH, POLICY, permit(FRESH), Failure(Kind.CANCELLED), NOW)
    assert not grows_window(FRESH.breaker, permit(FRESH), Failure(Kind.CANCELLED))
    assert not changes_nothing(FRESH, POLICY, permit(FRESH, lease_id="x"), Failure(Kind.CANCELLED), NOW)


def test_a_hold_that_has_run_out_is_written() -> None:
    held, _ = breakers.force(FRESH.breaker, "closed", NOW, by="ann", reason="drill", until=NOW + SECOND)
    layers = replace(FRESH, breaker=held)
    assert changes_nothing(layers, POLICY, permit(layers), SUCCESS, NOW)
    assert not changes_nothing(layers, POLICY, permit(layers), SUCCESS, NOW + SECOND)


@SHORT
@given(
    history=st.lists(
        st.tuples(
            st.sampled_from([None, *Kind]), st.integers(-300, 300), st.booleans(), st.integers(0, 2), st.booleans()
        ),
        max_size=20,
    )
)
def test_what_changes_nothing_changes_only_the_window(history: list[tuple[Kind | None, int, bool, int, bool]]) -> None:
    """Whatever happened before, with a clock that also goes back: the shortcut and the settlement agree."""
    layers, now = FRESH, NOW
    policy = Policy(breaker=BreakerConfig(minimum_calls=3), lockout=LockoutConfig(max_attempts=2))
    for kind, seconds, sibling_usable, age, hinted in history:
        now += timedelta(seconds=seconds)
        hint = Hint(timedelta(seconds=90), "test") if hinted else None
        outcome: Outcome = SUCCESS if kind is None else Failure(kind, hint=hint, model_scope=hinted)
        right = permit(layers, generation=max(0, layers.breaker.generation - age // 2), at=now - timedelta(seconds=age))
        quiet = changes_nothing(layers, policy, right, outcome, now)
        result, events = settle(layers, policy, right, outcome, now, 0.5, sibling_usable=sibling_usable)
        if quiet:
            assert events == ()
            assert replace(result, breaker=replace(result.breaker, window=layers.breaker.window)) == layers
        assert (
            result.cooldown.until is None
            or result.cooldown.until <= now + timedelta(days=1)
            or result.cooldown == layers.cooldown
        )
        layers = result


@pytest.mark.parametrize("outcome", [SUCCESS, Failure(Kind.TRANSIENT), Failure(Kind.CONTEXT_LENGTH)])
def test_an_open_breaker_ignores_what_it_did_not_admit(outcome: Outcome) -> None:
    layers = after(5)
    assert settled(layers, outcome) is layers
    assert changes_nothing(layers, POLICY, permit(layers), outcome, NOW)
    assert not grows_window(layers.breaker, permit(layers), outcome)
