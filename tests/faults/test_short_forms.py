"""The long proofs (`make faults`) for as long as a test may take."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from tests.faults.kills import kill
from tests.faults.soak import soak
from tests.faults.workers import kill_workers
from tests.services.postgres import Postgres

pytestmark = pytest.mark.services


@contextmanager
def sqlite() -> Iterator[str]:
    yield ""


@contextmanager
def postgres() -> Iterator[str]:
    with Postgres() as server:
        yield server.url


@pytest.mark.parametrize("database", [sqlite, postgres])
def test_kill_9_undoes_nothing_that_a_client_saw(database) -> None:
    with database() as url:
        done = kill(2, database_url=url)
    assert done.lost == []
    assert done.transitions_seen


def test_a_worker_killed_costs_nobody_what_it_knew() -> None:
    done = kill_workers(3, workers=2)
    assert done.lost == []
    assert done.transitions_seen


def test_traffic_of_every_kind_leaves_nothing_behind() -> None:
    with ThreadPoolExecutor(1) as pool:  # the main thread may have a browser's event loop
        done = pool.submit(soak, 5, rest=1.5).result()
    assert [problem for problem in done.problems() if not problem.startswith("descriptors")] == []
    assert done.tally.endings["200"]
