"""The thread that writes state, with a database connection of its own.

State is never written from the event loop (it would stop every request) nor from the threads of pages (a slow page
would hold up a settlement). One thread, first in first out: two writes of this process never meet in the database.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, connection

T = TypeVar("T")

_opened = threading.local()
"""`file` of each thread: which one its connection has open."""


class StateThread:
    """One worker thread; started with the first job, ended by `stop`, usable again after that."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Run `job` in the thread, after everything submitted before it."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="resilience-state")
        return self._executor.submit(_guarded, job)

    async def run(self, job: Callable[[], T]) -> T:
        """Await `job`. If the waiting task is cancelled the job still runs."""
        return await asyncio.shield(asyncio.wrap_future(self.submit(job)))

    async def stop(self) -> None:
        """Finish what was submitted, close the connection, end the thread."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        await asyncio.wrap_future(executor.submit(_close))
        executor.shutdown(wait=True)


def _close() -> None:
    """Close this thread's connection (`connection` is looked up per thread, so not where `stop` was called)."""
    connection.close()


def _guarded(job: Callable[[], T]) -> T:
    """Run `job`; drop a connection that failed, so that the next job begins with a new one."""
    _leave_old_file()
    try:
        return job()
    except (DatabaseError, InterfaceError):
        if not connection.in_atomic_block:
            connection.close()
        raise


def _leave_old_file() -> None:
    """Drop the connection to an SQLite file that was moved away, or replaced by a backup: what it is told is lost."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return
    try:
        found = Path(connection.settings_dict["NAME"]).stat()
        file = (found.st_dev, found.st_ino)
    except OSError:
        file = None
    if file != getattr(_opened, "file", None):
        connection.close()
        _opened.file = file
