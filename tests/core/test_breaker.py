"""The breaker, sentence by sentence of RESILIENCE section 3."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from resilience.core import breaker as breakers
from resilience.core.breaker import NEEDS_LEASE, Breaker, IllegalTransitionError, Refusal, RefusalReason, State
from resilience.core.events import BreakerHeld, BreakerMoved, BreakerReleased, Events, ProbeAllowed
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure, Hint
from resilience.core.policy import BreakerConfig
from resilience.core.state import Cause, move

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CONFIG = BreakerConfig(jitter=0)
SECOND = timedelta(seconds=1)
ZERO = timedelta(0)


def fail(
    breaker: Breaker, now: datetime = NOW, *, kind: Kind = Kind.TRANSIENT, counts: bool = True, **more
) -> tuple[Breaker, Events]:
    config = more.pop("config", CONFIG)
    lease = more.pop("lease", breaker.leases[0].id if breaker.leases else None)
    return breakers.fail(
        breaker, config, Failure(kind, "boom", hint=more.pop("hint", None)), now, more.pop("u", 0.0),
        generation=more.pop("generation", breaker.generation), lease_id=lease, counts=counts, cooldown_floor=more.pop("floor", ZERO),
    )  # fmt: skip


def succeed(
    breaker: Breaker,
    now: datetime = NOW,
    *,
    config: BreakerConfig = CONFIG,
    lease: str | None = None,
    generation: int | None = None,
) -> Breaker:
    lease = lease or (breaker.leases[0].id if breaker.leases else None)
    generation = breaker.generation if generation is None else generation
    return breakers.succeed(breaker, config, now, generation=generation, lease_id=lease)[0]


def failed(times: int, config: BreakerConfig = CONFIG) -> Breaker:
    breaker = Breaker("openai")
    for _ in range(times):
        breaker, _events = fail(breaker, config=config)
    return breaker


def probing(config: BreakerConfig = CONFIG, lease: str = "one") -> Breaker:
    breaker = failed(5, config)
    assert breaker.retry_at is not None
    breaker, refusal, _ = breakers.claim(breaker, config, breaker.retry_at, lease)
    assert refusal is None
    return breaker


@pytest.mark.parametrize(
    ("floor", "expected"), [(0, [30, 60, 120, 240, 480, 480]), (120, [120, 120, 120, 240, 480, 480])]
)
def test_the_vectors_of_the_opening_time(floor: int, expected: list[int]) -> None:
    waits = [breakers.opening_time(CONFIG, timedelta(seconds=floor), None, cycles, 0.5) for cycles in range(6)]
    assert [wait.total_seconds() for wait in waits] == expected


def test_the_most_restrictive_wait_wins_and_jitter_comes_on_top() -> None:
    config = BreakerConfig(jitter=0.1)
    wait = breakers.opening_time(config, timedelta(seconds=120), timedelta(seconds=200), 0, 0.5)
    assert wait == timedelta(seconds=210)


@pytest.mark.parametrize("multiplier", [1.0, 1.5, 10.0, 0.5])
def test_a_breaker_that_failed_for_weeks_still_has_a_wait(multiplier: float) -> None:
    config = BreakerConfig(jitter=0, backoff_multiplier=multiplier)
    assert timedelta(seconds=30) <= breakers.opening_time(config, ZERO, None, 100_000, 0.9) <= timedelta(seconds=480)


@pytest.mark.parametrize(("threshold", "expected"), [(1, 1), (2, 2), (3, 2), (5, 3), (8, 5), (10, 6), (12, 8)])
def test_a_breaker_degrades_at_sixty_percent_rounded_up(threshold: int, expected: int) -> None:
    assert BreakerConfig(failure_threshold=threshold).degrade_at == expected
    assert BreakerConfig(failure_threshold=threshold, degradation_threshold=4).degrade_at == 4


def test_failures_in_a_row_degrade_then_open() -> None:
    states = [failed(times).state for times in range(6)]
    assert states == [State.CLOSED, State.CLOSED, State.CLOSED, State.DEGRADED, State.DEGRADED, State.OPEN]
    breaker = failed(5)
    assert (breaker.opened_at, breaker.retry_at) == (NOW, NOW + timedelta(seconds=30))
    assert (breaker.failure_count, breaker.open_cycles, breaker.generation) == (5, 0, 2)


def test_a_success_starts_the_row_anew() -> None:
    breaker = succeed(failed(4))
    assert (breaker.failure_count, breaker.state) == (0, State.CLOSED)


def test_opening_tells_why() -> None:
    breaker = failed(4)
    _, (event,) = fail(breaker, floor=timedelta(seconds=60))
    assert event == BreakerMoved(
        provider="openai", from_state="DEGRADED", to_state="OPEN", cause="failures in a row", failure_count=5,
        kind=Kind.TRANSIENT, retry_at=NOW + timedelta(seconds=60), generation=2,
    )  # fmt: skip


def test_the_failure_rate_opens_with_enough_calls_only() -> None:
    config = BreakerConfig(jitter=0, failure_threshold=1000, degradation_threshold=1000, minimum_calls=10)
    breaker = Breaker("openai")
    states = []
    for call in range(10):
        breaker = succeed(breaker, config=config) if call % 2 == 0 else fail(breaker, config=config)[0]
        states.append(breaker.state)
    assert states == [State.CLOSED] * 9 + [State.OPEN]


def test_half_of_the_failure_rate_degrades_until_the_rate_is_low_again() -> None:
    config = BreakerConfig(jitter=0, failure_threshold=1000, degradation_threshold=1000, minimum_calls=4)
    breaker = Breaker("openai")
    for _ in range(3):
        breaker = succeed(breaker, config=config)
    breaker, (event,) = fail(breaker, config=config)
    assert (breaker.state, event.cause) == (State.DEGRADED, "failure rate")
    later = NOW + timedelta(seconds=1)
    breaker = succeed(breaker, later, config=config)
    assert breaker.state is State.CLOSED, "one of five is below a quarter"


def test_a_degraded_breaker_stays_so_while_its_rate_is_high() -> None:
    config = BreakerConfig(jitter=0, failure_threshold=100, degradation_threshold=3, minimum_calls=4, failure_rate=0.9)
    breaker = failed(3, config)
    states = []
    for _ in range(5):
        breaker = succeed(breaker, config=config)
        states.append(breaker.state)
    assert states == [State.DEGRADED] * 3 + [State.CLOSED] * 2


def test_open_refuses_until_retry_at_and_then_asks_for_a_lease() -> None:
    breaker = failed(5)
    retry_at = NOW + timedelta(seconds=30)
    assert breakers.check(breaker, CONFIG, retry_at - SECOND) == Refusal(RefusalReason.BREAKER_OPEN, retry_at)
    assert breakers.check(breaker, CONFIG, retry_at) is NEEDS_LEASE
    assert breakers.claim(breaker, CONFIG, NOW, "early") == (breaker, Refusal(RefusalReason.BREAKER_OPEN, retry_at), ())


def test_a_claim_moves_to_half_open_and_holds_the_place() -> None:
    breaker = probing()
    now = NOW + timedelta(seconds=30)
    assert (breaker.state, breaker.generation) == (State.HALF_OPEN, 3)
    assert breaker.holds("one", now)
    until = now + CONFIG.probe_lease
    assert breakers.claim(breaker, CONFIG, now, "two")[1] == Refusal(RefusalReason.BREAKER_HALF_OPEN, until)


def test_an_expired_lease_frees_its_place_and_its_late_result_is_ignored() -> None:
    breaker = probing()
    late = NOW + timedelta(seconds=30) + CONFIG.probe_lease
    assert breakers.check(breaker, CONFIG, late) is NEEDS_LEASE
    breaker, refusal, _ = breakers.claim(breaker, CONFIG, late, "two")
    assert refusal is None
    assert fail(breaker, late, lease="one") == (breaker, ())
    assert succeed(breaker, late, lease="one") is breaker


def test_enough_successful_probes_close_and_zero_everything() -> None:
    config = BreakerConfig(jitter=0, half_open_requests=2)
    now = NOW + timedelta(seconds=31)
    breaker = probing(config)
    breaker = succeed(breaker, now, config=config)
    assert (breaker.state, breaker.probe_successes, breaker.leases) == (State.HALF_OPEN, 1, ())
    breaker, _, _ = breakers.claim(breaker, config, now, "two")
    breaker = succeed(breaker, now, config=config)
    assert breaker.state is State.CLOSED
    assert (breaker.failure_count, breaker.open_cycles, breaker.kind_counts, breaker.window.buckets) == (0, 0, {}, ())
    assert breaker.last_failure_kind is Kind.TRANSIENT, "the last failure stays to be read"


def test_a_failed_probe_reopens_for_longer() -> None:
    breaker = probing()
    now = NOW + timedelta(seconds=31)
    breaker, (event,) = fail(breaker, now)
    assert (breaker.state, breaker.open_cycles, breaker.retry_at) == (State.OPEN, 1, now + timedelta(seconds=60))
    assert event.cause == "probe failed"


def test_a_probe_that_counts_for_nothing_frees_its_lease() -> None:
    breaker = probing()
    now = NOW + timedelta(seconds=31)
    after, events = fail(breaker, now, kind=Kind.CONTEXT_LENGTH, counts=False)
    assert (after.state, after.leases, events) == (State.HALF_OPEN, (), ())
    assert after.generation == breaker.generation


@pytest.mark.parametrize("kind", [Kind.CANCELLED, Kind.LOCAL])
def test_a_release_changes_no_count(kind: Kind) -> None:
    breaker = probing()
    after, _ = fail(breaker, NOW + timedelta(seconds=31), kind=kind, counts=False)
    assert after == replace(breaker, leases=())
    assert fail(failed(2), kind=kind, counts=False)[0] == failed(2)


def test_an_older_generation_changes_nothing() -> None:
    breaker = failed(5)
    assert fail(breaker, generation=0) == (breaker, ())
    assert succeed(breaker, generation=1) is breaker


def test_failures_that_do_not_count_are_still_told() -> None:
    breaker, _ = fail(Breaker("openai"), kind=Kind.AUTH, counts=False)
    assert (breaker.last_failure_kind, breaker.last_failure_message, breaker.kind_counts) == (
        Kind.AUTH,
        "boom",
        {Kind.AUTH: 1},
    )
    assert (breaker.failure_count, breaker.window.buckets) == (0, ())


def test_a_hint_holds_the_breaker_open_for_as_long() -> None:
    breaker, _ = fail(failed(4), hint=Hint(timedelta(seconds=300), "retry-after header"))
    assert breaker.retry_at == NOW + timedelta(seconds=300)


def test_forced_open_refuses_and_forced_closed_admits() -> None:
    until = NOW + timedelta(seconds=60)
    held, (event,) = breakers.force(Breaker("openai"), "open", NOW, by="ann", reason="drill", until=until)
    assert isinstance(event, BreakerHeld)
    assert (held.state, event.from_state, event.to_state) == (State.OPEN, "CLOSED", "OPEN")
    assert breakers.check(held, CONFIG, NOW) == Refusal(RefusalReason.FORCED_OPEN, until)
    assert breakers.check(held, CONFIG, until) is None
    closed, _ = breakers.force(failed(5), "closed", NOW, by="ann", reason="trust me", until=None)
    assert breakers.check(closed, CONFIG, NOW) is None


def test_a_forced_breaker_only_fills_its_window() -> None:
    held, _ = breakers.force(Breaker("openai"), "closed", NOW, by="ann", reason="drill", until=None)
    breaker = held
    for _ in range(30):
        breaker, events = fail(breaker)
        assert events == ()
    assert replace(breaker, window=held.window) == held
    assert breaker.window.totals(NOW, CONFIG.window) == (30, 30)


def test_the_end_of_a_hold_leaves_closed_with_zero_counts() -> None:
    until = NOW + timedelta(seconds=60)
    held, _ = breakers.force(failed(5), "open", NOW, by="ann", reason="drill", until=until)
    free, events = breakers.effective(held, until)
    assert (free.state, free.forced, free.failure_count, free.generation) == (
        State.CLOSED,
        None,
        0,
        held.generation + 1,
    )
    assert events == (BreakerReleased("openai", "OPEN", "CLOSED", "time", free.generation),)
    assert breakers.generation_at(held, until) == free.generation
    by_hand, (event,) = breakers.unforce(held, NOW, cause="operator")
    assert (by_hand.state, event.cause) == (State.CLOSED, "operator")
    assert breakers.unforce(by_hand, NOW) == (by_hand, ())


def test_a_hold_that_has_ended_is_taken_note_of_by_the_next_outcome() -> None:
    until = NOW + timedelta(seconds=60)
    held, _ = breakers.force(Breaker("openai"), "closed", NOW, by="ann", reason="drill", until=until)
    after, events = fail(held, until, generation=breakers.generation_at(held, until))
    assert [event.name for event in events] == ["breaker_released"]
    assert (after.failure_count, after.forced) == (1, None)


def test_an_operator_ends_the_wait_of_an_open_breaker_and_nothing_else() -> None:
    waiting = failed(5)
    due, events = breakers.probe_now(waiting, NOW)
    assert due == replace(waiting, retry_at=NOW)
    assert events == (ProbeAllowed("openai", waiting.retry_at),)
    assert breakers.check(due, CONFIG, NOW) is breakers.NEEDS_LEASE


def test_where_nothing_waits_there_is_no_wait_to_end() -> None:
    held, _ = breakers.force(failed(5), "open", NOW, by="ann", reason="drill", until=NOW + timedelta(seconds=60))
    due, _ = breakers.probe_now(failed(5), NOW)
    for breaker in (Breaker("openai"), failed(3), held, due):
        assert breakers.probe_now(breaker, NOW) == (breaker, ())


def test_a_reset_starts_afresh() -> None:
    breaker, (event,) = breakers.reset(failed(5), NOW)
    assert breaker == Breaker("openai", generation=3)
    assert (event.cause, event.to_state) == ("reset", "CLOSED")


def test_an_illegal_transition_raises() -> None:
    with pytest.raises(IllegalTransitionError):
        move(Breaker("openai"), State.HALF_OPEN, Cause.RETRY_TIME_PASSED)
    with pytest.raises(IllegalTransitionError):
        move(failed(5), State.CLOSED, Cause.RECOVERED)


def test_every_state_has_a_way_back_to_closed() -> None:
    ways: dict[State, set[State]] = {state: set() for state in State}
    for start, end in breakers.TRANSITIONS:
        ways[start].add(end)
    for state in State:
        reached = {state}
        for _ in State:
            reached |= {end for start in reached for end in ways[start]}
        assert State.CLOSED in reached
