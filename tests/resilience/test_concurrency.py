"""Many writers at once, in threads with connections of their own and in processes: nothing is lost, nothing doubled."""

import multiprocessing
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from django.db import connection

from resilience import store
from resilience.core.kinds import Kind
from resilience.core.outcome import SUCCESS, Failure
from resilience.core.permit import Pair, Permit
from resilience.core.policy import BreakerConfig, Policy
from resilience.models import ResilienceEvent
from resilience.reading import current_version, read_breaker, read_cooldown

from .child import settle_many as settle_many_elsewhere
from .examples import BROKEN, NOW, POLICY, after, open_breaker

pytestmark = pytest.mark.django_db(transaction=True)

# never opens: what is asked here is whether every settlement is counted
PATIENT = Policy(breaker=BreakerConfig(failure_threshold=10**6, degradation_threshold=10**6, minimum_calls=10**6))
OUTCOMES = [SUCCESS, BROKEN, Failure(Kind.TIMEOUT), Failure(Kind.CONTEXT_LENGTH), Failure(Kind.RATE_LIMIT)]


def in_threads(number: int, work: Callable[[int], None]) -> None:
    """Run `work(index)` in threads that start together and close their connections."""
    gate = threading.Barrier(number)

    def run(index: int) -> None:
        gate.wait(timeout=30)
        try:
            work(index)
        finally:
            connection.close()

    with ThreadPoolExecutor(number) as pool:
        for done in [pool.submit(run, index) for index in range(number)]:
            done.result(timeout=60)


def settle_many(index: int, number: int) -> None:
    for step in range(number):
        pair = Pair("openai", f"c{index}", f"m{step % 3}")
        permit = Permit(*pair, generation=0, lease_id=None, admitted_at=NOW, id="any")
        store.settle(permit, PATIENT, OUTCOMES[step % len(OUTCOMES)], after(step / 100), 0.0, sibling_usable=True)


def test_two_thousand_settlements_from_threads_and_processes_are_all_counted():
    child = multiprocessing.get_context("spawn").Process(
        target=settle_many_elsewhere, args=(str(connection.settings_dict["NAME"]), 2, 1000)
    )
    child.start()
    in_threads(2, lambda index: settle_many(index, 500))
    child.join(timeout=60)

    assert child.exitcode == 0
    breaker = read_breaker("openai")
    assert breaker.kind_counts == dict.fromkeys(("transient", "timeout", "context_length", "rate_limit"), 400)
    assert breaker.window.totals(after(5), PATIENT.breaker.window) == (1200, 800)
    assert current_version() == 2000


@pytest.mark.parametrize("places", [1, 3])
def test_of_many_claims_at_once_as_many_win_as_there_are_places(places: int):
    policy = replace(POLICY, breaker=replace(POLICY.breaker, half_open_requests=places))
    open_breaker(policy=policy)
    answers: Counter[str] = Counter()

    def claim(index: int) -> None:
        for step in range(5):
            _, refusal = store.claim("openai", policy, after(30), f"{index}-{step}")
            answers["won" if refusal is None else refusal.reason] += 1

    in_threads(4, claim)

    assert answers == {"won": places, "breaker_half_open": 20 - places}
    assert len(read_breaker("openai").leases) == places
    assert ResilienceEvent.objects.filter(to_state="HALF_OPEN").count() == 1


def test_ten_equal_failures_in_flight_raise_a_cooldown_level_once():
    def fail(index: int) -> None:
        permit = Permit("openai", "main", f"m{index}", 0, None, NOW, "any")
        store.settle(permit, POLICY, Failure(Kind.RATE_LIMIT), NOW, 0.0, sibling_usable=True)

    in_threads(10, fail)

    cooldown = read_cooldown("openai", "main")
    assert (cooldown.level, cooldown.until) == (1, after(60))
