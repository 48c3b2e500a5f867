"""What runs beside the requests, once per event loop: state sync, routing table poll, request log writer, heartbeat.

uvicorn tells us when to begin (ASGI lifespan); daphne does not, so the first request begins it there.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from omniroute_site.roles import Role
from resilience import sync
from routing import heartbeat, requestlog, table

logger = logging.getLogger(__name__)

FLUSH_TIMEOUT = 8.0  # s per part; a database that hangs must not keep the process from ending

_start: asyncio.Task[None] | None = None
_role = Role.ALL


class NoTableError(RuntimeError):
    """There is nothing to route by."""


def serve_as(role: Role) -> None:
    """Say what this process serves, for the row that it keeps of itself."""
    global _role  # noqa: PLW0603 (one per process)
    _role = role


def running() -> bool:
    """Whether everything has started; cheap enough to ask at each request."""
    return _start is not None and _start.done() and not _start.cancelled() and _start.exception() is None


def tasks() -> int:
    """How many asyncio tasks this process has; 0 before it has a loop. May be asked from any thread."""
    return 0 if _start is None else len(asyncio.all_tasks(_start.get_loop()))


async def ensure_started() -> None:
    """Start everything, once per event loop; whoever comes meanwhile waits for the same start.

    Raises whatever kept a part from starting; the next caller tries again.
    """
    global _start  # noqa: PLW0603 (one per process, like the loop)
    loop = asyncio.get_running_loop()
    failed = _start is not None and _start.done() and (_start.cancelled() or _start.exception() is not None)
    if _start is None or failed or _start.get_loop() is not loop:
        _start = loop.create_task(_start_all(), name="omniroute-start")
    await asyncio.shield(_start)


async def _start_all() -> None:
    # the table first: it says which providers there are and with which policies their state is read
    await table.start()
    if not table.is_loaded():  # by an empty table every client would be told that it has no key
        raise NoTableError("the routing table could not be loaded")
    await sync.start()
    await requestlog.start()
    await heartbeat.start(_role)


async def shutdown() -> None:
    """Stop everything and write what is still in memory: state before log rows, since state decides."""
    global _start  # noqa: PLW0603
    if _start is None:
        return
    _start = None
    for name, stop in (
        ("state", sync.stop),
        ("request log", requestlog.stop),
        ("routing table", table.stop),
        ("heartbeat", heartbeat.stop),
    ):
        await _stop(name, stop)


async def _stop(name: str, stop: Callable[[], Awaitable[None]]) -> None:
    try:
        await asyncio.wait_for(stop(), FLUSH_TIMEOUT)
    except Exception:
        logger.exception("could not stop cleanly", extra={"part": name})
