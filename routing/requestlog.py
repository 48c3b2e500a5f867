"""What happened, written down: a bounded queue and one writer thread with a database connection of its own.

`submit` neither blocks nor raises: the request path has better things to do than to wait for its own diary. A full
queue, or a database that stays away, costs rows, which are counted. State is never written this way.
"""

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Sequence

from resilience import news
from resilience.state_thread import StateThread
from routing.requestlog_rows import RequestRecord, write_rows
from routing.unmatched import count_unmatched

__all__ = ["RequestLogWriter", "RequestRecord", "dropped", "start", "stop", "submit", "waiting"]

logger = logging.getLogger(__name__)

QUEUE_BOUND = 10_000
BATCH = 500
WRITE_EVERY = 0.25  # s
RETRY_AFTER = 1.0  # s; a database that failed is given a moment
LOG_EVERY = 60.0  # s
FLUSH_WITHIN = 7.0  # s; at shutdown
CANCEL_GRACE = 2.0  # s


class RequestLogWriter:
    """Queue and writer of one process."""

    def __init__(self) -> None:
        self._queue: deque[RequestRecord] = deque()
        self._thread = StateThread()
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._full_batch = asyncio.Event()
        self._last_logged = -LOG_EVERY
        self.dropped = 0
        """Rows lost since the process started."""
        self.written = 0

    @property
    def waiting(self) -> int:
        """Rows not yet written."""
        return len(self._queue)

    def submit(self, record: RequestRecord) -> None:
        """Have a row written soon, or dropped and counted if too many wait already. From the event loop."""
        if len(self._queue) >= QUEUE_BOUND:
            self.dropped += 1
            return
        self._queue.append(record)
        if len(self._queue) == BATCH:
            self._full_batch.set()

    async def start(self) -> None:
        """Begin to write on this event loop. Again is harmless."""
        loop = asyncio.get_running_loop()
        if self._task is not None and not self._task.done() and self._loop is loop:
            return
        self._loop = loop
        self._full_batch = asyncio.Event()
        self._task = asyncio.create_task(self._keep_writing(), name="request-log")

    async def stop(self, *, flush: bool = True) -> None:
        """End the writer; with `flush`, write what waits first, for at most FLUSH_WITHIN seconds."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if flush:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_WITHIN):
                    await self._flush()
        self.dropped += len(self._queue)
        self._queue.clear()
        await self._thread.stop()

    async def _flush(self) -> None:
        while self._queue and await self._write_batch():
            pass

    async def _keep_writing(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(WRITE_EVERY):
                    await self._full_batch.wait()
            self._full_batch.clear()
            while self._queue:
                if not await self._write_batch():
                    await asyncio.sleep(RETRY_AFTER)

    async def _write_batch(self) -> bool:
        """Write the oldest rows; on failure put them back and return False."""
        batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
        writing = asyncio.wrap_future(self._thread.submit(lambda: _write(batch)))
        try:
            refused = await asyncio.shield(writing)
        except asyncio.CancelledError:
            # the thread goes on: only a failure that shows soon means that the rows have to be written again
            done, _ = await asyncio.wait({writing}, timeout=CANCEL_GRACE)
            if done and writing.exception() is not None:
                self._put_back(batch)
            raise
        except Exception as error:  # noqa: BLE001 (whatever it is, the rows wait and the next round tries again)
            self._put_back(batch)
            self._log_failure(error)
            return False
        self.dropped += refused
        self.written += len(batch) - refused
        news.announce("requests")
        return True

    def _put_back(self, batch: list[RequestRecord]) -> None:
        self._queue.extendleft(reversed(batch))
        while len(self._queue) > QUEUE_BOUND:
            self._queue.pop()
            self.dropped += 1

    def _log_failure(self, error: Exception) -> None:
        now = time.monotonic()
        if now - self._last_logged >= LOG_EVERY:
            self._last_logged = now
            logger.warning("requestlog.write_failed", exc_info=error, extra={"waiting": len(self._queue)})


def _write(batch: Sequence[RequestRecord]) -> int:
    refused = write_rows(batch)
    count_unmatched(batch)
    return refused


_writer = RequestLogWriter()


def submit(record: RequestRecord) -> None:
    """Have the process's writer write a row; never blocks or raises."""
    _writer.submit(record)


async def start() -> None:
    """Start the process's writer on this event loop."""
    await _writer.start()


async def stop(*, flush: bool = True) -> None:
    """Stop it, by default after writing what waits."""
    await _writer.stop(flush=flush)


def dropped() -> int:
    """Return how many rows this process has lost."""
    return _writer.dropped


def waiting() -> int:
    """Return how many rows wait to be written."""
    return _writer.waiting
