"""A gateway's rows, the keys of three scopes, and people of three ranks."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from resilience.registry import get_registry
from routing import table
from routing.crypto import hash_client_key
from routing.models import ClientKey, Connection, FallbackChain, FallbackEntry, Provider

KEYS = {"chat": "sk-or-chat-key-0123456789", "read": "sk-or-read-key-0123456789", "operate": "sk-or-act-key-0123456789"}


@pytest.fixture
def gateway(db: None) -> None:
    """Two providers, one chain, a key per scope."""
    for scope, key in KEYS.items():
        ClientKey.objects.create(name=scope, key_hash=hash_client_key(key), scopes=[scope], models=["*"])
    chain = FallbackChain.objects.create(model="gpt-4o")
    for priority, slug in enumerate(["openai", "groq"]):
        provider = Provider.objects.create(slug=slug, format="openai", base_url="http://127.0.0.1:1/v1")
        Connection.objects.create(provider=provider, slug="main")
        FallbackEntry.objects.create(chain=chain, provider=provider, priority=priority)
    table.load()
    get_registry().unwritten.clear()


@pytest.fixture
def ask(gateway: None, client: Client) -> Callable[..., Any]:
    """Call the API with a key of a scope: `ask("GET", "/api/resilience/", "read")`."""

    def call(method: str, path: str, scope: str | None = "read", body: Any = None) -> Any:
        headers = {} if scope is None else {"Authorization": f"Bearer {KEYS.get(scope, scope)}"}
        return client.generic(
            method, path, body if isinstance(body, str) else _json(body), "application/json", headers=headers
        )

    return call


def _json(body: Any) -> str:
    import json

    return "" if body is None else json.dumps(body)


@pytest.fixture
def person(db: None) -> Callable[[str | None], Client]:
    """A logged-in browser with CSRF checks on: of a viewer, an operator, or somebody without a group."""

    def make(group: str | None) -> Client:
        user = User.objects.create_user(f"some-{group}", password="irrelevant here")
        if group:
            user.groups.add(Group.objects.get(name=group))
        browser = Client(enforce_csrf_checks=True)
        browser.force_login(user)
        return browser

    return make
