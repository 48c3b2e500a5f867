"""A PostgreSQL that stops, or says nothing any more, costs no request either."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.faults.outage import PROVIDERS, survive
from tests.services.postgres import Postgres
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


@pytest.mark.parametrize(("outage", "shown"), [(stopped, True), (stalled, False)])
def test_a_database_server_in_trouble_costs_no_request_and_is_told_everything_later(
    tmp_path: Path, outage: Callable[[Postgres], AbstractContextManager[None]], shown: bool
) -> None:
    with Postgres() as postgres, Stage(tmp_path, database_url=postgres.url, **PROVIDERS) as stage:
        survive(stage, outage(postgres), shown=shown)
