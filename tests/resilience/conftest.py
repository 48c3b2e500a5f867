"""A registry of its own for each test, and the few values that all of them use."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from resilience import policies
from resilience import registry as registry_module
from resilience.core.policy import Policy
from resilience.registry import Registry

from .examples import POLICY


@pytest.fixture(autouse=True)
def configured(monkeypatch: pytest.MonkeyPatch) -> dict[str, Policy]:
    """The configured providers; a test may add to them."""
    found = {"openai": POLICY, "groq": POLICY}
    monkeypatch.setattr(policies, "_source", lambda: found)
    return found


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process has no registry yet; what asks for one gets a fresh one."""
    monkeypatch.setattr(registry_module, "_registry", None)


@pytest.fixture
def registry(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """The process's registry, fresh, without chance; its thread is ended after the test."""
    fresh = Registry(chance=lambda: 0.0)
    monkeypatch.setattr(registry_module, "_registry", fresh)
    yield fresh
    executor: ThreadPoolExecutor | None = fresh.thread._executor
    if executor is not None:
        executor.submit(lambda: connection.close()).result(timeout=10)
        executor.shutdown(wait=True)
