"""`manage.py serve` as a process: ready line, drain, workers, and how it refuses to start."""

import json
import os
import shutil
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from routing.simulator import Simulator
from tests.site.processes import KEY, Server, chat, children, gone, manage, prepare, until
from tests.site.simulation import PRIMARY, configuration, running


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    """The simulated providers in a thread of this process."""
    with running() as simulator:
        yield simulator


@pytest.fixture(scope="module")
def template(simulator: Simulator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database with two providers behind the simulator."""
    folder = tmp_path_factory.mktemp("serve")
    database = folder / "template.sqlite3"
    config = folder / "config.yaml"
    config.write_text(configuration(simulator, KEY))
    prepare(config, database=database)
    return database


@pytest.fixture
def database(template: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "db.sqlite3"
    shutil.copy(template, copy)
    return copy


def test_serve_answers_and_drains(simulator: Simulator, database: Path, tmp_path: Path) -> None:
    """The life of one process: everything it serves, then SIGTERM with a request under way."""
    with Server("serve", "--port", "0", database=database, log=tmp_path / "log") as server:
        assert f"omniroute ready http://127.0.0.1:{server.port} role=all workers=1\n" in server.output()
        assert server.get("/healthz")[0] == 200
        assert server.get("/readyz")[0] == 200
        assert server.get("/static/admin/css/base.css")[0] == 200
        assert server.get("/static/../omniroute_site/settings.py")[0] in (400, 404)
        assert server.get("/api/docs")[0] == 200
        assert server.get("/")[0] in (200, 302)
        status, text = server.get("/metrics", Authorization=f"Bearer {KEY}")
        assert (status, b"omniroute_breaker_state" in text) == (200, True)

        slow, kept = server.connect(), server.connect()
        kept.request("GET", "/healthz")
        kept.getresponse().read()
        simulator.behave(PRIMARY, mode="ok", latency=1.5)
        server.ask(slow)
        until_upstream_has_it(simulator)
        text = server.get("/metrics", Authorization=f"Bearer {KEY}")[1]
        assert b'omniroute_calls_in_flight{connection="main",provider="primary"} 1.0\n' in text
        assert b"omniroute_permits 1.0\n" in text
        server.process.send_signal(signal.SIGTERM)
        until_refused(server.port)

        server.ask(kept)
        refused = kept.getresponse()
        assert (refused.status, refused.headers["Retry-After"]) == (503, "5")
        assert json.loads(refused.read())["error"]["code"] == "draining"
        answer = slow.getresponse()
        assert answer.status == 200
        assert json.loads(answer.read())["choices"]
        assert server.process.wait(10) == 0


def test_a_stream_under_way_is_finished_before_the_end(simulator: Simulator, database: Path, tmp_path: Path) -> None:
    with Server("serve", "--port", "0", database=database, log=tmp_path / "log") as server:
        simulator.behave(PRIMARY, mode="ok", gap=0.05, words=20)
        connection = server.connect()
        server.ask(connection, stream=True)
        answer = connection.getresponse()
        answer.readline()
        server.process.send_signal(signal.SIGTERM)

        assert b"data: [DONE]" in answer.read()
        assert server.process.wait(10) == 0


def test_what_outlasts_the_drain_is_told_so(simulator: Simulator, database: Path, tmp_path: Path) -> None:
    with Server("serve", "--port", "0", database=database, log=tmp_path / "log", DRAIN_SECONDS="1") as server:
        simulator.behave(PRIMARY, mode="ok", latency=30)
        connection = server.connect()
        server.ask(connection)
        until_upstream_has_it(simulator)

        assert server.stop() == 0
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["error"]["code"]) == (503, "draining")


def test_workers_count_together_are_replaced_and_drain_together(
    simulator: Simulator, database: Path, tmp_path: Path
) -> None:
    arguments = ("serve", "--port", "0", "--workers", "2")
    with Server(*arguments, database=database, log=tmp_path / "log") as server:
        simulator.behave(PRIMARY, mode="ok")
        assert [chat(server) for _ in range(6)] == [(200, "primary")] * 6
        text = server.get("/metrics", Authorization=f"Bearer {KEY}")[1].decode()
        counts = [line for line in text.splitlines() if line.startswith("omniroute_requests_total{")]
        assert sum(float(line.rpartition(" ")[2]) for line in counts if 'outcome="answered"' in line) == 6

        killed = children(server.process.pid)[0]
        os.kill(killed, signal.SIGKILL)
        until(lambda: "a worker died" in server.output())
        until(lambda: len(children(server.process.pid)) == 2 and killed not in children(server.process.pid))
        assert chat(server) == (200, "primary")

        workers = children(server.process.pid)
        assert server.stop(signal.SIGINT) == 0
        assert gone(workers, within=1)


def test_a_worker_killed_while_it_starts_takes_nobody_along(
    database: Path, simulator: Simulator, tmp_path: Path
) -> None:
    arguments = ("serve", "--port", "0", "--workers", "2")
    with Server(*arguments, database=database, log=tmp_path / "log") as server:
        simulator.behave(PRIMARY, mode="ok")
        first = set(children(server.process.pid))
        os.kill(min(first), signal.SIGKILL)
        until(lambda: len(set(children(server.process.pid)) - first) == 1)
        (starting,) = set(children(server.process.pid)) - first
        os.kill(starting, signal.SIGKILL)
        until(lambda: "a worker could not start" in server.output())

        assert chat(server) == (200, "primary")
        until(lambda: len(set(children(server.process.pid)) - {*first, starting}) == 1)


def test_workers_never_outlive_their_parent(database: Path, tmp_path: Path) -> None:
    arguments = ("serve", "--port", "0", "--workers", "2")
    with Server(*arguments, database=database, log=tmp_path / "log") as server:
        workers = children(server.process.pid)
        server.process.kill()
        server.process.wait()

        assert gone(workers)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", server.port))


def test_a_taken_port_is_one_clear_line(database: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = manage("serve", "--port", str(port), database=database)

    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_database_that_is_not_migrated_is_refused(tmp_path: Path) -> None:
    done = manage("serve", "--port", "0", database=tmp_path / "empty.sqlite3")

    assert done.returncode == 1
    assert "manage.py migrate" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_secret_key_nothing_starts(database: Path) -> None:
    done = manage("serve", "--port", "0", database=database, SECRET_KEY="")

    assert done.returncode != 0
    assert "SECRET_KEY" in done.stderr
    assert "Traceback" not in done.stderr


def until_upstream_has_it(simulator: Simulator) -> None:
    until(lambda: any(entry.duration is None for entry in simulator.log.entries))


def until_refused(port: int) -> None:
    def refused() -> bool:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except ConnectionError:
            return True
        return False

    until(refused)
