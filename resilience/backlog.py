"""The queue of writes between a process and its database: in order, each once, never lost to a cancelled request.

    put ─► queue ─► batch ─► state thread ─► rows as committed ─► copy
             ▲         │
             └─────────┘ database away: back to the front, tried again each second

Whoever put a job may wait for it, but the writing belongs to a task of its own.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import TypeGuard

from django.db import DataError, Error, IntegrityError, NotSupportedError, ProgrammingError, transaction

from resilience.change import Change
from resilience.jobs import Job
from resilience.state_thread import StateThread

logger = logging.getLogger(__name__)

PATIENCE = 1.0  # s that a request waits for the database before it goes on with the copy
LIMIT = 10_000
BATCH = 20
RETRY_AFTER = 1.0  # s
REFUSALS = (DataError, IntegrityError, NotSupportedError, ProgrammingError)
"""What the database says of a job that it would refuse again for ever."""


def is_away(error: BaseException) -> TypeGuard[Error]:
    """Whether the database is away, too busy, full, read-only or damaged, and may take the same job later.

    psycopg has an OperationalError for some of that, an InternalError for a server that became a replica, and sqlite3 a
    bare DatabaseError for a damaged file.
    """
    return isinstance(error, Error) and not isinstance(error, REFUSALS)


@dataclass(slots=True)
class _Entry:
    job: Job
    settled: asyncio.Future[None]


@dataclass(frozen=True, slots=True)
class _Batch:
    changes: list[Change]
    error: Exception | None = None


class Backlog:
    """Jobs not yet written. Used from one event loop at a time."""

    def __init__(self, thread: StateThread, on_change: Callable[[Sequence[Change]], None]) -> None:
        self.database_ok = True
        self.dropped = 0
        self._thread = thread
        self._on_change = on_change
        self._queue: deque[_Entry] = deque()
        self._in_hand: deque[_Entry] = deque()
        self._writer: asyncio.Task[None] | None = None
        self._retry_at = 0.0
        self._answers = 0  # batches that came back

    def __len__(self) -> int:
        return len(self._queue) + len(self._in_hand)

    def jobs(self) -> Iterator[Job]:
        """What is not yet written, in order."""
        return (entry.job for entry in (*self._in_hand, *self._queue))

    def put(self, job: Job) -> asyncio.Future[None]:
        """Queue a job. The future ends when it is written, or when that has failed for now."""
        if len(self._queue) >= LIMIT:  # the database has been away for long; what is oldest matters least
            _end(self._queue.popleft())
            self.dropped += 1
            if self.dropped == 1:
                logger.error("state.backlog_full", extra={"limit": LIMIT})
        entry = _Entry(job, asyncio.get_running_loop().create_future())
        self._queue.append(entry)
        if self.may_try():
            self._start()
        else:
            _end(entry)
        return entry.settled

    async def written(self, provider: str) -> bool:
        """Wait until the database has all that was put for a provider, or does not answer; PATIENCE at most.

        What a client is told must be known to the next process, should this one be killed now. True if there was
        anything to wait for: another process may have settled first, and then the copy is not what it was.
        """
        if self.database_ok:
            for entry in chain(reversed(self._queue), reversed(self._in_hand)):
                if entry.job.target[0] == provider:
                    await self.wait_for(entry.settled)
                    return True
        return False

    async def wait_for(self, settled: asyncio.Future[None]) -> None:
        """Wait for what `put` returned, for PATIENCE at most. If the caller is cancelled the write still happens."""
        if settled.done():
            return
        answers = self._answers
        await asyncio.wait((settled,), timeout=PATIENCE)  # unlike wait_for, leaves the future alone
        if not settled.done() and answers == self._answers:  # else it answers, and only has much to do
            self.unanswered()

    def may_try(self) -> bool:
        """Whether the database is worth waiting for: it answered last time, or that was a while ago and nobody waits."""
        if self.database_ok:
            return True
        return not self._in_hand and asyncio.get_running_loop().time() >= self._retry_at

    def unanswered(self) -> None:
        """Note that the database keeps somebody waiting."""
        self.failed(TimeoutError(f"no answer within {PATIENCE:g} s"))

    def failed(self, error: Exception) -> None:
        """Note that the database did not answer."""
        if self.database_ok:
            logger.error("state.database_unreachable", extra={"error": f"{type(error).__name__}: {error}"})
        self.database_ok = False
        self._retry_at = asyncio.get_running_loop().time() + RETRY_AFTER

    def answered(self) -> None:
        """Note that the database answered a question. A full disk can be read: what is owed tells whether it is back."""
        if not len(self):
            self._is_back()

    def _is_back(self) -> None:
        if not self.database_ok:
            logger.warning("state.database_is_back", extra={"backlog": len(self)})
        self.database_ok = True

    def nudge(self) -> None:
        """Go on writing, if there is anything to write and nobody at it."""
        if self._queue or self._in_hand:
            self._start()

    async def write_all(self) -> None:
        """Try to write everything; returns when it is written or the database does not answer."""
        self.nudge()
        if self._writer is not None and self._writer.get_loop() is asyncio.get_running_loop():
            await asyncio.shield(self._writer)

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        if self._writer is None or self._writer.done() or self._writer.get_loop() is not loop:
            self._queue.extendleft(reversed(self._in_hand))  # of a loop that ended in the middle of a batch
            self._in_hand.clear()
            self._writer = loop.create_task(self._write(), name="resilience-backlog")

    async def _write(self) -> None:
        while self._queue:
            while self._queue and len(self._in_hand) < BATCH:
                self._in_hand.append(self._queue.popleft())
            jobs = [entry.job for entry in self._in_hand]
            batch = await self._thread.run(lambda jobs=jobs: _write_batch(jobs))  # type: ignore[misc]
            self._answers += 1
            if batch.error is None:
                self._is_back()
                while self._in_hand:
                    _end(self._in_hand.popleft())
                self._on_change(batch.changes)
            else:
                self._queue.extendleft(reversed(self._in_hand))
                self._in_hand.clear()
                self.failed(batch.error)
                for entry in self._queue:  # nobody waits for a database that is away
                    _end(entry)
                return


def _write_batch(jobs: list[Job]) -> _Batch:
    """In the state thread: all of it or nothing, in one transaction, so that writers queue up once for twenty jobs."""
    changes: list[Change] = []
    try:
        with transaction.atomic() if len(jobs) > 1 else nullcontext():  # each job has its own transaction or savepoint
            for job in jobs:
                _write_one(job, changes)
    except Error as error:
        return _Batch([], error)
    return _Batch(changes)


def _write_one(job: Job, changes: list[Change]) -> None:
    try:
        changes.append(job.write())
    except Exception as error:
        if is_away(error):
            raise
        # one bad job (text that the database refuses, a mistake of ours) must not stop the others
        logger.exception("state.write_failed", extra={"job": type(job).__name__, "target": "/".join(job.target)})


def _end(entry: _Entry) -> None:
    if not entry.settled.done() and not entry.settled.get_loop().is_closed():
        entry.settled.set_result(None)
