"""Many writers at once, in threads with connections of their own and in processes with registries of their own: nothing is lost, nothing doubled."""

import itertools
import multiprocessing
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime

import pytest
from django.db import connection

from resilience import store
from resilience.core import settlement
from resilience.core.cooldown import Cooldown
from resilience.core.kinds import Kind
from resilience.core.lockout import Lockout
from resilience.core.outcome import SUCCESS, Failure, Outcome
from resilience.core.permit import Pair, Permit
from resilience.core.policy import BreakerConfig, Policy
from resilience.core.settlement import Layers
from resilience.core.state import Breaker
from resilience.models import ResilienceEvent
from resilience.reading import read_breaker, read_cooldown

from . import child
from .child import Held
from .examples import BROKEN, NOW, POLICY, after, open_breaker

pytestmark = pytest.mark.django_db(transaction=True)

# never opens: what is asked here is whether every settlement is counted
PATIENT = Policy(breaker=BreakerConfig(failure_threshold=10**6, degradation_threshold=10**6, minimum_calls=10**6))
PROBING = replace(POLICY, breaker=replace(POLICY.breaker, half_open_requests=2))
PROCESSES, SHARE, AT_ONCE, PROBES = 4, 500, 50, 20
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


def script(index: int) -> list[tuple[Pair, Outcome, datetime]]:
    """What one of the processes is to settle."""
    return [
        (Pair("openai", f"c{index}", f"m{step % 3}"), OUTCOMES[(index + step) % len(OUTCOMES)], after(step / 100))
        for step in range(SHARE)
    ]


def serially() -> Breaker:
    """The breaker after all of it, one after the other, by the core alone."""
    breaker = Breaker("openai")
    for pair, outcome, now in itertools.chain.from_iterable(map(script, range(PROCESSES))):
        permit = Permit(*pair, generation=0, lease_id=None, admitted_at=now, id="any")
        layers = Layers(breaker, Cooldown("openai", pair.connection), Lockout(*pair))
        breaker = settlement.settle(layers, PATIENT, permit, outcome, now, 0.0, sibling_usable=True)[0].breaker
    return breaker


def most_at_once(held: Iterable[Held]) -> int:
    """How many leases were held at the same time."""
    moments = sorted(moment for began, ended in held for moment in ((began, 1), (ended, -1)))
    return max(itertools.accumulate(step for _, step in moments))


def test_four_processes_count_as_one_and_share_the_places_of_probes():
    open_breaker("groq", policy=PROBING)
    context = multiprocessing.get_context("spawn")
    results: multiprocessing.Queue[list[Held]] = context.Queue()
    database = str(connection.settings_dict["NAME"])
    children = [context.Process(target=child.run, args=(database, index, results)) for index in range(PROCESSES)]
    for process in children:
        process.start()
    held = [one for _ in children for one in results.get(timeout=120)]
    for process in children:
        process.join(timeout=60)

    assert [process.exitcode for process in children] == [0] * PROCESSES
    expected, breaker = serially(), read_breaker("openai")
    assert breaker.kind_counts == expected.kind_counts
    assert breaker.window.totals(after(5), PATIENT.breaker.window) == expected.window.totals(
        after(5), PATIENT.breaker.window
    )
    assert len(held) >= PROBES
    assert 1 <= most_at_once(held) <= PROBING.breaker.half_open_requests
    assert read_breaker("groq").leases == ()


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
