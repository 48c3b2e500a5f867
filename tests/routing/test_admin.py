"""The stock admin: every page opens, secrets go in and never come out."""

import html
import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from resilience.models import ResilienceEvent
from routing import crypto
from routing.ids import uuid7
from routing.models import (
    ClientKey,
    Connection,
    ErrorRule,
    FallbackChain,
    FallbackEntry,
    GatewaySettings,
    Provider,
    RequestLog,
    UnmatchedError,
    UpstreamModel,
)
from routing.requestlog import RequestRecord
from routing.requestlog_rows import write_rows
from routing.table_compile import read_version
from tests.routing.rows import make_chain, make_provider

pytestmark = pytest.mark.django_db

WHY = {"reason": "a drill"}
SECRET = "sk-very-secret-0123456789"


@pytest.fixture
def provider() -> Provider:
    provider = make_provider()
    Connection.objects.update(api_key_encrypted=crypto.encrypt(SECRET), key_hint="6789")
    make_chain("gpt-4o", provider)
    UpstreamModel.objects.create(provider=provider, model="gpt-4o")
    ErrorRule.objects.create(provider=provider, status=418, kind="transient")
    ClientKey.objects.create(name="app", key_hash="ab" * 32, key_hint="wxyz")
    GatewaySettings.objects.create()
    UnmatchedError.objects.create(
        provider="openai", digest="x", first_seen_at=timezone.now(), last_seen_at=timezone.now()
    )
    write_rows([RequestRecord(id=uuid7(), started_at=timezone.now(), chain="gpt-4o", targets=[{"reason": "<rate>"}])])
    return provider


MODELS = (
    Provider,
    Connection,
    UpstreamModel,
    ErrorRule,
    FallbackChain,
    FallbackEntry,
    ClientKey,
    GatewaySettings,
    RequestLog,
    UnmatchedError,
)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_has_a_list_a_search_and_a_page_without_secrets(
    operator: Client, provider: Provider, model: Any
) -> None:
    name = model._meta.model_name
    pages = [
        operator.get(f"/admin/routing/{name}/"),
        operator.get(f"/admin/routing/{name}/?q=gpt-4o"),
        operator.get(f"/admin/routing/{name}/{model.objects.get().pk}/change/"),
    ]
    for page in pages:
        assert page.status_code == 200
        text = page.content.decode()
        assert SECRET not in text
        assert "ab" * 32 not in text
        assert Connection.objects.get().api_key_encrypted not in text


def add(operator: Client, provider: Provider, **fields: Any) -> Any:
    said = {
        "provider": provider.pk,
        "slug": "second",
        "priority": 0,
        "weight": 1,
        "max_concurrency": 0,
        "headers": "{}",
        "reason": "more quota",
    }
    return operator.post("/admin/routing/connection/add/", said | fields)


def change(operator: Client, connection: Connection, **fields: Any) -> Any:
    said = {"enabled": "on", "priority": 0, "weight": 1, "max_concurrency": 0, "headers": "{}", "reason": "new key"}
    return operator.post(f"/admin/routing/connection/{connection.pk}/change/", said | fields)


def test_a_new_api_key_is_stored_encrypted(operator: Client, provider: Provider) -> None:
    assert add(operator, provider, new_api_key="sk-another-0123456789").status_code == 302
    row = Connection.objects.get(slug="second")
    assert crypto.decrypt(row.api_key_encrypted) == "sk-another-0123456789"
    assert row.key_hint == "6789"


def test_a_reference_is_stored_as_one(operator: Client, provider: Provider) -> None:
    connection = provider.connections.get()
    assert change(operator, connection, new_api_key="env:OPENAI_API_KEY").status_code == 302
    connection.refresh_from_db()
    assert (connection.api_key_env, connection.api_key_encrypted, connection.key_hint) == ("OPENAI_API_KEY", "", "")


def test_a_blank_field_keeps_the_stored_key_and_a_box_takes_it_away(operator: Client, provider: Provider) -> None:
    connection = provider.connections.get()
    assert change(operator, connection, priority=4).status_code == 302
    connection.refresh_from_db()
    assert (connection.priority, crypto.decrypt(connection.api_key_encrypted)) == (4, SECRET)
    assert change(operator, connection, remove_api_key="on").status_code == 302
    connection.refresh_from_db()
    assert connection.api_key_encrypted == ""


