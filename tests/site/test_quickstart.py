"""`make run`: the first time makes everything, the second time nothing; ended, it leaves nothing behind."""

import json
import os
import re
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.processes import free_port
from tests.site.processes import KEY, ROOT, Server, children, gone, manage, until


def rows(database: Path, table: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(database) as connection:
        return connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()  # noqa: S608 (our own table names)


def test_the_first_run_makes_everything_and_the_second_nothing(tmp_path: Path) -> None:
    database = tmp_path / "db.sqlite3"
    arguments = ("quickstart", "--port", "0", "--simulator-port", str(free_port()))

    with Server(*arguments, database=database, log=tmp_path / "first") as server:
        first = wait_for_hello(server)
        login = re.search(r"login +admin / (\S+) ", first)
        assert login
        assert f"dashboard   http://127.0.0.1:{server.port}/" in first
        assert f"client key  {KEY}" in first
        assert run_the_curl_line(first)["choices"]
        simulators = children(server.process.pid)
        assert server.stop(signal.SIGTERM) == 0
        assert gone(simulators, within=5)

    before = {table: rows(database, table) for table in TABLES}
    with Server(*arguments, database=database, log=tmp_path / "second") as server:
        second = wait_for_hello(server)
        assert "password as printed on the first run" in second
        assert login[1] not in second
        assert run_the_curl_line(second)["choices"]
        simulators = children(server.process.pid)
        server.process.kill()  # as if make had been killed: nobody is left to tidy up
        server.process.wait()
        assert gone(simulators)

    assert {table: rows(database, table) for table in TABLES} == before


TABLES = ("auth_user", "routing_provider", "routing_connection", "routing_fallbackchain", "routing_clientkey")


def wait_for_hello(server: Server) -> str:
    until(lambda: "Content-Type: application/json" in server.output())
    return server.output()


def run_the_curl_line(hello: str) -> dict[str, object]:
    command = hello[hello.index("curl ") :].split("\n\n", maxsplit=1)[0]
    command = command[: command.index("}'") + 2] if "]}'" not in command else command[: command.index("]}'") + 3]
    done = subprocess.run(["/bin/sh", "-c", f"{command} -s"], capture_output=True, text=True, timeout=30, check=True)
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_demo_reset_brings_the_demo_back(tmp_path: Path) -> None:
    database = tmp_path / "db.sqlite3"
    first = manage("quickstart", "--reset", database=database)
    with sqlite3.connect(database) as connection:
        connection.execute("DELETE FROM routing_fallbackentry")

    second = manage("quickstart", "--reset", database=database)

    assert (first.returncode, second.returncode) == (0, 0), second.stderr
    assert "admin / " in second.stdout
    assert rows(database, "routing_fallbackentry")
    assert rows(database, "auth_group")


def test_a_taken_port_is_said_before_anything_is_made(tmp_path: Path) -> None:
    database = tmp_path / "db.sqlite3"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = manage("quickstart", "--port", str(port), database=database)

    assert done.returncode == 1
    assert f"make run PORT={port + 1}" in done.stderr
    assert "Traceback" not in done.stderr
    assert not database.exists() or not database.stat().st_size


def test_secrets_are_written_once_for_their_owner_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from omniroute_site import bootstrap

    monkeypatch.setattr(bootstrap, "ENV_FILE", tmp_path / ".env")
    bootstrap.write_env_file()
    text = (tmp_path / ".env").read_text()
    bootstrap.write_env_file()

    assert (tmp_path / ".env").read_text() == text
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert [line.split("=")[0] for line in text.splitlines()[1:]] == ["SECRET_KEY", "ENCRYPTION_KEY", "DEMO_CLIENT_KEY"]


def test_unchanged_pins_install_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from omniroute_site import bootstrap

    calls: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(subprocess, "run", run)
    for _ in range(2):
        bootstrap.install(bootstrap.PINS)

    assert len(calls) == 1
    assert "--require-hashes" in calls[0]


def test_bootstrap_needs_nothing_installed() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "omniroute_site/bootstrap.py", "--help"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert done.returncode == 0, done.stderr
