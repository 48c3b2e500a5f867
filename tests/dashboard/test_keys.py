"""Client keys: shown once, stored hashed, switched and deleted with a reason that is on record."""

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from resilience.models import ResilienceEvent
from routing import client_keys, table
from routing.auth import identify
from routing.crypto import hash_client_key
from routing.errors import GatewayError
from routing.models import ClientKey, FallbackChain
from tests.dashboard.conftest import log, logged_in, user
from tests.dashboard.reading import said_by

HTMX = {"HX-Request": "true"}
NEW = {"name": "support-bot", "scopes": ["chat"], "models": "gpt-*\n\n claude-* \ngpt-*", "reason": "new app"}


@pytest.fixture
def key(db: None) -> ClientKey:
    return client_keys.create(
        "my-app", scopes=["chat"], models=["*"], requests_per_minute=60, actor="bob", reason="because"
    )[0]


def secret_of(page: str) -> str:
    found = re.search(r'data-secret readonly value="([^"]+)"', page)
    assert found is not None
    return found[1]


def made(client: Client, *, status: int = 200, **data: object) -> str:
    answer = client.post("/keys/new/", NEW | data, headers=HTMX)
    assert answer.status_code == status
    return said_by(answer)


def test_a_key_is_shown_once_and_stored_hashed(operator: Client) -> None:
    answer = operator.post("/keys/new/", NEW, headers=HTMX)
    assert "no-store" in answer["Cache-Control"]
    secret = secret_of(answer.content.decode())
    key = ClientKey.objects.get()
    assert key.key_hash == hash_client_key(secret)
    assert (key.scopes, key.models, key.requests_per_minute) == (["chat"], ["gpt-*", "claude-*"], 0)
    later = operator.get("/keys/").content.decode()
    assert secret not in later
    assert f"…{secret[-4:]}" in later
    assert secret not in str(list(ResilienceEvent.objects.values()))


def test_the_gateway_knows_it_at_once(operator: Client) -> None:
    secret = secret_of(made(operator))
    assert identify([(b"authorization", f"Bearer {secret}".encode())], table.refresh()).name == "support-bot"


def test_without_a_script_the_page_shows_it_too(operator: Client) -> None:
    page = operator.post("/keys/new/", NEW).content.decode()
    assert "<html" in page
    assert secret_of(page)


def test_making_a_key_is_on_record(operator: Client) -> None:
    made(operator)
    event = ResilienceEvent.objects.get()
    assert (event.name, event.actor, event.reason) == ("config_changed", "alice", "new app")
    assert "key support-bot created" in operator.get("/events/").content.decode()


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "my-app"}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["everything"]}, "scopes"),
        ({"models": "x" * 201}, "models"),
        ({"requests_per_minute": "-1"}, "requests_per_minute"),
        ({"requests_per_minute": "many"}, "requests_per_minute"),
        ({"reason": " "}, "reason"),
    ],
)
def test_what_makes_no_sense_is_said_beside_its_field(
    operator: Client, key: ClientKey, data: dict[str, object], field: str
) -> None:
    page = made(operator, status=422, **data)
    assert f'id="key-{field}_error"' in page
    assert "<details open>" in page
    assert ClientKey.objects.count() == 1


def test_a_key_is_disabled_enabled_and_deleted_with_a_reason(operator: Client, key: ClientKey) -> None:
    path = f"/keys/{key.pk}/"
    asked = operator.get(path, {"action": "disable"}, headers=HTMX).content.decode()
    assert 'name="reason"' in asked
    answer = operator.post(path, {"action": "disable", "reason": "leaked"}, headers=HTMX)
    assert answer["HX-Retarget"] == "#keys"
    assert answer["HX-Trigger-After-Settle"] == f'{{"console:focus": {{"id": "act-enable-key-{key.pk}"}}}}'
    assert b'data-enabled="false"' in answer.content
    operator.post(path, {"action": "enable", "reason": "it was not"}, headers=HTMX)
    key.refresh_from_db()
    assert key.enabled
    answer = operator.post(path, {"action": "delete", "reason": "app is gone"})
    assert answer["Location"] == "/keys/"
    assert not ClientKey.objects.exists()
    told = ResilienceEvent.objects.order_by("id").values_list("cause", "actor", "reason")[1:]
    assert list(told) == [
        ("disabled", "alice", "leaked"),
        ("enabled", "alice", "it was not"),
        ("deleted", "alice", "app is gone"),
    ]


def test_a_key_that_is_switched_off_opens_nothing(operator: Client) -> None:
    secret = secret_of(made(operator))
    operator.post(f"/keys/{ClientKey.objects.get().pk}/", {"action": "disable", "reason": "leaked"})
    with pytest.raises(GatewayError, match="disabled"):
        identify([(b"x-api-key", secret.encode())], table.refresh())


@pytest.mark.parametrize("htmx", [True, False])
def test_without_a_reason_the_form_comes_back(operator: Client, key: ClientKey, htmx: bool) -> None:
    answer = operator.post(f"/keys/{key.pk}/", {"action": "delete", "reason": ""}, headers=HTMX if htmx else {})
    assert answer.status_code == 422
    assert b"Say why" in answer.content
    assert (b"<html" in answer.content) is not htmx
    assert ClientKey.objects.exists()


def test_what_is_not_there_is_not_acted_upon(operator: Client, key: ClientKey) -> None:
    assert operator.post("/keys/999999/", {"action": "delete", "reason": "because"}).status_code == 404
    assert operator.post(f"/keys/{key.pk}/", {"action": "explode", "reason": "because"}).status_code == 404


def test_deleting_a_key_in_use_says_so_first(operator: Client, key: ClientKey, fleet: FallbackChain) -> None:
    log()
    log()
    asked = operator.get(f"/keys/{key.pk}/?action=delete", headers=HTMX).content.decode()
    assert "2 requests came with it in the last hour" in asked


def test_a_viewer_sees_and_finds_no_control(viewer: Client, key: ClientKey) -> None:
    page = viewer.get("/keys/").content.decode()
    assert "my-app" in page
    assert "data-action" not in page
    assert viewer.post("/keys/new/", NEW).status_code == 403
    assert viewer.get(f"/keys/{key.pk}/?action=delete").status_code == 403
    assert viewer.post(f"/keys/{key.pk}/", {"action": "delete", "reason": "because"}).status_code == 403
    assert ClientKey.objects.count() == 1


def test_who_may_edit_chains_may_not_make_keys(db: None) -> None:
    person = user("editor", "viewers")
    person.user_permissions.add(Permission.objects.get(codename="change_fallbackchain"))
    assert logged_in(User.objects.get(pk=person.pk)).post("/keys/new/", NEW).status_code == 403


def test_without_a_key_the_page_says_what_to_do(operator: Client) -> None:
    assert "No key yet" in operator.get("/keys/").content.decode()
