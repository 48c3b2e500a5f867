"""How this process's copy stays fresh: hints at once, the change counter each second, everything once a minute.

    news ──hint──┐
                 ├──► round: write what is owed ─► read what is newer ─► queue the windows that others need
    each second ─┘

A lost hint therefore costs a second; an edit by hand, past the change counter, a minute.
"""

import asyncio
import concurrent.futures
import contextlib
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from weakref import WeakKeyDictionary

from django.db import Error, transaction
from django.utils import timezone

from resilience import news, policies, reading, store
from resilience.change import Change
from resilience.registry import Registry, get_registry

logger = logging.getLogger(__name__)

POLL_EVERY = 1.0  # s; the staleness that RESILIENCE promises
BREATH = 0.02  # s between two rounds: a storm of hints must not crowd out the writes in the state thread
FLUSH_EVERY = timedelta(seconds=1)
RELOAD_EVERY = timedelta(minutes=1)
TIDY_EVERY = timedelta(hours=1)
HEARD_WITHIN = 1.0  # s that a person's action waits for this process to take it over
LAST_WRITES = 5.0  # s that a process on its way out gives the database


class Sync:
    """The background work of one registry on one event loop."""

    def __init__(self, registry: Registry, clock: Callable[[], datetime] = timezone.now) -> None:
        self.registry = registry
        self._clock = clock
        self._hint = asyncio.Event()
        self._flushed_at: datetime | None = None
        self._loaded_at: datetime | None = None
        self._tidied_at: datetime | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._starting: asyncio.Task[None] | None = None

    async def ready(self) -> None:
        """Start once; whoever comes while it starts waits for the first load as well."""
        if self._starting is None:
            self._starting = asyncio.create_task(self.start(), name="resilience-start")
        await asyncio.shield(self._starting)

    async def start(self) -> None:
        """Load everything, then keep up. A database that is away delays the load, not the start."""
        news.bind(asyncio.get_running_loop())
        await self._guarded_round()
        self._tasks = [
            asyncio.create_task(self._keep_up(), name="resilience-sync"),
            asyncio.create_task(news.listen("state", self._hint.set), name="resilience-news"),
        ]

    async def stop(self) -> None:
        """Write what is owed, as far as the database answers soon, and end the tasks and the thread."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=LAST_WRITES)  # a channel layer that hangs must not hold up the exit
        self.registry.flush(policies.providers(), self._clock())
        try:
            async with asyncio.timeout(LAST_WRITES):
                await self.registry.backlog.write_all()
        except TimeoutError:
            logger.error("state.writes_lost", extra={"backlog": len(self.registry.backlog)})  # noqa: TRY400
            return  # the thread hangs in the database; it ends with the process
        await self.registry.thread.stop()

    async def round(self) -> None:
        """Write what is owed, read what is newer, queue the windows that others need. Raises `django.db.Error`."""
        registry, now = self.registry, self._clock()
        if _is_due(self._tidied_at, TIDY_EVERY, now):
            self._tidied_at = now
            await registry.thread.run(partial(store.forget_idle, now))
        was_away = not registry.backlog.database_ok
        if was_away:
            await registry.backlog.write_all()
        else:  # not waited for: with failures coming in all the time it might never end
            registry.backlog.nudge()
        await self._read(everything=was_away or _is_due(self._loaded_at, RELOAD_EVERY, now))
        if _is_due(self._flushed_at, FLUSH_EVERY, now):
            self._flushed_at = now
            registry.flush(policies.providers(), now)

    async def _read(self, *, everything: bool) -> None:
        registry, now = self.registry, self._clock()
        if not everything:
            change = await registry.thread.run(partial(reading.load_since, registry.version))
            everything = change.version < registry.version  # an older database was put in place
        if everything:  # also at the start, and when the clock went back
            await registry.thread.run(partial(store.correct_clocks, now))
            change = await registry.thread.run(reading.load_all)
            self._loaded_at = now
        registry.apply(change, everything=everything)
        registry.version = change.version
        registry.last_sync_at = now
        registry.backlog.answered()

    async def _keep_up(self) -> None:
        while True:
            try:
                async with asyncio.timeout(POLL_EVERY):
                    await self._hint.wait()
            except TimeoutError:
                pass
            self._hint.clear()
            await self._guarded_round()
            await asyncio.sleep(BREATH)

    async def _guarded_round(self) -> None:
        try:
            await self.round()
        except Error as error:
            self.registry.backlog.failed(error)
        except Exception:  # whatever it is, the next round may do better; ending would freeze the copy for ever
            logger.exception("state.sync_failed")


def _is_due(last: datetime | None, every: timedelta, now: datetime) -> bool:
    """Whether it was never done, or not of late; a clock set back makes it due as well."""
    return last is None or not timedelta(0) <= now - last < every


_running: "WeakKeyDictionary[asyncio.AbstractEventLoop, Sync]" = WeakKeyDictionary()


async def start(registry: Registry | None = None) -> Sync:
    """Keep the process's registry fresh from this event loop; once per loop, however often it is called."""
    loop = asyncio.get_running_loop()
    sync = _running.get(loop)
    if sync is None:
        sync = _running[loop] = Sync(registry or get_registry())
    await sync.ready()
    return sync


async def stop() -> None:
    """End what `start` began on this loop; nothing happens if there is nothing."""
    sync = _running.pop(asyncio.get_running_loop(), None)
    if sync is not None:
        await sync.stop()


def heard(change: Change) -> Change:
    """Let this process's copy take over what a person just did, before the person is told that it was done.

    Called from the threads of pages; other processes hear of it by the news. Without it the first requests after a
    reset would still carry permits of the generation that the reset ended, and their outcomes would count nowhere.
    Inside a transaction it waits for the commit: what is rolled back has not happened.
    """
    transaction.on_commit(partial(_tell_loops, change))
    return change


def _tell_loops(change: Change) -> None:
    for loop, sync in list(_running.items()):
        if loop.is_running() and loop is not _loop_here():
            taken = asyncio.run_coroutine_threadsafe(_take_over(sync.registry, change), loop)
            with contextlib.suppress(concurrent.futures.TimeoutError):  # a loop that is this busy polls soon
                taken.result(HEARD_WITHIN)


async def _take_over(registry: Registry, change: Change) -> None:
    registry.apply(change)


def _loop_here() -> asyncio.AbstractEventLoop | None:
    """The loop that runs in this very thread and must not be waited for."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
