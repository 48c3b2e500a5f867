"""uvicorn's server, draining the way the contract says, and the one place that configures it."""

import asyncio
import gc
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn
from django.conf import settings

from omniroute_site.serving.protocol import GatewayProtocol
from routing import lifecycle

TICK = 0.05  # s between looks while draining
LATE_ARRIVALS = 0.3  # s; a request already on its way on a kept-alive connection gets its 503 instead of a reset
LAST_WORDS = 2.0  # s for a cancelled request to say so to its client and to give its permit back
KEEP_ALIVE = 75  # s, longer than clients keep theirs, so that they close first


class DrainingServer(uvicorn.Server):
    """Stops in three steps: refuse what is new, finish what runs, flush what is left.

    SIGTERM or SIGINT: the listening socket closes, dashboards' sockets close, requests that still arrive on
    kept-alive connections are refused with 503 `draining`, running ones have `drain_for` seconds. A second SIGINT
    ends at once. The process ends with status 0; uvicorn's own server would end by the signal.
    """

    def __init__(self, config: uvicorn.Config, *, drain_for: float, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._drain_for = drain_for
        self._on_ready = on_ready

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Remember that the end was asked for; do not raise the signal again afterwards."""
        del frame
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Say so once requests are accepted."""
        await super().startup(sockets=sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, cancel what is left, then let uvicorn run the application's own shutdown."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        lifecycle.begin_drain()
        for server in self.servers:
            server.close()
        for sock in sockets or []:
            sock.close()
        for connection in list(self.server_state.connections):
            if not _is_http(connection):
                connection.shutdown()
        while not self.force_exit:
            waited = loop.time() - begun
            if waited >= self._drain_for or (waited >= LATE_ARRIVALS and not self._busy()):
                break
            await asyncio.sleep(TICK)
        await self._end_requests()
        # what is idle is closed now; nothing is left to wait for but uvicorn's own bookkeeping
        self.config.timeout_graceful_shutdown = 1
        await super().shutdown(sockets=sockets)

    async def _end_requests(self) -> None:
        """Cancel what still runs, and let it give its permits back before the state is flushed."""
        tasks = set(self.server_state.tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=LAST_WORDS)

    def _busy(self) -> bool:
        return bool(self.server_state.tasks)


def _is_http(connection: Any) -> bool:
    return hasattr(connection, "cycle")


def run(application: Any, sock: socket.socket, *, on_ready: Callable[[DrainingServer], None]) -> bool:
    """Serve on a bound socket until told to stop; False if the application could not start."""
    config = uvicorn.Config(
        application,
        loop="uvloop",
        http=GatewayProtocol,
        lifespan="on",
        log_config=None,  # Django's LOGGING is in force
        access_log=False,  # the request log has what happened, at a tenth of the cost
        proxy_headers=False,  # only pages look at the client's address: see asgi.py
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
    )
    server = DrainingServer(config, drain_for=settings.DRAIN_SECONDS, on_ready=lambda: on_ready(server))
    _spare_the_collector()
    try:
        server.run(sockets=[sock])
    except SystemExit:  # uvicorn's way to say that the lifespan failed; the reason is in the log
        return False
    return server.started


def _spare_the_collector() -> None:
    """Leave what start-up made out of garbage collection, and collect less often.

    Under load Python's cycle collector looked through all of Django again and again: a tenth of the CPU. Requests
    leave few cycles behind, and `make bench` watches the memory.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