def test_a_key_that_cannot_be_stored_is_said_so(operator: Client, provider: Provider, settings: Any) -> None:
    settings.ENCRYPTION_KEYS = []
    page = add(operator, provider, new_api_key="sk-another-0123456789")
    assert page.status_code == 200
    assert b"ENCRYPTION_KEY is not set" in page.content
    assert b"sk-another" not in page.content
    assert b"must name an environment variable" in add(operator, provider, new_api_key="env:1").content


def test_a_slug_cannot_be_changed(operator: Client, provider: Provider) -> None:
    connection = provider.connections.get()
    change(operator, connection, slug="renamed")
    connection.refresh_from_db()
    assert connection.slug == "main"
    assert b'name="slug"' not in operator.get(f"/admin/routing/provider/{provider.pk}/change/").content


def test_a_client_key_is_shown_once_and_stored_as_its_hash(operator: Client) -> None:
    said = {"name": "app", "scopes": ["chat"], "models": '["*"]', "requests_per_minute": 0, "enabled": "on"} | WHY
    page = operator.post("/admin/routing/clientkey/add/", said, follow=True).content.decode()
    secret = page[page.index("sk-or-") :].split()[0]
    key = ClientKey.objects.get()
    assert key.key_hash == crypto.hash_client_key(secret)
    assert secret not in operator.get("/admin/routing/clientkey/").content.decode()


def test_a_client_keys_secret_can_be_replaced(operator: Client, provider: Provider) -> None:
    key = ClientKey.objects.get()
    page = act(operator, "replace_key", [key], follow=True).content.decode()
    secret = page[page.index("sk-or-") :].split()[0]
    key.refresh_from_db()
    assert key.key_hash == crypto.hash_client_key(secret)


def test_an_edit_in_a_list_is_in_the_next_version_of_the_table(operator: Client, provider: Provider) -> None:
    before = read_version()
    entry = FallbackEntry.objects.get()
    said = {
        "form-TOTAL_FORMS": 1,
        "form-INITIAL_FORMS": 1,
        "form-0-id": entry.pk,
        "form-0-priority": 9,
        "form-0-weight": 1,
        "_save": "Save",
    }
    refused = operator.post("/admin/routing/fallbackentry/", said)
    assert b"Say why" in refused.content
    assert b'name="form-0-priority" value="9"' in refused.content
    assert FallbackEntry.objects.get().priority == entry.priority
    said |= WHY
    assert operator.post("/admin/routing/fallbackentry/", said).status_code == 302
    entry.refresh_from_db()
    assert (entry.priority, entry.enabled) == (9, False)
    assert read_version() > before


def test_deleting_in_a_list_is_in_the_next_version_of_the_table(operator: Client, provider: Provider) -> None:
    before = read_version()
    assert act(operator, "delete", FallbackChain.objects.all()).status_code == 302
    assert not FallbackEntry.objects.exists()
    assert read_version() > before


def act(operator: Client, action: str, rows: Any, *, follow: bool = False, **more: str) -> Any:
    """What the confirmation page sends: what it showed, and a reason."""
    chosen = list(rows)
    address = f"/admin/routing/{type(chosen[0]).__name__.lower()}/"
    said = {"action": action, "_selected_action": [row.pk for row in chosen]}
    page = operator.post(address, said).content.decode()
    shown = dict(re.findall(r'name="(before-\d+)" value="([^"]*)"', page))
    shown = {name: html.unescape(value) for name, value in shown.items()}
    return operator.post(address, {**said, **shown, "confirmed": "yes", **WHY, **more}, follow=follow)


def last_event() -> tuple[str, str, str, str]:
    event = ResilienceEvent.objects.latest("id")
    return event.data["subject"], event.cause, event.actor, event.reason


def test_rows_are_switched_off_in_bulk_with_who_and_why(operator: Client, provider: Provider) -> None:
    version = read_version()
    assert act(operator, "disable", Provider.objects.all()).status_code == 302
    assert not Provider.objects.get().enabled
    assert read_version() > version
    assert last_event() == ("provider openai", "enabled True → False", "admin", "a drill")


