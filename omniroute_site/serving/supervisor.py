"""The parent of several workers: starts them on one socket, replaces those that die, passes the drain on.

Workers are fresh interpreters (no fork: Django, database drivers and threads dislike being copied). A worker that
ends before it was ready is started again if it was killed or others serve, else it ends the whole: its reason is logged.
"""

import logging
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from omniroute_site.roles import Role

logger = logging.getLogger(__name__)

RESTART_DELAY = 1.0  # s between two starts of workers that crash
END_MARGIN = 10.0  # s past the drain: uvicorn's bookkeeping and the last flush


@dataclass
class Worker:
    """One worker process and our end of its tether."""

    process: subprocess.Popen[bytes]
    tether: socket.socket
    ready: bool = False
    started_at: float = field(default_factory=time.monotonic)


class Supervisor:
    """Keeps `count` workers running until SIGTERM or SIGINT."""

    def __init__(self, role: Role, count: int, sock: socket.socket, *, drain_for: float) -> None:
        self.role = role
        self.count = count
        self.sock = sock
        self.drain_for = drain_for
        self.workers: list[Worker] = []
        self.stopping = False
        self.selector = selectors.DefaultSelector()
        self.metrics_dir = tempfile.mkdtemp(prefix="omniroute-metrics-")

    def run(self, on_ready: Callable[[], None]) -> int:
        """Exit status: 0 after a drain, 1 if a worker could not start and no other serves."""
        self._hear_signals()
        announced = False
        try:
            for _ in range(self.count):
                self._start()
            while not self.stopping:
                if not self._tend():
                    return 1
                if not announced and all(worker.ready for worker in self.workers):
                    on_ready()
                    announced = True
            return 0
        finally:
            self._end()
            shutil.rmtree(self.metrics_dir, ignore_errors=True)

    def _hear_signals(self) -> None:
        """Let a signal wake the selector at once, wherever it arrives."""
        wake, self._wakeup = socket.socketpair()
        for end in (wake, self._wakeup):
            end.setblocking(False)  # noqa: FBT003 (the standard library's signature)
        signal.set_wakeup_fd(self._wakeup.fileno(), warn_on_full_buffer=False)
        self.selector.register(wake, selectors.EVENT_READ, None)

        def stop(*_: object) -> None:
            self.stopping = True

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            fds = (self.sock.fileno(), theirs.fileno())
            process = subprocess.Popen(  # noqa: S603 (our own interpreter and module)
                [sys.executable, "-m", "omniroute_site.serving.worker", self.role, *map(str, fds)],
                pass_fds=fds,
                # every worker writes its counters there, so that a scrape of any of them shows all
                env=os.environ | {"PROMETHEUS_MULTIPROC_DIR": self.metrics_dir},
            )
        worker = Worker(process, ours)
        self.workers.append(worker)
        self.selector.register(ours, selectors.EVENT_READ, worker)

    def _tend(self) -> bool:
        """Wait for news of the workers; False if one could not start and no other serves."""
        for key, _ in self.selector.select():
            worker: Worker | None = key.data
            if worker is None:
                key.fileobj.recv(64)  # type: ignore[union-attr]  # ours are sockets
            elif worker.tether.recv(1):
                worker.ready = True
            elif not self.stopping and not self._replace(worker):
                return False
        return True

    def _replace(self, worker: Worker) -> bool:
        self._forget(worker)
        status = worker.process.wait()
        killed = status < 0  # which says nothing of the next one
        again = worker.ready or killed or any(other.ready for other in self.workers)
        logger.error(
            "a worker died" if worker.ready else "a worker could not start",
            extra={"pid": worker.process.pid, "status": status, "starting_another": again},
        )
        if not again:
            return False
        time.sleep(max(RESTART_DELAY - (time.monotonic() - worker.started_at), 0))
        self._start()
        return True

    def _forget(self, worker: Worker) -> None:
        self.selector.unregister(worker.tether)
        worker.tether.close()
        self.workers.remove(worker)

    def _end(self) -> None:
        """Drain the workers; whoever outlives the drain is killed."""
        self.sock.close()
        for worker in self.workers:
            worker.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + self.drain_for + END_MARGIN
        for worker in self.workers:
            try:
                worker.process.wait(max(deadline - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                logger.error("a worker did not end in time; killing it", extra={"pid": worker.process.pid})  # noqa: TRY400
                worker.process.kill()
                worker.process.wait()
