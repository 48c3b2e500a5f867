"""A PostgreSQL of a test's own, which may be stopped, stalled and started again."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.bench.processes import family, free_port

OPTIONS = "-c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c max_connections=50"


def programs() -> Path | None:
    """The newest PostgreSQL installed here."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    return found[-1] if found else None


class Postgres:
    """`with Postgres() as postgres:` a cluster of its own, as whoever we are or, for root, as postgres."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="omniroute-postgres-"))
        if os.getuid() == 0:
            shutil.chown(self._folder, "postgres")
        self._run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        try:
            self.go_on()
            self._run("pg_ctl", "stop", "-m", "immediate", "-s", check=False)
        finally:
            shutil.rmtree(self._folder)

    def start(self) -> None:
        log = str(self._folder / "log")
        self._run("pg_ctl", "start", "-w", "-s", "-l", log, "-o", f"-p {self.port} {OPTIONS}")

    def stop(self) -> None:
        """As a machine that loses its power; connections break."""
        self._run("pg_ctl", "stop", "-m", "immediate", "-w", "-s")

    def stall(self) -> None:
        """It takes connections, and says nothing any more."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def configure(self, name: str, value: str) -> None:
        """Set an option of the running server, for connections that there are as well."""
        options = self._folder / "postgresql.auto.conf"
        options.write_text(f"{name} = {value}\n")
        self._run("pg_ctl", "reload", "-s")

    def _signal(self, number: int) -> None:
        pid_file = self._folder / "postmaster.pid"
        if pid_file.exists():
            for pid in family(int(pid_file.read_text().split()[0])):
                os.kill(pid, number)

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        bin_folder = programs()
        assert bin_folder, "PostgreSQL is not installed; .ci/run does that"
        command = [str(bin_folder / program), "-D", str(self._folder), *arguments]
        if os.getuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(command, cwd="/", check=check, stdout=subprocess.DEVNULL)
