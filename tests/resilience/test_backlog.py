"""The backlog: in order, each once, whatever the database does."""

import asyncio
import logging

import pytest
from django.db import DatabaseError, DataError, InternalError, OperationalError

from resilience import backlog as backlog_module
from resilience import store
from resilience.core.permit import Pair
from resilience.core.state import State
from resilience.core.window import Window
from resilience.jobs import Flush
from resilience.models import ResilienceEvent
from resilience.reading import load_all, read_breaker
from resilience.registry import Registry
from resilience.sync import Sync

from .examples import BROKEN, POLICY, after

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def database_away(monkeypatch):
    """Make every write fail until the returned function is called."""
    write = store.settle

    def unreachable(*_args, **_details):
        raise OperationalError("no route to host")

    monkeypatch.setattr(store, "settle", unreachable)
    return lambda: monkeypatch.setattr(store, "settle", write)


async def fail(registry: Registry, number: int, provider: str = "openai") -> None:
    permit = registry.permit(Pair(provider, "main", f"m{number}"), after(number))
    await registry.settle(permit, POLICY, BROKEN, now=after(number), sibling_usable=True, request_id=f"r-{number}")


async def test_what_the_database_missed_is_written_in_order_when_it_is_back(registry, database_away, caplog):
    caplog.set_level(logging.WARNING)
    for number in range(5):
        await fail(registry, number)
    assert registry.breakers["openai"].state is State.OPEN
    assert (registry.health.backlog, registry.health.database_ok) == (5, False)
    assert (await registry.thread.run(load_all)).breakers == ()

    database_away()
    await registry.backlog.write_all()

    assert registry.health.backlog == 0
    row = await registry.thread.run(lambda: read_breaker("openai"))
    assert row == registry.breakers["openai"]
    assert row.retry_at == after(4 + 30)
    assert [record.message for record in caplog.records] == ["state.database_unreachable", "state.database_is_back"]


async def test_a_database_that_can_be_read_but_takes_no_writes_is_away_until_it_does(registry, database_away, caplog):
    """A full disk, a replica."""
    caplog.set_level(logging.WARNING)
    sync = Sync(registry, lambda: after(1))
    await fail(registry, 0)
    for _ in range(3):
        await sync.round()
        assert not registry.health.database_ok
    assert [record.message for record in caplog.records] == ["state.database_unreachable"]

    database_away()
    await sync.round()

    assert (registry.health.backlog, registry.health.database_ok) == (0, True)
    assert caplog.records[-1].message == "state.database_is_back"


@pytest.mark.parametrize("trouble", [InternalError("read-only transaction"), DatabaseError("file is damaged")])
async def test_what_a_database_in_any_trouble_refuses_is_kept(registry, monkeypatch, trouble):
    write = store.settle

    def refuse(*_args, **_details):
        raise trouble

    monkeypatch.setattr(store, "settle", refuse)
    await fail(registry, 0)
    assert (registry.health.backlog, registry.health.database_ok) == (1, False)

    monkeypatch.setattr(store, "settle", write)
    await registry.backlog.write_all()

    assert await registry.thread.run(lambda: read_breaker("openai")) == registry.breakers["openai"]


async def test_nobody_waits_for_a_database_known_to_be_away(registry, database_away, monkeypatch):
    await fail(registry, 0)
    monkeypatch.setattr(registry.thread, "submit", lambda _job: pytest.fail("asked again within the second"))

    await fail(registry, 1)

    assert registry.health.backlog == 2


async def test_a_write_that_the_database_refuses_is_dropped_and_does_not_stop_the_next(registry, monkeypatch, caplog):
    write = store.settle

    def choosy(permit, *args, **details):
        if permit.model == "m0":
            raise DataError("value too long")
        return write(permit, *args, **details)

    monkeypatch.setattr(store, "settle", choosy)
    await fail(registry, 0)
    await fail(registry, 1)

    assert registry.health.database_ok
    assert registry.health.backlog == 0
    assert (await registry.thread.run(lambda: read_breaker("openai"))).failure_count == 1
    assert "state.write_failed" in caplog.text


async def test_a_full_backlog_drops_its_oldest_and_counts_it(registry, database_away, monkeypatch):
    monkeypatch.setattr(backlog_module, "LIMIT", 3)
    for number in range(5):
        await fail(registry, number, f"provider-{number}")
    assert (registry.health.backlog, registry.health.dropped) == (3, 2)

    database_away()
    await registry.backlog.write_all()

    found = await registry.thread.run(load_all)
    assert [one.provider for one in found.breakers] == ["provider-2", "provider-3", "provider-4"]


async def test_a_failure_in_the_middle_of_a_batch_undoes_it_and_each_counts_once(registry, monkeypatch):
    write, asked = store.settle, []

    def fails_once_at_m2(permit, *args, **details):
        asked.append(permit.model)
        if asked.count("m2") == 1 and permit.model == "m2":
            raise OperationalError("restarting")
        return write(permit, *args, **details)

    monkeypatch.setattr(store, "settle", fails_once_at_m2)
    await asyncio.gather(*(fail(registry, number) for number in range(4)))
    assert registry.health.backlog == 4
    await registry.backlog.write_all()

    assert asked == ["m0", "m1", "m2", "m0", "m1", "m2", "m3"]
    assert (await registry.thread.run(lambda: read_breaker("openai"))).failure_count == 4


async def test_a_job_of_a_loop_that_ended_is_written_by_the_next(registry, database_away):
    await fail(registry, 0)
    registry.backlog._writer = None
    database_away()

    await registry.backlog.write_all()

    assert (await registry.thread.run(lambda: read_breaker("openai"))).failure_count == 1


async def test_a_flushed_window_adds_to_the_row_without_an_event(registry):
    await fail(registry, 0)
    before = await registry.thread.run(ResilienceEvent.objects.count)
    registry.backlog.put(Flush("openai", Window.EMPTY.add(after(1), POLICY.breaker.window, calls=7), after(1)))

    await registry.backlog.write_all()

    row = await registry.thread.run(lambda: read_breaker("openai"))
    assert row.window.totals(after(1), POLICY.breaker.window) == (8, 1)
    assert await registry.thread.run(ResilienceEvent.objects.count) == before
