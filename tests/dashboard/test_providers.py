"""The list of providers, one provider's page, switching, trying."""

import html
import re
import socket
from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from django.utils import timezone

from omniroute_site.dashboard.provider_cells import fleet_cells
from omniroute_site.dashboard.selectors.providers import read_fleet
from omniroute_site.dashboard.trial_words import ADVICE, ELSE, UNREACHED, tell
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from resilience.models import BreakerState, Cooldown, ResilienceEvent
from routing import crypto
from routing.models import Connection, ErrorRule, FallbackChain, Provider, RequestLog
from routing.trial import Trial
from tests.dashboard.conftest import add_provider, opened
from tests.dashboard.reading import said_by, text
from tests.dashboard.test_pages import count_queries
from tests.state import write

HTMX = {"HX-Request": "true"}
SECRET = "sk-0123456789-abcdef-wxyz"


@pytest.fixture
def nobody_there() -> Iterator[str]:
    """An address where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_the_list_says_how_each_provider_and_connection_is(operator: Client, on_fire: FallbackChain) -> None:
    Connection.objects.filter(provider__slug="openai", slug="batch").update(enabled=False)
    page = text(operator, "/providers/")
    rows = {row.split('"')[0]: row for row in page.split('<li class="supplier" id="fleet-')[1:]}
    assert list(rows) == ["anthropic", "groq", "openai"]
    assert "OPEN" in rows["openai"]
    assert "“The engine is currently overloaded”" in rows["openai"]
    assert "https://openai.example/v1" in rows["openai"]
    assert "<small>disabled</small>" in rows["openai"]
    assert "cooling" in rows["anthropic"]
    assert "1 locked" in rows["groq"]


def test_without_a_provider_the_list_says_how_to_begin(operator: Client) -> None:
    page = text(operator, "/providers/")
    assert "No provider yet" in page
    assert 'id="add-provider"' in page


def test_of_a_list_only_the_rows_that_changed_are_sent(fleet: FallbackChain) -> None:
    before = read_fleet(timezone.now())
    write(breakers=(opened("openai"),))
    assert list(fleet_cells(before, read_fleet(timezone.now()))) == ["fleet-openai"]
    add_provider("mistral")
    assert list(fleet_cells(before, read_fleet(timezone.now()))) == ["fleet"]


def test_a_provider_s_page_shows_what_was_chosen_and_what_is_the_default(
    operator: Client, fleet: FallbackChain
) -> None:
    Provider.objects.filter(slug="openai").update(breaker_reset_timeout=45)
    page = text(operator, "/providers/openai/")
    assert "1 not the default" in page
    assert '<div data-chosen title="breaker.reset_timeout"><dt>Stays open for</dt><dd>45 s</dd></div>' in page
    assert '<div title="max_cooldown"><dt>No cooldown is longer than</dt><dd>86400 s (24 h)</dd></div>' in page


def test_a_key_never_stands_in_a_page_but_for_its_end(operator: Client, viewer: Client, fleet: FallbackChain) -> None:
    Connection.objects.filter(provider__slug="openai", slug="main").update(
        api_key_encrypted=crypto.encrypt(SECRET),
        key_hint=crypto.hint(SECRET),
        headers={"X-Proxy-Key": "hidden-header-value", "X-Team": "search"},
    )
    for client in (operator, viewer):
        assert "…wxyz" in text(client, "/providers/openai/")
    for path in ("/providers/", "/providers/openai/", "/providers/openai/connections/main/"):
        page = text(operator, path)
        assert SECRET not in page
        assert "0123456789" not in page
        assert "hidden-header-value" not in page
    assert "X-Team: search" in page


def test_a_provider_that_is_not_there_is_not_found(operator: Client, fleet: FallbackChain) -> None:
    for path in ("/providers/gone/", "/providers/gone/settings/", "/providers/openai/connections/gone/"):
        assert operator.get(path).status_code == 404
    for path in ("/providers/gone/connections/_new/", "/providers/gone/rules/_new/", "/providers/openai/rules/0/"):
        assert operator.get(path).status_code == 404
    assert operator.post("/providers/openai/connections/gone/trial/").status_code == 404
    assert operator.post("/providers/gone/switch/", {"to": "disabled", "reason": "x"}).status_code == 404


def test_a_provider_is_switched_off_and_on_with_a_reason(operator: Client, fleet: FallbackChain) -> None:
    refused = operator.post("/providers/openai/switch/", {"to": "disabled", "reason": ""})
    assert refused.status_code == 422
    assert "Say why" in said_by(refused)
    assert Provider.objects.get(slug="openai").enabled
    done = operator.post("/providers/openai/switch/", {"to": "disabled", "reason": "moving house"}, follow=True)
    assert "openai is disabled." in done.content.decode()
    assert not Provider.objects.get(slug="openai").enabled
    event = ResilienceEvent.objects.get()
    assert (event.actor, event.reason, event.cause) == ("alice", "moving house", "enabled true → false")
    operator.post("/providers/openai/switch/", {"to": "enabled", "reason": "moved"})
    assert Provider.objects.get(slug="openai").enabled


def test_a_connection_is_switched_off_from_the_board(operator: Client, on_fire: FallbackChain) -> None:
    link = re.search(r'id="switch-openai--batch" href="([^"]*)"', operator.get("/").content.decode())
    assert link
    assert "gets no call until it is enabled again" in text(operator, html.unescape(link[1]))
    data = {"action": "disable", "provider": "openai", "connection": "batch", "reason": "key leaked"}
    answer = operator.post("/act/", data, headers={**HTMX, "HX-Current-URL": "http://testserver/"})
    assert 'data-connection="openai/batch" data-cooling="false" data-enabled="false"' in answer.content.decode()
    assert not Connection.objects.get(provider__slug="openai", slug="batch").enabled
    assert "key leaked" in text(operator, "/")
    operator.post("/act/", {**data, "action": "enable"})
    assert Connection.objects.get(provider__slug="openai", slug="batch").enabled


def test_acting_on_another_page_than_the_board_shows_that_page_anew(operator: Client, fleet: FallbackChain) -> None:
    data = {"action": "disable", "provider": "openai", "connection": "batch", "reason": "because"}
    answer = operator.post("/act/", data, headers={**HTMX, "HX-Current-URL": "http://testserver/providers/openai/"})
    assert answer["HX-Refresh"] == "true"


def test_a_trial_of_nobody_says_what_to_do_and_counts_nowhere(
    operator: Client, fleet: FallbackChain, nobody_there: str
) -> None:
    Connection.objects.filter(provider__slug="openai", slug="main").update(base_url=nobody_there)
    answer = operator.post("/providers/openai/connections/main/trial/", headers=HTMX)
    said = said_by(answer)
    assert said.startswith('<div class="trial" id="trial-openai--main" role="status" data-tone="open">')
    assert UNREACHED in said
    assert f"{nobody_there}/models" in said
    for table in (BreakerState, Cooldown, RequestLog, ResilienceEvent):
        assert not table.objects.exists()


def test_without_a_script_a_trial_is_told_on_the_page(
    operator: Client, fleet: FallbackChain, nobody_there: str
) -> None:
    Connection.objects.filter(provider__slug="openai").update(base_url=nobody_there)
    page = said_by(operator.post("/providers/openai/connections/batch/trial/"))
    assert 'id="trial-openai--batch" role="status" data-tone="open"' in page
    assert 'id="trial-openai--main" role="status">' in page


def test_a_trial_is_told_with_what_to_do() -> None:
    good = tell(Trial("http://a/v1/models?api-version=1", None, status=200, seconds=0.2, models=3))
    assert (good.tone, good.said, good.address) == (
        "ok", "Status 200, 3 models listed. The key was not refused.", "http://a/v1/models",
    )  # fmt: skip
    failing = [
        (Failure(Kind.AUTH, "no"), 401, ADVICE[Kind.AUTH]),
        (Failure(Kind.MODEL_UNAVAILABLE, "no"), 404, ADVICE[Kind.MODEL_UNAVAILABLE]),
        (Failure(Kind.INVALID_REQUEST, "no"), 404, ADVICE[Kind.MODEL_UNAVAILABLE]),
        (Failure(Kind.TRANSIENT, "no"), 500, ELSE),
    ]
    for failure, status, advice in failing:
        assert tell(Trial("http://a", failure, status=status)).advice == advice
    assert "redirect" in tell(Trial("http://a", Failure(Kind.TRANSIENT, "no"), status=301)).advice
    assert tell(Trial(failure=Failure(Kind.LOCAL, "X is not set"), reached=False)).verdict == "Not tried"


def test_viewers_see_providers_and_change_nothing(viewer: Client, fleet: FallbackChain) -> None:
    ErrorRule.objects.create(provider=Provider.objects.get(slug="openai"), status=529, kind="overloaded")
    for path in ("/providers/", "/providers/openai/", "/kinds/"):
        page = text(viewer, path)
        assert "data-action" not in page
        assert "<button" not in page.split("<main")[1].split("</main>")[0]
        assert "/_new/" not in page
    forms = ("_new/", "openai/settings/", "openai/connections/_new/", "openai/connections/main/", "openai/rules/0/")
    for path in forms:
        assert viewer.get(f"/providers/{path}").status_code == 403
        assert viewer.post(f"/providers/{path}", {"reason": "because"}).status_code == 403
    assert viewer.post("/providers/openai/switch/", {"to": "disabled", "reason": "because"}).status_code == 403
    assert viewer.post("/providers/openai/connections/main/trial/").status_code == 403
    data = {"action": "disable", "provider": "openai", "connection": "main", "reason": "because"}
    assert viewer.post("/act/", data).status_code == 403
    assert Connection.objects.filter(enabled=True).count() == 4


def test_trials_run_beside_a_running_loop(operator: Client, fleet: FallbackChain, nobody_there: str) -> None:
    """As under ASGI, where the page's thread was started by the loop that also proxies."""
    from asgiref.sync import sync_to_async

    Connection.objects.filter(provider__slug="openai", slug="main").update(base_url=nobody_there)
    post = sync_to_async(operator.post)
    answer = async_to_sync(post)("/providers/openai/connections/main/trial/", headers=HTMX)
    assert answer.status_code == 200


@pytest.mark.parametrize("path", ["/providers/", "/live/providers/", "/providers/openai/", "/kinds/"])
def test_500_connections_cost_no_more_queries_than_a_few(operator: Client, on_fire: FallbackChain, path: str) -> None:
    few = count_queries(lambda: operator.get(path))
    more = [Provider(slug=f"more-{number}", base_url="https://more.example/v1") for number in range(47)]
    Provider.objects.bulk_create(more)
    rows = [*more, Provider.objects.get(slug="openai")]
    Connection.objects.bulk_create(Connection(provider=row, slug=f"c-{n}") for row in rows for n in range(10))
    ErrorRule.objects.bulk_create(
        ErrorRule(provider=row, status=500 + n, kind="timeout") for row in rows for n in range(3)
    )
    assert count_queries(lambda: operator.get(path)) == few
    assert few <= 14
