"""Failures that people reported of gateways, each played from provider to client over real sockets."""

from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync

from routing.job import Job
from tests.routing.engine.harness import Gateway

from .judge import judge
from .play import Play
from .rows import Row, load_rows

ROWS = load_rows()


@pytest.fixture
def old_registries(gateway: Gateway) -> Iterator[list]:
    """Of gateways that were restarted within a row; their threads end with the test."""
    registries: list = []
    yield registries
    for registry in registries:
        if registry is not gateway.registry:
            async_to_sync(registry.thread.stop)()


def test_no_two_rows_have_one_id() -> None:
    names = [row.row["id"] for row in ROWS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_row(row: Row, gateway: Gateway, old_registries: list, monkeypatch: pytest.MonkeyPatch) -> None:
    play = Play(row)
    monkeypatch.setattr(Job, "now", property(lambda job: play.now()))
    async_to_sync(play.run)()
    problems = judge(play)
    old_registries += play.old_registries
    assert not problems, "\n".join([str(row), *problems])
    assert gateway.permits == 0
