"""How a copy stays fresh: at once by news, each second without, across restarts."""

import asyncio
from datetime import timedelta

import pytest
from django.db import OperationalError, connection

from resilience import actions, policies, reading, store, sync
from resilience.core.permit import NEEDS_LEASE, Pair
from resilience.core.state import State
from resilience.models import BreakerState, StateVersion
from resilience.reading import read_breaker
from resilience.registry import Registry
from resilience.sync import Sync
from tests.waiting import until

from .examples import BROKEN, GONE, LIMITED, NOW, PAIR, POLICY, SUCCESS, after, open_breaker, settle

pytestmark = pytest.mark.django_db(transaction=True)


class Clock:
    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def elsewhere(registry: Registry, work):
    """What another process does to the database."""
    return await registry.thread.run(work)


async def test_a_restart_keeps_open_breakers_with_their_retry_at(registry, clock):
    await elsewhere(registry, open_breaker)

    await Sync(registry, clock).round()

    assert registry.breakers["openai"].state is State.OPEN
    assert registry.breakers["openai"].retry_at == after(30)
    assert registry.last_sync_at == NOW


async def test_a_restart_finds_places_of_expired_probes_free(registry, clock):
    def crashed_probe():
        open_breaker()
        store.claim("openai", POLICY, after(30), "of a process that was killed")

    await elsewhere(registry, crashed_probe)
    await Sync(registry, clock).round()

    assert registry.check(PAIR, POLICY, after(149)) is not None
    assert isinstance(await registry.claim(PAIR, POLICY, after(150)), type(registry.permit(PAIR, NOW)))


async def test_a_poll_brings_what_others_wrote_with_one_query_when_there_is_nothing(registry, clock, monkeypatch):
    keeper = Sync(registry, clock)
    await keeper.round()
    await elsewhere(registry, lambda: settle(LIMITED))
    monkeypatch.setattr(reading, "load_all", lambda: pytest.fail("loaded everything"))
    clock.now = after(1)

    await keeper.round()

    assert registry.cooling("openai", "main", NOW) == after(7)
    assert registry.last_sync_at == after(1)


async def test_once_a_minute_everything_is_read_even_what_was_changed_by_hand(registry, clock):
    keeper = Sync(registry, clock)
    await elsewhere(registry, open_breaker)
    await keeper.round()
    await elsewhere(registry, lambda: BreakerState.objects.all().delete())
    clock.now = after(59)
    await keeper.round()
    assert "openai" in registry.breakers

    clock.now = after(60)
    await keeper.round()

    assert "openai" not in registry.breakers


async def test_a_clock_that_is_set_back_keeps_nobody_out_for_longer_than_it_was_to_be(registry, clock):
    keeper = Sync(registry, clock)
    await elsewhere(registry, open_breaker)
    await elsewhere(registry, lambda: settle(LIMITED, Pair("groq", "main", "m")))
    await elsewhere(registry, lambda: settle(GONE, Pair("groq", "spare", "m")))
    await keeper.round()

    clock.now = after(-3600)
    await keeper.round()

    assert registry.check(PAIR, POLICY, after(-3571)) is not None
    assert registry.check(PAIR, POLICY, after(-3570)) is NEEDS_LEASE
    assert registry.cooling("groq", "main", clock.now) == after(-3593)
    assert registry.lockouts["groq", "spare", "m"].until == after(-3480)
    assert (await elsewhere(registry, lambda: read_breaker("openai"))) == registry.breakers["openai"]


async def test_an_older_database_put_in_place_is_taken_over(registry, clock):
    keeper = Sync(registry, clock)
    await elsewhere(registry, open_breaker)
    await keeper.round()

    def restore():
        BreakerState.objects.all().delete()
        StateVersion.objects.update(value=1)

    await elsewhere(registry, restore)
    await keeper.round()

    assert registry.breakers == {}
    assert registry.version == 1


