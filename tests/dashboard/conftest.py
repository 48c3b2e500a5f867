"""Providers, state, requests and people to look at."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from resilience.core.cooldown import Cooldown
from resilience.core.kinds import Kind
from resilience.core.lockout import Lockout
from resilience.core.state import Breaker, State
from routing.ids import uuid7_floor
from routing.models import Connection, FallbackChain, FallbackEntry, Provider, RequestLog, ServingProcess
from tests.state import write

Write = Callable[..., None]


def user(name: str, *groups: str, **more: Any) -> User:
    made = User.objects.create_user(name, password="pass", **more)
    made.groups.set(Group.objects.filter(name__in=groups))
    return made


def logged_in(person: User) -> Client:
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def operator(db: None) -> Client:
    return logged_in(user("alice", "operators", is_staff=True))


@pytest.fixture
def viewer(db: None) -> Client:
    return logged_in(user("victor", "viewers"))


def add_provider(slug: str, *connections: str, **more: Any) -> Provider:
    provider = Provider.objects.create(slug=slug, base_url=f"https://{slug}.example/v1", **more)
    for position, name in enumerate(connections or ("main",)):
        Connection.objects.create(provider=provider, slug=name, priority=position)
    return provider


@pytest.fixture
def fleet(db: None) -> FallbackChain:
    """Three providers behind one chain."""
    chain = FallbackChain.objects.create(model="gpt-4o")
    models = {"openai": "gpt-4o", "anthropic": "claude-sonnet-4", "groq": "llama-3.3-70b"}
    for position, (slug, model) in enumerate(models.items()):
        provider = add_provider(slug, "main", "batch") if slug == "openai" else add_provider(slug)
        FallbackEntry.objects.create(chain=chain, provider=provider, model=model, priority=position)
    return chain


def opened(provider: str = "openai", seconds: float = 24, **more: Any) -> Breaker:
    now = timezone.now()
    values: dict[str, Any] = {
        "failure_count": 5,
        "last_failure_kind": Kind.TRANSIENT,
        "last_failure_message": "The engine is currently overloaded",
        "last_failure_at": now,
        "opened_at": now,
        "retry_at": now + timedelta(seconds=seconds),
        "generation": 1,
    }
    return Breaker(provider, State.OPEN, **(values | more))


def cooling(provider: str, connection: str, seconds: float = 51) -> Cooldown:
    now = timezone.now()
    return Cooldown(
        provider, connection, Kind.RATE_LIMIT, now + timedelta(seconds=seconds), now, now, 1, "retry-after header"
    )


def locked(provider: str, connection: str, model: str, seconds: float = 96) -> Lockout:
    now = timezone.now()
    return Lockout(provider, connection, model, (now,), Kind.TIMEOUT, now, now + timedelta(seconds=seconds), now, 1)


@pytest.fixture
def on_fire(fleet: FallbackChain) -> FallbackChain:
    """The first provider open, the second with a connection cooling, the third with a model locked."""
    write(
        breakers=(opened(),),
        cooldowns=(cooling("anthropic", "main"),),
        lockouts=(locked("groq", "main", "llama-3.3-70b"),),
    )
    return fleet


def attempt(provider: str = "openai", decision: str = "answered", **more: Any) -> dict[str, Any]:
    line = {"provider": provider, "connection": "main", "model": "gpt-4o", "decision": decision, "started": 0.0}
    return {**line, "headers": 0.1, "first_token": 0.4, "ended": 1.0, **more}


def log(at: datetime | None = None, targets: list[dict[str, Any]] | None = None, **more: Any) -> RequestLog:
    at = at or timezone.now() - timedelta(seconds=4)  # it took a second, and is over
    targets = [attempt()] if targets is None else targets
    number = RequestLog.objects.count()
    values: dict[str, Any] = {
        "id": UUID(int=uuid7_floor(at).int | number), "started_at": at, "chain": "gpt-4o", "requested_model": "gpt-4o",
        "key_name": "my-app", "client_format": "openai", "stream": False, "outcome": "answered", "status": 200,
        "code": "", "provider": "openai", "connection": "main", "model": "gpt-4o", "attempts": 1, "fallback": False,
        "emergency": False, "targets_json": orjson.dumps(targets).decode(), "duration": 1.0, "first_token": 0.4,
        "overhead": 0.0009, "input_tokens": 12, "output_tokens": 34, "cached_tokens": None, "reasoning_tokens": None,
        "cost": None, "error": "",
    }  # fmt: skip
    return RequestLog.objects.create(**(values | more))


def add_process(name: str = "one", *, silent: float = 0.5, lag: float | None = 0.4, **more: Any) -> ServingProcess:
    now = timezone.now()
    beat_at = now - timedelta(seconds=silent)
    values: dict[str, Any] = {
        "id": name, "host": "gateway-1", "pid": 4242, "role": "all", "started_at": now - timedelta(hours=3),
        "beat_at": beat_at, "synced_at": None if lag is None else beat_at - timedelta(seconds=lag),
        "state_version": 12, "table_version": 2**60, "table_loaded_at": now, "in_flight": 3, "database_ok": True,
        "backlog": 0, "log_waiting": 2, "log_dropped": 0, "draining": False,
    }  # fmt: skip
    return ServingProcess.objects.create(**(values | more))
