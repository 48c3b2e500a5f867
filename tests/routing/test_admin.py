"""The stock admin: every page opens, secrets go in and never come out."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

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
    UpstreamModel,
)
from routing.requestlog import RequestRecord
from routing.requestlog_rows import write_rows
from routing.table_compile import read_version
from tests.routing.rows import make_chain, make_provider

pytestmark = pytest.mark.django_db

SECRET = "sk-very-secret-0123456789"


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(
        User.objects.create_superuser("admin", password="pw"), "django.contrib.auth.backends.ModelBackend"
    )
    return client


@pytest.fixture
def provider() -> Provider:
    provider = make_provider()
    Connection.objects.update(api_key_encrypted=crypto.encrypt(SECRET), key_hint="6789")
    make_chain("gpt-4o", provider)
    UpstreamModel.objects.create(provider=provider, model="gpt-4o")
    ErrorRule.objects.create(provider=provider, status=418, kind="transient")
    ClientKey.objects.create(name="app", key_hash="ab" * 32, key_hint="wxyz")
    GatewaySettings.objects.create()
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
    }
    return operator.post("/admin/routing/connection/add/", said | fields)


def change(operator: Client, connection: Connection, **fields: Any) -> Any:
    said = {"enabled": "on", "priority": 0, "weight": 1, "max_concurrency": 0, "headers": "{}"}
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
    said = {"name": "app", "scopes": ["chat"], "models": '["*"]', "requests_per_minute": 0, "enabled": "on"}
    page = operator.post("/admin/routing/clientkey/add/", said, follow=True).content.decode()
    secret = page[page.index("sk-or-") :].split()[0]
    key = ClientKey.objects.get()
    assert key.key_hash == crypto.hash_client_key(secret)
    assert secret not in operator.get("/admin/routing/clientkey/").content.decode()


def test_a_client_keys_secret_can_be_replaced(operator: Client, provider: Provider) -> None:
    key = ClientKey.objects.get()
    said = {"action": "replace_key", "_selected_action": [key.pk]}
    page = operator.post("/admin/routing/clientkey/", said, follow=True).content.decode()
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
    assert operator.post("/admin/routing/fallbackentry/", said).status_code == 302
    entry.refresh_from_db()
    assert (entry.priority, entry.enabled) == (9, False)
    assert read_version() > before


def test_deleting_in_a_list_is_in_the_next_version_of_the_table(operator: Client, provider: Provider) -> None:
    before = read_version()
    said = {"action": "delete_selected", "_selected_action": [FallbackChain.objects.get().pk], "post": "yes"}
    assert operator.post("/admin/routing/fallbackchain/", said).status_code == 302
    assert not FallbackEntry.objects.exists()
    assert read_version() > before


def test_nobody_writes_the_request_log(operator: Client, provider: Provider) -> None:
    row = RequestLog.objects.get()
    assert operator.get("/admin/routing/requestlog/add/").status_code == 403
    assert operator.post(f"/admin/routing/requestlog/{row.pk}/change/", {"chain": "x"}).status_code == 403
    assert operator.post(f"/admin/routing/requestlog/{row.pk}/delete/").status_code == 403
    assert b"&lt;rate&gt;" in operator.get(f"/admin/routing/requestlog/{row.pk}/change/").content
