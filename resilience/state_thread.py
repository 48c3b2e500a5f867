"""The thread that writes state, with a database connection of its own.

State is never written from the event loop (it would stop every request) nor from the threads of pages (a slow page
would hold up a settlement). One thread, first in first out: two writes of this process never meet in the database.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, connection

T = TypeVar("T")


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
    try:
        return job()
    except (DatabaseError, InterfaceError):
        if not connection.in_atomic_block:
            connection.close()
        raise
