"""PostgreSQL and Redis as `.ci/run` starts them, and gateways on them."""

import os
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from routing.simulator import Simulator
from tests.site.processes import KEY, Server, prepare
from tests.site.simulation import configuration, running


@pytest.fixture(scope="session")
def redis_url() -> str:
    """A Redis that may be filled with anything."""
    url = os.environ.get("REDIS_TEST_URL", "")
    assert url, "REDIS_TEST_URL is not set; .ci/run starts a Redis and sets it"
    return url


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A database of its own on the PostgreSQL that PG_TEST_URL names, dropped at the end."""
    server = os.environ.get("PG_TEST_URL", "")
    assert server, "PG_TEST_URL is not set; .ci/run starts a PostgreSQL and sets it"
    name = f"omniroute_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server.replace("postgres://", "postgresql://"), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
    with psycopg.connect(server.replace("postgres://", "postgresql://"), autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    """The simulated providers in a thread of this process."""
    with running() as simulator:
        yield simulator


@pytest.fixture(scope="session")
def configured(postgres_url: str, simulator: Simulator, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The database, migrated, with two providers behind the simulator."""
    config = tmp_path_factory.mktemp("services") / "config.yaml"
    config.write_text(configuration(simulator, KEY))
    prepare(config, database=Path(), DATABASE_URL=postgres_url)
    return postgres_url


@pytest.fixture(scope="session")
def gateways(configured: str, redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    """Two processes on one PostgreSQL and one Redis: three workers, and one more alone."""
    logs = tmp_path_factory.mktemp("gateways")
    with ExitStack() as stack:
        started = []
        for name, workers in (("many", "3"), ("one", "1")):
            arguments = ("serve", "--port", "0", "--workers", workers)
            more = {"DATABASE_URL": configured, "REDIS_URL": redis_url}
            server = Server(*arguments, database=Path(), log=logs / name, **more)
            started.append(stack.enter_context(server))
        yield started
