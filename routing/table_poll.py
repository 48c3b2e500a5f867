"""Keeps this process's routing table fresh: compares versions more than once a second, and at once on news.

A full reload every 30 s is the net for raw SQL. Runs on one event loop; the database is read in a thread of its own. A load that fails keeps the old table.
"""

import asyncio
import contextlib
import logging
import time

from resilience import news
from resilience.state_thread import StateThread
from routing import table_in_force

logger = logging.getLogger(__name__)

POLL_EVERY = 0.7  # s; a write is in force within a second, the load included
LOG_EVERY = 60.0  # s; a database that is away for an hour is not worth 5,000 lines


class TablePoll:
    """The poll of one event loop."""

    def __init__(self) -> None:
        self._thread = StateThread()
        self._tasks: list[asyncio.Task[None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._last_logged = -LOG_EVERY
        self.failing = False

    @property
    def running(self) -> bool:
        """Whether it keeps the table fresh now."""
        return bool(self._tasks) and self._loop is not None and self._loop.is_running()

    async def start(self) -> None:
        """Load once, then keep loading in the background."""
        if self.running and self._loop is asyncio.get_running_loop():
            return
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._tasks = [
            asyncio.create_task(self._keep_fresh(), name="table-poll"),
            asyncio.create_task(news.listen("table", self._wake.set), name="table-news"),
        ]
        await self._once()

    async def stop(self) -> None:
        """End the tasks, the thread and its connection."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self._thread.stop()

    async def _keep_fresh(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_EVERY):
                    await self._wake.wait()
            self._wake.clear()
            await self._once()

    async def _once(self) -> None:
        try:
            await self._thread.run(table_in_force.refresh)
        except Exception as error:  # noqa: BLE001 (whatever it is, the old table goes on serving and the next poll tries again)
            self._failed(error)
        else:
            self.failing = False

    def _failed(self, error: Exception) -> None:
        now = time.monotonic()
        if not self.failing or now - self._last_logged >= LOG_EVERY:
            self._last_logged = now
            logger.warning(
                "table.load_failed", exc_info=error, extra={"table_loaded_at": table_in_force.current().loaded_at}
            )
        self.failing = True


_poll = TablePoll()


async def start() -> None:
    """Start the process's poll; harmless if it runs on this loop already."""
    await _poll.start()


async def stop() -> None:
    """Stop it."""
    await _poll.stop()


def running() -> bool:
    """Whether the process's poll keeps the table fresh."""
    return _poll.running


def failing() -> bool:
    """Whether its last load failed."""
    return _poll.failing
