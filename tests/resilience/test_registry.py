"""The live registry: decisions without I/O, one claim for a hundred requests, each permit settled once."""

import asyncio
import threading
from collections import Counter
from dataclasses import replace

import pytest
from django.db import OperationalError

from resilience import backlog as backlog_module
from resilience import jobs, store
from resilience import registry as registry_module
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from resilience.core.permit import NEEDS_LEASE, Pair, Permit, Refusal, RefusalReason
from resilience.core.state import State
from resilience.core.window import Window
from resilience.reading import current_version, load_all, read_breaker
from resilience.registry import Registry, get_registry
from tests.waiting import until

from .examples import BROKEN, GONE, LIMITED, NOW, PAIR, POLICY, SUCCESS, after, held_up, open_breaker

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE_IN_TESTS = 0.01  # s


async def settle(registry: Registry, outcome, pair: Pair = PAIR, *, now=NOW) -> None:
    permit = registry.permit(pair, now)
    await registry.settle(permit, POLICY, outcome, now=now, sibling_usable=True, request_id="r-1")


async def loaded(registry: Registry) -> None:
    registry.apply(await registry.thread.run(load_all), everything=True)


async def test_unknown_targets_pass(registry):
    assert registry.check(PAIR, POLICY, NOW) is None
    assert registry.cooling("openai", "main", NOW) is None


async def test_failures_open_the_breaker_for_this_process_and_in_the_database(registry):
    for number in range(5):
        await settle(registry, BROKEN, Pair("openai", "main", f"m{number}"))

    assert registry.check(PAIR, POLICY, after(29)) == Refusal(RefusalReason.BREAKER_OPEN, after(30))
    assert registry.check(PAIR, POLICY, after(30)) is NEEDS_LEASE
    assert await registry.thread.run(lambda: read_breaker("openai")) == registry.breakers["openai"]


@pytest.mark.parametrize(
    "other", [Pair("anthropic", "main", "m"), Pair("openai", "spare", "m"), Pair("openai", "main", "m")]
)
async def test_an_answer_about_other_rows_does_not_count_what_waits_to_be_written_twice(registry, other):
    unseen = jobs.Settle(registry.permit(PAIR, NOW), POLICY, BROKEN, NOW, 0.0, True, Window.EMPTY, "r-1")
    answer = await registry.thread.run(
        lambda: store.settle(registry.permit(other, NOW), POLICY, BROKEN, NOW, 0.0, sibling_usable=True)
    )
    registry.do(unseen)
    for _ in range(3):
        registry.take_over([answer], [unseen])

    assert registry.breakers["openai"].failure_count == 1 + (other.provider == "openai")
    assert registry.breakers["openai"].state is State.CLOSED
    assert len(registry.lockouts[PAIR].failures) == 1


async def test_what_is_stored_is_known_apart_from_what_waits_to_be_written(registry):
    await settle(registry, BROKEN)
    waiting = jobs.Settle(registry.permit(PAIR, NOW), POLICY, BROKEN, NOW, 0.0, True, Window.EMPTY, "r-1")

    registry.do(waiting)

    assert registry.breakers["openai"].failure_count == 2
    assert registry.stored().breakers["openai"].failure_count == 1
    assert len(registry.stored().lockouts[PAIR].failures) == 1


async def test_three_failures_degrade_a_provider(registry):
    for _ in range(3):
        await settle(registry, BROKEN)

    assert registry.breakers["openai"].state is State.DEGRADED


async def test_cooldown_and_lockout_skip_the_narrowest_thing(registry):
    await settle(registry, LIMITED)
    await settle(registry, GONE, Pair("openai", "spare", "gpt-9"))

    assert registry.check(PAIR, POLICY, NOW) == Refusal(RefusalReason.COOLING, after(7))
    assert registry.cooling("openai", "main", after(6.9)) == after(7)
    assert registry.check(PAIR, POLICY, after(7)) is None
    assert registry.check(Pair("openai", "spare", "gpt-9"), POLICY, NOW) == Refusal(RefusalReason.LOCKED, after(120))
    assert registry.check(Pair("openai", "spare", "gpt-4o"), POLICY, NOW) is None


async def test_a_permit_settles_once(registry):
    permit = registry.permit(PAIR, NOW)
    await registry.settle(permit, POLICY, SUCCESS, now=NOW, sibling_usable=True, request_id="r-1")

    with pytest.raises(RuntimeError, match="settled before"):
        await registry.settle(permit, POLICY, BROKEN, now=NOW, sibling_usable=True, request_id="r-1")
    assert registry.breakers["openai"].failure_count == 0


