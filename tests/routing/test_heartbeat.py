"""The row that a process keeps of itself."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import OperationalError
from django.utils import timezone

from routing import heartbeat
from routing.heartbeat import FORGOTTEN_AFTER, Heart
from routing.live import live
from routing.models import ServingProcess

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def heart() -> Iterator[Heart]:
    made = Heart("proxy")
    yield made
    async_to_sync(made.stop)()


async def rows() -> list[ServingProcess]:
    return [row async for row in ServingProcess.objects.all()]


async def test_a_beat_says_who_it_is_and_how_fresh_its_copies_are(heart: Heart) -> None:
    live.enter("openai", "main")
    try:
        await heart.beat()
    finally:
        live.leave("openai", "main")
    (row,) = await rows()
    assert (row.id, row.role, row.in_flight, row.database_ok, row.draining) == (heart.id, "proxy", 1, True, False)


async def test_it_is_one_row_however_often_it_beats(heart: Heart) -> None:
    await heart.beat()
    (before,) = await rows()
    await heart.beat()
    (after,) = await rows()
    assert after.beat_at > before.beat_at
    assert after.started_at == before.started_at


async def test_who_has_been_silent_for_long_is_forgotten(heart: Heart) -> None:
    now = timezone.now()
    old, silent = now - FORGOTTEN_AFTER - timedelta(seconds=1), now - timedelta(minutes=1)
    for name, beat_at in (("dead", old), ("slow", silent)):
        await ServingProcess.objects.acreate(
            id=name, host="h", pid=1, role="all", started_at=old, beat_at=beat_at, state_version=0, table_version=0,
            in_flight=0, database_ok=True, backlog=0, log_waiting=0, log_dropped=0, draining=False,
        )  # fmt: skip
    await heart.beat()
    assert {row.id for row in await rows()} == {"slow", heart.id}


async def test_a_process_that_ends_takes_its_row_along(heart: Heart) -> None:
    await heart.beat()
    await heart.stop()
    assert await rows() == []


async def test_a_beat_that_fails_is_not_the_last(heart: Heart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "BEAT_EVERY", 0.0)
    write, tried, done = heartbeat._write, [], asyncio.Event()
    loop = asyncio.get_running_loop()

    def unreliable(values: heartbeat.Values, *, tidy: bool) -> None:
        tried.append(tidy)
        if len(tried) == 1:
            raise OperationalError("the database is away")
        write(values, tidy=tidy)
        loop.call_soon_threadsafe(done.set)

    monkeypatch.setattr(heartbeat, "_write", unreliable)
    heart.start()
    async with asyncio.timeout(10):
        await done.wait()
    assert await sync_to_async(ServingProcess.objects.count)() == 1


async def test_the_process_knows_its_own_row() -> None:
    assert heartbeat.here() == ""
    await heartbeat.start("all")
    assert heartbeat.here()
    await heartbeat.stop()
    assert heartbeat.here() == ""
