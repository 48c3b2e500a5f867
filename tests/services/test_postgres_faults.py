"""A PostgreSQL that stops, or says nothing any more, costs no request either."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.faults.outage import PROVIDERS, ask, survive
from tests.services.postgres import Postgres
from tests.site.processes import children, until
from tests.stage import Stage

pytestmark = pytest.mark.services


@contextmanager
def stopped(postgres: Postgres) -> Iterator[None]:
    postgres.stop()
    yield
    postgres.start()


@contextmanager
def stalled(postgres: Postgres) -> Iterator[None]:
    postgres.stall()
    yield
    postgres.go_on()


@contextmanager
def replica(postgres: Postgres) -> Iterator[None]:
    """It answers, and takes no writes: what it is after the wrong failover."""
    postgres.configure("default_transaction_read_only", "on")
    yield
    postgres.configure("default_transaction_read_only", "off")


@pytest.mark.parametrize(("outage", "shown"), [(stopped, True), (stalled, False), (replica, True)])
def test_a_database_server_in_trouble_costs_no_request_and_is_told_everything_later(
    tmp_path: Path, outage: Callable[[Postgres], AbstractContextManager[None]], shown: bool
) -> None:
    with Postgres() as postgres, Stage(tmp_path, database_url=postgres.url, **PROVIDERS) as stage:
        survive(stage, outage(postgres), shown=shown)


def test_a_worker_that_starts_while_the_database_is_away_refuses_nobody(tmp_path: Path) -> None:
    with Postgres() as postgres, Stage(tmp_path, database_url=postgres.url, workers=2) as stage:
        with stopped(postgres):
            os.kill(children(stage.gateway.process.pid)[0], signal.SIGKILL)
            until(lambda: "a worker could not start" in stage.gateway.output())
            assert {ask(stage) for _ in range(20)} == {(200, "primary")}
        assert ask(stage) == (200, "primary")
