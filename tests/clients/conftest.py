from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stage import Stage


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder: Path = tmp_path_factory.mktemp("stage")
    with Stage(folder) as running:
        yield running
