from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync

from resilience import registry as registries
from resilience.registry import Registry
from routing import lifecycle, logrow, table
from routing.egress import Egress
from routing.live import Live
from routing.requestlog import RequestRecord

from .harness import Gateway


@pytest.fixture
def gateway(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    registry = Registry()
    records: list[RequestRecord] = []
    monkeypatch.setattr(registries, "_registry", registry)
    monkeypatch.setattr(logrow.requestlog, "submit", records.append)
    monkeypatch.setattr("routing.proxy.live", Live())
    monkeypatch.setattr("routing.attempt.egress", Egress())
    before = table.current()
    yield Gateway(registry, records)
    table.swap(before)
    lifecycle.reset()
    async_to_sync(registry.thread.stop)()
