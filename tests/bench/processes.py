"""Child processes: pinned to a core, waited for, measured through /proc, stopped by their pid."""

import os
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
RESIDENT = re.compile(r"^VmRSS:\s+(\d+)", re.MULTILINE)
STOP_AFTER = 15.0  # s between SIGTERM and SIGKILL
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never through a proxy of the environment


class BenchError(Exception):
    """The measurement cannot go on; the message says what to do."""


def require(program: str, package: str) -> str:
    """The path of a program. Raises BenchError naming the package that brings it."""
    path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if path is None:
        raise BenchError(f"{program} is not installed: apt-get install {package}")
    return path


def free_port() -> int:
    """A port nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def pinned(command: Sequence[str], core: int) -> list[str]:
    """The command, kept on one core where that means something."""
    if shutil.which("taskset") is None or (os.cpu_count() or 1) < 2:
        return list(command)
    return ["taskset", "-c", str(core), *command]


@dataclass(slots=True)
class Child:
    """A running process with its descendants."""

    name: str
    process: subprocess.Popen[bytes]
    log_path: Path

    def require_alive(self) -> None:
        """Raises BenchError with the end of the process's output if it has died."""
        if self.process.poll() is not None:
            tail = self.log_path.read_text(errors="replace")[-3000:]
            raise BenchError(f"{self.name} ended with code {self.process.returncode}:\n{tail}")

    def stop(self) -> None:
        """SIGTERM, then SIGKILL if it does not listen."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_AFTER)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    @property
    def pid(self) -> int:
        """Of the process itself."""
        return self.process.pid


@dataclass(slots=True)
class Children:
    """All that a run started; leaving the block stops them, the last started first."""

    folder: Path
    started: list[Child] = field(default_factory=list)

    def start(self, name: str, command: Sequence[str], *, core: int, env: Mapping[str, str] | None = None) -> Child:
        """Start a command on a core, its output going to a file. In a session of its own, so that ^C reaches us alone."""
        log_path = self.folder / f"{name}.log"
        with log_path.open("wb") as log:
            process = subprocess.Popen(
                pinned(command, core),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=dict(os.environ if env is None else env),
                start_new_session=True,
            )
        child = Child(name, process, log_path)
        self.started.append(child)
        return child

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self.started:
            self.started.pop().stop()


def wait_until_answering(child: Child, url: str, seconds: float = 60.0) -> None:
    """Wait for a 2xx at `url`. Raises BenchError if the process dies or takes too long."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        child.require_alive()
        with suppress(OSError, urllib.error.URLError), OPENER.open(url, timeout=2) as answer:
            if 200 <= answer.status < 300:
                return
        time.sleep(0.05)
    raise BenchError(f"{child.name} does not answer at {url} after {seconds:g} s; see {child.log_path}")


def family(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for parent in found:  # grows while it is walked
        for path in Path(f"/proc/{parent}/task").glob("*/children"):
            with suppress(OSError):
                found += [int(child) for child in path.read_text().split()]
    return found


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and its descendants so far; the kernel counts in ticks of 10 ms."""
    ticks = 0
    for member in family(pid):
        with suppress(OSError):
            fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])  # utime and stime, fields 14 and 15 of proc(5)
    return ticks / CLOCK_TICKS


def rss_megabytes(pid: int) -> float:
    """Resident memory of a process and its descendants, in units of 1,000,000 bytes."""
    kilobytes = 0
    for member in family(pid):
        with suppress(OSError):
            if found := RESIDENT.search(Path(f"/proc/{member}/status").read_text()):
                kilobytes += int(found[1])
    return kilobytes * 1024 / 1_000_000
