"""Real gateway processes for tests: started, spoken to over HTTP, stopped by signals."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 60.0  # s; a slow machine starts Django in a few
KEY = "sk-or-process-test-key-0123456789"
READY = re.compile(r"^omniroute ready http://127\.0\.0\.1:(\d+) role=(\w+) workers=(\d+)$", re.MULTILINE)


def environment(database: Path, **more: str) -> dict[str, str]:
    """Nothing from this machine but what finds programs."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if name in os.environ}
    return inherited | {
        "SECRET_KEY": "test-secret-key-of-no-value-0123456789abcdef",
        "ENCRYPTION_KEY": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
        "DATABASE_URL": f"sqlite:///{database}",
        "REDIS_URL": "",
        "DEBUG": "false",
        "DEMO_CLIENT_KEY": KEY,
        "PYTHONUNBUFFERED": "1",
        **more,
    }


def manage(*arguments: str, database: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `manage.py` to its end."""
    command = [sys.executable, "manage.py", *arguments]
    env = environment(database, **more)
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)


PREPARE = """
import sys, django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0, interactive=False)
call_command("config", "apply", sys.argv[1])
"""


def prepare(config: Path, *, database: Path, **more: str) -> None:
    """Migrate and apply a configuration, in one process: starting Django is what takes the time."""
    env = environment(database, DJANGO_SETTINGS_MODULE="omniroute_site.settings", **more)
    command = [sys.executable, "-c", PREPARE, str(config)]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


class Server:
    """`manage.py COMMAND`, awaited until it says that it is ready; killed at the end whatever happened."""

    def __init__(self, *arguments: str, database: Path, log: Path, **more: str) -> None:
        self._arguments = arguments
        self._environment = environment(database, **more)
        self.log = log
        self.port = 0
        self._connections: list[http.client.HTTPConnection] = []

    def __enter__(self) -> Self:
        command = [sys.executable, "manage.py", *self._arguments]
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self._environment, stdout=output, stderr=output, start_new_session=True
            )
        try:
            self.port = int(self._await_ready())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        for connection in self._connections:
            connection.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()

    def _await_ready(self) -> str:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = READY.search(self.output())
            if found:
                return found[1]
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"not ready: {self.output()[-2000:]}")

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait; the exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def connect(self) -> http.client.HTTPConnection:
        """A connection that is closed at the end."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        self._connections.append(connection)
        return connection

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        """One request on a connection of its own."""
        connection = self.connect()
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        status, body = answer.status, answer.read()
        connection.close()
        return status, body

    def ask(self, connection: http.client.HTTPConnection, model: str = "gpt-4o", **members: Any) -> None:
        """Send a chat request; the caller reads the answer."""
        body = json.dumps({"model": model, "messages": [{"role": "user", "content": "Hello"}], **members})
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        connection.request("POST", "/v1/chat/completions", body, headers)


def children(pid: int) -> list[int]:
    """Direct child processes (Linux)."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found.append(int(entry.name))
    return found


def gone(pids: Iterable[int], within: float = 15.0) -> bool:
    """Whether all these processes ended in time."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if not any(_alive(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def _alive(pid: int) -> bool:
    try:
        state = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def chat(server: Server) -> tuple[int, str]:
    """Ask once; the status and the provider that answered."""
    connection = server.connect()
    server.ask(connection)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers.get("x-omniroute-provider", "")


def breaker(server: Server, provider: str = "primary") -> dict[str, Any]:
    """The breaker as the state API shows it."""
    body = server.get(f"/api/resilience/breakers/{provider}/", Authorization=f"Bearer {KEY}")[1]
    return dict(json.loads(body))


def until(condition: Callable[[], bool], within: float = 30.0) -> None:
    """Wait for what another process does; fails if it does not."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