async def test_a_clean_success_touches_neither_thread_nor_database(registry, monkeypatch):
    monkeypatch.setattr(registry.thread, "submit", lambda _job: pytest.fail("a clean success reached the database"))

    for second in range(3):
        await settle(registry, SUCCESS, now=after(second))

    assert registry.unwritten["openai"].totals(after(2), POLICY.breaker.window) == (3, 0)
    assert len(registry.backlog) == 0


async def test_a_cancelled_attempt_without_a_lease_changes_and_writes_nothing(registry):
    await settle(registry, Failure(Kind.CANCELLED))

    assert await registry.thread.run(current_version) == 0
    assert registry.unwritten == {}


async def test_a_hundred_requests_at_retry_time_make_one_probe_and_one_claim(registry, monkeypatch):
    await registry.thread.run(open_breaker)
    await loaded(registry)
    asked = []
    claim = store.claim
    monkeypatch.setattr(store, "claim", lambda *args: asked.append(args) or claim(*args))

    answers = await asyncio.gather(*(registry.claim(PAIR, POLICY, after(30)) for _ in range(100)))

    assert Counter(type(answer) for answer in answers) == {Permit: 1, Refusal: 99}
    assert {answer.reason for answer in answers if isinstance(answer, Refusal)} == {RefusalReason.BREAKER_HALF_OPEN}
    assert len(asked) == 1
    assert registry.breakers["openai"].state is State.HALF_OPEN


async def test_as_many_claims_go_to_the_database_as_there_are_places(registry):
    policy = replace(POLICY, breaker=replace(POLICY.breaker, half_open_requests=3))
    await registry.thread.run(open_breaker)
    await loaded(registry)

    answers = await asyncio.gather(*(registry.claim(PAIR, policy, after(30)) for _ in range(20)))

    assert sum(isinstance(answer, Permit) for answer in answers) == 3


async def test_a_claim_lost_to_another_process_refreshes_the_copy(registry):
    await registry.thread.run(open_breaker)
    await loaded(registry)
    await registry.thread.run(lambda: store.claim("openai", POLICY, after(30), "of another process"))

    answer = await registry.claim(PAIR, POLICY, after(31))

    assert answer == Refusal(RefusalReason.BREAKER_HALF_OPEN, after(150))
    assert registry.breakers["openai"].state is State.HALF_OPEN
    assert registry.check(PAIR, POLICY, after(31)) == answer


async def test_a_successful_probe_closes_and_a_failed_one_waits_longer(registry):
    await registry.thread.run(open_breaker)
    await loaded(registry)
    probe = await registry.claim(PAIR, POLICY, after(30))
    await registry.settle(probe, POLICY, BROKEN, now=after(31), sibling_usable=True, request_id="r-2")
    assert registry.check(PAIR, POLICY, after(90)) == Refusal(RefusalReason.BREAKER_OPEN, after(91))

    probe = await registry.claim(PAIR, POLICY, after(91))
    await registry.settle(probe, POLICY, SUCCESS, now=after(92), sibling_usable=True, request_id="r-3")

    assert registry.check(PAIR, POLICY, after(92)) is None
    assert registry.breakers["openai"].state is State.CLOSED


async def test_a_cancelled_claim_gives_its_lease_back(registry, monkeypatch):
    await registry.thread.run(open_breaker)
    await loaded(registry)
    reached, go_on = asyncio.Event(), threading.Event()
    loop, claim = asyncio.get_running_loop(), store.claim

    def slow_claim(*args):
        loop.call_soon_threadsafe(reached.set)
        go_on.wait(timeout=10)
        return claim(*args)

    monkeypatch.setattr(store, "claim", slow_claim)
    task = asyncio.create_task(registry.claim(PAIR, POLICY, after(30)))
    await reached.wait()
    task.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    monkeypatch.setattr(store, "claim", claim)
    await until(lambda: not registry._claiming and not len(registry.backlog))

    assert (await registry.thread.run(lambda: read_breaker("openai"))).leases == ()
    assert isinstance(await registry.claim(PAIR, POLICY, after(31)), Permit)


async def test_a_settlement_whose_client_left_is_written_all_the_same(registry, monkeypatch):
    reached, go_on = asyncio.Event(), threading.Event()
    loop, write = asyncio.get_running_loop(), store.settle

    def slow_settle(*args, **details):
        loop.call_soon_threadsafe(reached.set)
        go_on.wait(timeout=10)
        return write(*args, **details)

    monkeypatch.setattr(store, "settle", slow_settle)
    task = asyncio.create_task(settle(registry, GONE))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    await registry.backlog.write_all()

    assert registry.check(PAIR, POLICY, NOW) == Refusal(RefusalReason.LOCKED, after(120))
    assert (await registry.thread.run(load_all)).lockouts == (registry.lockouts[PAIR],)


