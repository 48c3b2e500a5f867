"""A database that does not answer costs no request: the gateway serves from memory, shows it, and catches up."""

import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from tests.faults.outage import PROVIDERS, THRESHOLD, ask, survive
from tests.site.processes import until
from tests.stage import Stage


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with Stage(tmp_path_factory.mktemp("faults"), **PROVIDERS) as running:
        yield running


@contextmanager
def locked(stage: Stage) -> Iterator[None]:
    """Somebody else's transaction holds the one lock for writing."""
    other = sqlite3.connect(stage.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@contextmanager
def full(stage: Stage) -> Iterator[None]:
    """No file of the gateway may grow: the nearest thing to a full disk that needs no rights."""
    pid, size = stage.gateway.process.pid, (stage.folder / "gateway.log").stat().st_size
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size + 16 * 1024, before[1]))  # room for what the log is to say
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("fault", [locked, full])
def test_a_database_in_trouble_costs_no_request_and_is_told_everything_later(
    running: Stage, fault: Callable[[Stage], AbstractContextManager[None]]
) -> None:
    running.calm()
    survive(running, fault(running))


def test_a_backup_put_in_place_while_serving_is_the_database_from_then_on(running: Stage) -> None:
    running.calm()
    backup = running.folder / "backup.sqlite3"
    with closing(sqlite3.connect(running.database)) as live, closing(sqlite3.connect(backup)) as copy:
        live.backup(copy)
    for ending in ("-wal", "-shm"):
        Path(f"{running.database}{ending}").unlink(missing_ok=True)
    backup.replace(running.database)

    running.control("primary-one", mode="error")
    assert {ask(running) for _ in range(THRESHOLD)} == {(200, "backup")}

    until(lambda: running.breaker("primary")["state"] == "OPEN")  # pages open the file anew each time
