"""What every page keeps to: hooks for scripts, nothing inline, nothing from elsewhere, a constant number of queries."""

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from routing import client_keys
from routing.models import FallbackChain, FallbackEntry
from tests.dashboard.conftest import add_process, add_provider, attempt, cooling, locked, log, opened
from tests.state import write

PATHS = [
    "/",
    "/chains/",
    "/providers/",
    "/providers/openai/",
    "/providers/openai/settings/",
    "/providers/openai/connections/main/",
    "/requests/",
    "/explain/?model=gpt-4o&hold=openai",
    "/lockouts/",
    "/events/?type=people",
    "/keys/",
    "/processes/",
    "/kinds/",
    "/patterns/",
    "/login/",
    "/password/",
    "/act/?action=lock&provider=openai",
    "/gone/",
]


class Elements(HTMLParser):
    """Start tags with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def having(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for _tag, attributes in self.found if name in attributes]

    def values(self, name: str) -> list[str | None]:
        return [attributes[name] for attributes in self.having(name)]


def elements(client: Client, path: str) -> Elements:
    return Elements(client.get(path).content.decode())


@pytest.mark.parametrize("path", PATHS)
def test_no_page_has_inline_code_or_style_or_asks_another_host(
    operator: Client, on_fire: FallbackChain, path: str
) -> None:
    request = log(targets=[attempt(decision="failed", reason="transient", status=503), attempt("groq")])
    for address in (path, f"/requests/{request.pk}/"):
        for tag, attributes in elements(operator, address).found:
            assert tag != "style"
            assert tag != "script" or attributes.get("src")
            assert not [name for name in attributes if name.startswith("on") or name in ("style", "hx-on")]
            for name in ("src", "href", "action"):
                assert not re.match(r"(?:https?:)?//|javascript:|data:", attributes.get(name) or ""), attributes


def test_the_board_has_the_hooks_scripts_rely_on(operator: Client, on_fire: FallbackChain) -> None:
    operator.post("/act/", {"action": "force-close", "provider": "groq", "reason": "because"})
    page = elements(operator, "/")
    tiles = {tile["data-provider"]: tile for tile in page.having("data-provider")}
    assert tiles["openai"]["data-state"] == "OPEN"
    assert "data-forced" not in tiles["openai"]
    assert tiles["groq"]["data-forced"] == "closed"
    cooling_by_name = {one["data-connection"]: one["data-cooling"] for one in page.having("data-connection")}
    assert cooling_by_name == {
        "openai/main": "false", "openai/batch": "false", "anthropic/main": "true", "groq/main": "false",
    }  # fmt: skip
    assert page.values("data-lockout") == ["groq/main/llama-3.3-70b"]
    assert page.values("data-event")
    assert page.values("data-live") == ["reconnecting"]
    assert {"reset", "force-open", "force-close", "unforce", "clear-cooldown", "unlock", "lock"} <= set(
        page.values("data-action")
    )


def test_the_chains_page_has_its_hooks_in_order(operator: Client, fleet: FallbackChain) -> None:
    page = elements(operator, "/chains/")
    assert page.values("data-chain") == ["gpt-4o"]
    assert page.values("data-entry") == ["openai/gpt-4o", "anthropic/claude-sonnet-4", "groq/llama-3.3-70b"]
    editor = elements(operator, f"/chains/{fleet.pk}/")
    assert editor.values("data-entry") == page.values("data-entry")
    assert {"move-up", "move-down", "save"} <= set(editor.values("data-action"))


def test_the_requests_pages_have_their_hooks(operator: Client, fleet: FallbackChain) -> None:
    request = log()
    assert elements(operator, "/requests/").values("data-request") == [str(request.pk)]
    assert elements(operator, f"/requests/{request.pk}/").values("data-request") == [str(request.pk)]


def test_trouble_stands_first_and_the_rest_by_name(operator: Client, fleet: FallbackChain) -> None:
    assert elements(operator, "/").values("data-provider") == ["anthropic", "groq", "openai"]
    write(breakers=(opened("openai"),), cooldowns=(cooling("groq", "main"),))
    assert elements(operator, "/").values("data-provider") == ["openai", "groq", "anthropic"]


def test_an_empty_board_says_how_to_begin(operator: Client) -> None:
    page = operator.get("/").content.decode()
    assert "No provider yet" in page
    assert "config apply" in page
    assert "Nothing has happened yet" in page


def test_an_attack_in_a_message_is_shown_as_text(operator: Client, fleet: FallbackChain) -> None:
    write(breakers=(opened(last_failure_message="<script>alert(1)</script>"),))
    page = operator.get("/").content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def count_queries(read: Callable[[], object]) -> int:
    read()  # once for what is cached: content types, the routing table
    with CaptureQueriesContext(connection) as queries:
        read()
    return len(queries)


COUNTED = [
    *("/", "/live/board/", "/chains/", "/live/chains/", "/requests/", "/patterns/", "/explain/?model=gpt-4o"),
    *("/lockouts/", "/live/lockouts/", "/events/", "/keys/", "/processes/", "/live/processes/", "/live/requests/"),
]


@pytest.mark.parametrize("path", COUNTED)
def test_the_number_of_queries_does_not_grow_with_the_rows(operator: Client, fleet: FallbackChain, path: str) -> None:
    log()
    write(lockouts=(locked("groq", "main", "m"),))
    add_process("first")
    few = count_queries(lambda: operator.get(path))
    for number in range(12):
        slug = f"more-{number}"
        provider = add_provider(slug, "main", "spare")
        chain = FallbackChain.objects.create(model=slug)
        FallbackEntry.objects.create(chain=chain, provider=provider)
        FallbackEntry.objects.create(chain=chain, provider=fleet.entries.all()[0].provider, connection=None)
        write(breakers=(opened(slug),), cooldowns=(cooling(slug, "main"),), lockouts=(locked(slug, "spare", "m"),))
        log(targets=[attempt(slug)], provider=slug)
        add_process(slug)
        client_keys.create(slug, scopes=["chat"], models=["*"], requests_per_minute=0, actor="bob", reason="because")
    assert count_queries(lambda: operator.get(path)) <= few
    assert few <= 20