async def test_news_brings_a_change_at_once(registry, monkeypatch):
    monkeypatch.setattr(sync, "POLL_EVERY", 3600)
    await sync.start()
    await asyncio.sleep(0)  # the listener joins its group
    try:
        await elsewhere(
            registry, lambda: store.force("openai", "open", actor="ann", reason="drill", until=None, now=NOW)
        )
        await until(lambda: registry.check(PAIR, POLICY, NOW) is not None)
    finally:
        await sync.stop()


async def test_starting_and_stopping_twice_is_as_once(registry):
    first, second = await asyncio.gather(sync.start(), sync.start())
    assert first is second
    tasks = {task.get_name() for task in asyncio.all_tasks()}
    assert {"resilience-sync", "resilience-news"} <= tasks

    await sync.stop()
    await sync.stop()

    assert not {task.get_name() for task in asyncio.all_tasks()} & {"resilience-sync", "resilience-news"}
    assert registry.thread._executor is None


async def test_a_database_that_is_away_at_start_delays_the_load_only(registry, clock, monkeypatch):
    await elsewhere(registry, open_breaker)
    load = reading.load_all

    def away():
        raise OperationalError("no route to host")

    monkeypatch.setattr(reading, "load_all", away)
    keeper = Sync(registry, clock)
    await keeper._guarded_round()
    assert not registry.health.database_ok

    monkeypatch.setattr(reading, "load_all", load)
    await keeper._guarded_round()

    assert registry.health.database_ok
    assert registry.breakers["openai"].state is State.OPEN


async def test_a_round_that_fails_is_logged_and_the_next_one_runs(registry, clock, monkeypatch, caplog):
    keeper = Sync(registry, clock)
    monkeypatch.setattr(reading, "load_all", lambda: 1 / 0)
    await keeper._guarded_round()
    assert "state.sync_failed" in caplog.text

    monkeypatch.undo()
    await keeper._guarded_round()
    assert registry.last_sync_at == NOW


async def test_successes_are_written_for_providers_that_fail_at_times_and_kept_for_others(registry, clock, configured):
    for provider in ("openai", "groq"):
        await succeed(registry, provider, times=4)
    await elsewhere(registry, lambda: settle(BROKEN))  # another process saw openai fail

    keeper = Sync(registry, clock)
    await keeper.round()
    await registry.backlog.write_all()

    row = await elsewhere(registry, lambda: read_breaker("openai"))
    assert row.window.totals(NOW, POLICY.breaker.window) == (5, 1)
    assert registry.breakers["openai"] == row
    assert set(registry.unwritten) == {"groq"}


async def test_successes_that_left_the_window_are_forgotten(registry, clock):
    await succeed(registry, "groq", times=4)
    clock.now = NOW + timedelta(seconds=61)

    registry.flush(policies.providers(), clock.now)

    assert registry.unwritten == {}


async def test_stopping_writes_what_is_owed(registry, monkeypatch):
    await sync.start()
    monkeypatch.setattr(sync, "_is_due", lambda *_args: False)
    permit = registry.permit(PAIR, NOW)
    await registry.settle(permit, POLICY, BROKEN, now=NOW, sibling_usable=True, request_id="r-1")
    await succeed(registry, "openai", times=1)

    await sync.stop()

    assert len(registry.backlog) == 0
    assert (await elsewhere(registry, lambda: read_breaker("openai"))).kind_counts == {"transient": 1}


async def succeed(registry: Registry, provider: str, *, times: int) -> None:
    for _ in range(times):
        permit = registry.permit(Pair(provider, "main", "m"), NOW)
        await registry.settle(permit, POLICY, SUCCESS, now=NOW, sibling_usable=True, request_id="r-1")


async def test_what_a_person_does_decides_this_process_before_the_person_is_told(registry, monkeypatch):
    def act():
        actions.reset("openai", actor="alice", reason="it is back")
        connection.close()  # the thread is not Django's, which would do it

    monkeypatch.setattr(sync.Sync, "_keep_up", lambda self: asyncio.sleep(3600))  # no poll, no hint
    await elsewhere(registry, open_breaker)
    await sync.start(registry)
    try:
        assert registry.breakers["openai"].state is State.OPEN
        await asyncio.to_thread(act)
        assert registry.breakers["openai"].state is State.CLOSED
    finally:
        await sync.stop()
