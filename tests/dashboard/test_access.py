"""Viewers see, operators act, everybody else sees the login page."""

import pytest
from django.test import Client

from resilience.models import BreakerState
from routing.models import FallbackChain
from tests.dashboard.conftest import logged_in, user

PAGES = [
    "/",
    "/chains/",
    "/providers/",
    "/providers/openai/",
    "/kinds/",
    "/live/providers/",
    "/requests/",
    "/explain/",
    "/lockouts/",
    "/events/",
    "/keys/",
    "/processes/",
    "/live/board/",
    "/live/chains/",
    "/acts/?provider=openai",
]
HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/chains/"}


@pytest.mark.django_db
@pytest.mark.parametrize("path", [*PAGES, "/act/?action=reset&provider=openai", "/patterns/", "/password/"])
def test_a_stranger_sees_the_login_page_only(path: str) -> None:
    answer = Client().get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/login/?next=")


@pytest.mark.django_db
def test_an_expired_login_moves_the_whole_page_to_the_login() -> None:
    answer = Client().get("/live/board/", headers=HTMX)
    assert answer["HX-Redirect"] == "/login/?next=/chains/"


@pytest.mark.parametrize("path", PAGES)
def test_a_viewer_sees(viewer: Client, fleet: FallbackChain, path: str) -> None:
    assert viewer.get(path).status_code == 200


def test_a_viewer_cannot_act(viewer: Client, fleet: FallbackChain) -> None:
    data = {"action": "force-open", "provider": "openai", "reason": "because"}
    assert viewer.post("/act/", data).status_code == 403
    assert viewer.get("/act/?action=force-open&provider=openai").status_code == 403
    entry = fleet.entries.all()[1]
    assert viewer.post(f"/chains/{fleet.pk}/", {"edit": f"move-up:{entry.pk}", "version": 0}).status_code == 403
    assert not BreakerState.objects.exists()
    assert [one.pk for one in fleet.entries.order_by("priority")][1] == entry.pk


def test_a_viewer_is_offered_no_button(viewer: Client, on_fire: FallbackChain) -> None:
    for path in ("/", "/chains/", "/acts/?provider=openai"):
        assert b"data-action" not in viewer.get(path).content


@pytest.mark.django_db
def test_an_account_without_permissions_sees_nothing() -> None:
    nobody = logged_in(user("nobody"))
    for path in PAGES:
        assert nobody.get(path).status_code == 403


def test_a_person_switched_off_is_a_stranger(operator: Client, fleet: FallbackChain) -> None:
    from django.contrib.auth.models import User

    User.objects.update(is_active=False)
    assert operator.get("/").status_code == 302


def test_the_pattern_page_is_for_staff(viewer: Client, operator: Client) -> None:
    assert viewer.get("/patterns/").status_code == 403
    assert operator.get("/patterns/").status_code == 200


@pytest.mark.django_db
def test_people_log_in_and_out_by_djangos_form() -> None:
    user("alice", "operators")
    client = Client()
    page = client.get("/login/").content
    assert b'name="username"' in page
    assert b'name="password"' in page
    assert client.post("/login/", {"username": "alice", "password": "pass"})["Location"] == "/"
    assert client.get("/").status_code == 200
    assert client.post("/logout/")["Location"] == "/login/"
    assert client.get("/").status_code == 302


@pytest.mark.django_db
def test_a_wrong_password_is_said_without_saying_which_part_was_wrong() -> None:
    user("alice", "operators")
    answer = Client().post("/login/", {"username": "alice", "password": "wrong"})
    assert b"Please enter a correct username and password" in answer.content


def test_people_change_their_password(operator: Client) -> None:
    assert operator.get("/password/").status_code == 200
    new = {"old_password": "pass", "new_password1": "a-much-longer-one-17", "new_password2": "a-much-longer-one-17"}
    assert operator.post("/password/", new)["Location"] == "/password/done/"
    assert operator.get("/password/done/").status_code == 200


def test_a_form_without_its_token_changes_nothing_and_says_so(fleet: FallbackChain) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(user("alice", "operators"), backend="django.contrib.auth.backends.ModelBackend")
    answer = client.post("/act/", {"action": "reset", "provider": "openai", "reason": "because"})
    assert answer.status_code == 403
    assert b"Nothing was changed" in answer.content


def test_what_is_not_there_has_a_page_of_its_own(operator: Client) -> None:
    for path in ("/nowhere/", "/requests/019339a1-7c00-7000-8000-0f3a9c1e77aa/"):
        answer = operator.get(path)
        assert answer.status_code == 404
        assert b"There is nothing here" in answer.content
