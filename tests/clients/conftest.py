from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stage import Stage


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder: Path = tmp_path_factory.mktemp("stage")
    with Stage(folder) as stage:
        yield stage


@pytest.fixture
def stage(running: Stage) -> Stage:
    """One gateway for all clients, at rest before each test."""
    running.calm()
    return running
