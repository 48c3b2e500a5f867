"""Each process says every few seconds that it lives and how fresh its copies are, in one row for people to look at.

Written by a task of its own in a thread of its own: a database that is slow or away delays nothing else. A process that
ends takes its row with it; the row of one that was killed grows old, is shown as stale, and is deleted by the others.
"""

import asyncio
import contextlib
import logging
import os
import socket
import time
import uuid
from datetime import timedelta

from django.utils import timezone

from resilience.registry import get_registry
from resilience.state_thread import StateThread
from routing import lifecycle, requestlog, table
from routing.live import live
from routing.models import ServingProcess

logger = logging.getLogger(__name__)

BEAT_EVERY = 2.0  # s
FORGOTTEN_AFTER = timedelta(minutes=10)
"""A row that old is deleted: whoever wrote it is dead, or will write it again."""
TIDY_EVERY = 30  # beats
LOG_EVERY = 60.0  # s

Values = dict[str, object]


class Heart:
    """The beat of one process on one event loop."""

    def __init__(self, role: str) -> None:
        self.id = uuid.uuid4().hex
        self._role = role
        self._started_at = timezone.now()
        self._thread = StateThread()
        self._task: asyncio.Task[None] | None = None
        self._beats = 0
        self._last_logged = -LOG_EVERY

    def start(self) -> None:
        """Begin to beat."""
        self._task = asyncio.create_task(self._keep_beating(), name="heartbeat")

    async def stop(self) -> None:
        """End, and take the row away."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        with contextlib.suppress(Exception):  # the others will delete it
            await self._thread.run(lambda: _forget(self.id))
        await self._thread.stop()

    async def beat(self) -> None:
        """Write the row as things are now. Raises `django.db.Error`."""
        values = self._values()
        tidy = self._beats % TIDY_EVERY == 0
        self._beats += 1
        await self._thread.run(lambda: _write(values, tidy=tidy))

    async def _keep_beating(self) -> None:
        while True:
            try:
                await self.beat()
            except Exception as error:  # noqa: BLE001 (whatever it is, the next beat may do better)
                self._log_failure(error)
            await asyncio.sleep(BEAT_EVERY)

    def _values(self) -> Values:
        registry, routes = get_registry(), table.current()
        health = registry.health
        return {
            "id": self.id,
            "host": socket.gethostname()[:255],
            "pid": os.getpid(),
            "role": self._role,
            "started_at": self._started_at,
            "beat_at": timezone.now(),
            "synced_at": health.last_sync_at,
            "state_version": registry.version,
            "table_version": routes.version,
            "table_loaded_at": routes.loaded_at if table.is_loaded() else None,
            "in_flight": sum(live.in_flight.values()),
            "database_ok": health.database_ok,
            "backlog": health.backlog,
            "log_waiting": requestlog.waiting(),
            "log_dropped": requestlog.dropped(),
            "draining": lifecycle.draining(),
        }

    def _log_failure(self, error: Exception) -> None:
        now = time.monotonic()
        if now - self._last_logged >= LOG_EVERY:
            self._last_logged = now
            logger.warning("heartbeat.failed", extra={"error": type(error).__name__})


def _write(values: Values, *, tidy: bool) -> None:
    changing = [name for name in values if name != "id"]
    ServingProcess.objects.bulk_create(
        [ServingProcess(**values)], update_conflicts=True, unique_fields=["id"], update_fields=changing
    )
    if tidy:
        ServingProcess.objects.filter(beat_at__lt=timezone.now() - FORGOTTEN_AFTER).delete()


def _forget(process_id: str) -> None:
    ServingProcess.objects.filter(pk=process_id).delete()


_heart: Heart | None = None


async def start(role: str) -> None:
    """Have this process beat on this event loop, as what `serve --role` says it is."""
    global _heart  # noqa: PLW0603 (one per process)
    _heart = Heart(role)
    _heart.start()


async def stop() -> None:
    """End it."""
    global _heart
    heart, _heart = _heart, None
    if heart is not None:
        await heart.stop()


def here() -> str:
    """The id of this very process, empty if it does not beat."""
    return _heart.id if _heart else ""