async def test_the_copy_decides_at_once_while_the_write_is_under_way(registry, monkeypatch):
    monkeypatch.setattr(backlog_module, "PATIENCE", PATIENCE_IN_TESTS)
    go_on = held_up(monkeypatch)
    for number in range(5):
        await settle(registry, BROKEN, Pair("openai", "main", f"m{number}"))
    assert registry.check(PAIR, POLICY, NOW) == Refusal(RefusalReason.BREAKER_OPEN, after(30))
    assert registry.health.backlog == 5

    go_on.set()
    await registry.backlog.write_all()

    assert registry.health.backlog == 0
    assert await registry.thread.run(lambda: read_breaker("openai")) == registry.breakers["openai"]


async def test_nobody_waits_a_second_time_for_a_database_that_hangs(registry, monkeypatch, caplog):
    monkeypatch.setattr(backlog_module, "PATIENCE", PATIENCE_IN_TESTS)
    go_on = held_up(monkeypatch)
    await settle(registry, BROKEN)
    assert "state.database_unreachable" in caplog.text
    assert not registry.health.database_ok

    monkeypatch.setattr(backlog_module, "PATIENCE", 3600)
    monkeypatch.setattr(backlog_module, "RETRY_AFTER", 0)
    await settle(registry, BROKEN)
    await registry.backlog.written("openai")

    go_on.set()
    await registry.backlog.write_all()
    assert (registry.health.database_ok, registry.health.backlog) == (True, 0)
    assert (await registry.thread.run(lambda: read_breaker("openai"))).failure_count == 2


async def test_an_outcome_that_counts_for_nothing_waits_for_the_write_that_made_it_so(registry, monkeypatch):
    late = registry.permit(Pair("openai", "main", "late"), NOW)
    go_on = held_up(monkeypatch)
    opening = [asyncio.create_task(settle(registry, BROKEN, Pair("openai", "main", f"m{n}"))) for n in range(5)]
    await until(lambda: PAIR.provider in registry.breakers and registry.breakers["openai"].state is State.OPEN)
    stale = asyncio.create_task(
        registry.settle(late, POLICY, BROKEN, now=NOW, sibling_usable=True, request_id="r-6")  # its client is told OPEN
    )
    await asyncio.sleep(0)
    assert not stale.done()

    go_on.set()
    await stale
    assert (await registry.thread.run(lambda: read_breaker("openai"))).state is State.OPEN
    await asyncio.gather(*opening)


async def test_an_answer_that_arrives_out_of_order_does_not_undo_a_newer_one(registry):
    older = await registry.thread.run(lambda: open_breaker())
    newer = await registry.thread.run(lambda: store.reset("openai", actor="ann", reason="fixed", now=after(1)))

    registry.apply(newer)
    registry.apply(older)

    assert registry.breakers["openai"].state is State.CLOSED


async def test_an_unreachable_database_does_not_shut_a_provider_out(registry, monkeypatch):
    await registry.thread.run(open_breaker)
    await loaded(registry)

    def unreachable(*_args, **_details):
        raise OperationalError("no route to host")

    claim, write = store.claim, store.settle
    monkeypatch.setattr(store, "claim", unreachable)
    monkeypatch.setattr(store, "settle", unreachable)
    probe = await registry.claim(PAIR, POLICY, after(30))
    assert isinstance(probe, Permit)
    assert isinstance(await registry.claim(PAIR, POLICY, after(30)), Refusal)
    await registry.settle(probe, POLICY, SUCCESS, now=after(31), sibling_usable=True, request_id="r-2")
    assert registry.check(PAIR, POLICY, after(31)) is None
    assert (registry.health.database_ok, registry.health.backlog) == (False, 2)

    monkeypatch.setattr(store, "claim", claim)
    monkeypatch.setattr(store, "settle", write)
    await registry.backlog.write_all()

    assert (registry.health.database_ok, registry.health.backlog) == (True, 0)
    assert (await registry.thread.run(lambda: read_breaker("openai"))).state is State.CLOSED


async def test_a_claim_that_the_database_answers_too_late_keeps_its_lease(registry, monkeypatch):
    monkeypatch.setattr(registry_module, "PATIENCE", PATIENCE_IN_TESTS)
    await registry.thread.run(open_breaker)
    await loaded(registry)
    go_on, claim = threading.Event(), store.claim

    def slow_claim(*args):
        go_on.wait(timeout=10)
        return claim(*args)

    monkeypatch.setattr(store, "claim", slow_claim)
    probe = await registry.claim(PAIR, POLICY, after(30))
    assert isinstance(probe, Permit)
    go_on.set()
    await registry.settle(probe, POLICY, SUCCESS, now=after(31), sibling_usable=True, request_id="r-2")
    await registry.backlog.write_all()

    assert (await registry.thread.run(lambda: read_breaker("openai"))).state is State.CLOSED


def test_the_process_has_one_registry(registry):
    assert get_registry() is get_registry() is registry