def test_the_page_says_before_and_after_and_does_nothing_yet(operator: Client, provider: Provider) -> None:
    said = {"action": "disable", "_selected_action": [provider.pk]}
    page = operator.post("/admin/routing/provider/", said).content.decode()
    assert "enabled True" in page
    assert "→ enabled False" in page
    assert act(operator, "disable", [provider], reason=" ").status_code == 422
    assert Provider.objects.get().enabled


def test_a_row_changed_meanwhile_stops_all_of_them(operator: Client, provider: Provider) -> None:
    second = make_provider("groq")
    said = {"action": "disable", "_selected_action": [provider.pk, second.pk], "confirmed": "yes", **WHY}
    shown = {f"before-{provider.pk}": "enabled True", f"before-{second.pk}": "enabled False"}
    refused = operator.post("/admin/routing/provider/", said | shown)
    assert refused.status_code == 422
    assert b"Changed meanwhile: groq. Nothing was done; look again." in refused.content
    assert Provider.objects.filter(enabled=True).count() == 2


def test_a_row_deleted_meanwhile_stops_all_of_them(operator: Client, provider: Provider) -> None:
    said = {"action": "disable", "_selected_action": [provider.pk, 999], "confirmed": "yes", **WHY}
    shown = {f"before-{provider.pk}": "enabled True", "before-999": "enabled True"}
    assert operator.post("/admin/routing/provider/", said | shown).status_code == 422
    assert Provider.objects.get().enabled


def test_what_cannot_be_done_for_one_is_done_for_none(operator: Client, provider: Provider) -> None:
    unused = make_provider("groq")
    refused = act(operator, "delete", [provider, unused])
    assert refused.status_code == 422
    assert b"Still in use by" in refused.content
    assert Provider.objects.count() == 2
    assert act(operator, "delete", [unused]).status_code == 302
    assert Provider.objects.count() == 1


def test_entries_move_to_a_priority_together(operator: Client, provider: Provider) -> None:
    assert act(operator, "move_to_priority", FallbackEntry.objects.all(), priority="7").status_code == 302
    assert FallbackEntry.objects.get().priority == 7
    assert act(operator, "move_to_priority", FallbackEntry.objects.all(), priority="-1").status_code == 422


def test_a_chain_is_copied_with_what_its_entries_ask_for(operator: Client, provider: Provider) -> None:
    assert act(operator, "copy_chain", FallbackChain.objects.all(), suffix="-eu").status_code == 302
    copy = FallbackChain.objects.get(model="gpt-4o-eu")
    assert [entry.upstream_model for entry in copy.entries.all()] == ["gpt-4o"]
    again = act(operator, "copy_chain", FallbackChain.objects.filter(model="gpt-4o"), suffix="-eu")
    assert again.status_code == 422
    assert b"Another row has this name already" in again.content


def test_a_form_asks_why_and_the_event_log_keeps_it(operator: Client, provider: Provider) -> None:
    connection = provider.connections.get()
    assert change(operator, connection, reason="").status_code == 200
    assert change(operator, connection, priority=3).status_code == 302
    subject, _cause, actor, reason = last_event()
    assert (subject, actor, reason) == ("connection openai/main", "admin", "new key")


def test_deleting_leads_to_where_it_asks_for_a_reason(operator: Client, provider: Provider) -> None:
    answer = operator.post(f"/admin/routing/provider/{provider.pk}/delete/", {"post": "yes"})
    assert (answer.status_code, answer["Location"]) == (302, "/admin/routing/provider/")
    assert Provider.objects.exists()


def test_nobody_writes_the_request_log(operator: Client, provider: Provider) -> None:
    row = RequestLog.objects.get()
    assert operator.get("/admin/routing/requestlog/add/").status_code == 403
    assert operator.post(f"/admin/routing/requestlog/{row.pk}/change/", {"chain": "x"}).status_code == 403
    assert operator.post(f"/admin/routing/requestlog/{row.pk}/delete/").status_code == 403
    assert b"&lt;rate&gt;" in operator.get(f"/admin/routing/requestlog/{row.pk}/change/").content
