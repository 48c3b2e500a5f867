"""Who may ask the state API, and what everybody else is told."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from omniroute_site import people

Ask = Callable[..., Any]
RESET = "/api/resilience/breakers/openai/reset/"
WHY = {"reason": "drill"}
READS = ["/api/resilience/", "/api/resilience/breakers/openai/", "/api/events/", "/metrics"]
ACTIONS = [
    *(f"/api/resilience/breakers/openai/{verb}/" for verb in ("reset", "force-open", "force-close", "unforce")),
    "/api/resilience/cooldowns/clear/",
    "/api/resilience/lockouts/unlock/",
    "/api/resilience/lockouts/lock/",
]


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.parametrize("path", READS)
def test_reads_need_a_key_or_a_login(ask: Ask, path: str) -> None:
    answer = ask("GET", path, None)

    assert code(answer) == (401, "invalid_api_key")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("path", READS)
def test_reads_need_the_scope_read(ask: Ask, path: str) -> None:
    assert code(ask("GET", path, "chat")) == (403, "insufficient_permissions")
    assert ask("GET", path, "read").status_code == 200


@pytest.mark.parametrize("path", ACTIONS)
def test_actions_need_the_scope_operate(ask: Ask, path: str) -> None:
    body = {**WHY}
    if "breakers" not in path:
        body |= {"provider": "openai", "connection": "main"}
    if "lockouts" in path:
        body |= {"model": "m"}

    assert code(ask("POST", path, None, body)) == (401, "invalid_api_key")
    assert code(ask("POST", path, "read", body)) == (403, "insufficient_permissions")
    allowed = ask("POST", path, "operate", body)
    assert allowed.status_code == 200, allowed.content


def test_a_wrong_key_is_not_saved_by_a_session(person: Callable[..., Client], gateway: None) -> None:
    answer = person(people.OPERATORS).get("/api/resilience/", headers={"Authorization": "Bearer sk-or-wrong"})

    assert code(answer) == (401, "invalid_api_key")


def test_x_api_key_is_as_good_as_a_bearer(client: Client, gateway: None) -> None:
    assert client.get("/api/resilience/", headers={"x-api-key": "sk-or-read-key-0123456789"}).status_code == 200


def test_viewers_read_and_do_not_act(person: Callable[..., Client], gateway: None) -> None:
    browser = person(people.VIEWERS)

    assert browser.get("/api/resilience/").status_code == 200
    assert code(browser.post(RESET, json.dumps(WHY), "application/json")) == (403, "insufficient_permissions")


def test_operators_act_with_a_csrf_token_and_only_with_it(person: Callable[..., Client], gateway: None) -> None:
    browser = person(people.OPERATORS)

    bare = browser.post(RESET, json.dumps(WHY), "application/json")
    browser.cookies["csrftoken"] = "a" * 32
    with_token = browser.post(RESET, json.dumps(WHY), "application/json", headers={"X-CSRFToken": "a" * 32})

    assert code(bare) == (403, "csrf_failed")
    assert with_token.status_code == 200, with_token.content


def test_people_without_a_group_see_nothing(person: Callable[..., Client], gateway: None) -> None:
    assert code(person(None).get("/api/resilience/")) == (403, "insufficient_permissions")


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "   "}, {"reason": None}])
def test_an_action_without_a_reason_says_what_to_do(ask: Ask, body: Any) -> None:
    answer = ask("POST", RESET, "operate", body)

    assert code(answer) == (422, "invalid_request")
    assert answer.json()["error"]["param"] == "reason"
    assert "say why" in answer.json()["error"]["message"]


@pytest.mark.parametrize("span", ["0", "-1", "1e999", "NaN", "Infinity", '"soon"', "true", "1e300"])
def test_for_must_be_positive_and_finite(ask: Ask, span: str) -> None:
    body = f'{{"reason": "drill", "for": {span}}}'

    answer = ask("POST", "/api/resilience/breakers/openai/force-open/", "operate", body)

    assert answer.status_code in (400, 422)
    assert "error" in answer.json()
    assert ask("GET", "/api/resilience/breakers/openai/").json()["forced"] is None


def test_a_misspelt_member_is_refused(ask: Ask) -> None:
    answer = ask("POST", "/api/resilience/breakers/openai/force-open/", "operate", {**WHY, "fro": 60})

    assert code(answer) == (422, "invalid_request")


@pytest.mark.parametrize("body", ["", "{", "[1", "\x00"])
def test_a_body_that_is_not_json_is_a_clean_400(ask: Ask, body: str) -> None:
    answer = ask("POST", RESET, "operate", body)

    assert answer.status_code in (400, 422)
    assert "message" in answer.json()["error"]


@pytest.mark.parametrize("body", ["[]", '"x"', "17", "null"])
def test_a_body_that_is_no_object_is_a_clean_422(ask: Ask, body: str) -> None:
    for path in (RESET, "/api/explain/"):
        answer = ask("POST", path, "operate" if path == RESET else "read", body)
        assert answer.status_code == 422, answer.content


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/api/resilience/breakers/nobody/", (404, "not_found")),
        ("GET", "/api/requests/not-an-id/", (404, "not_found")),
        ("GET", "/api/requests/01900000-0000-7000-8000-000000000001/", (404, "not_found")),
        ("GET", "/api/nothing/here/", (404, "not_found")),
        ("DELETE", "/api/resilience/", (405, "method_not_allowed")),
        ("POST", "/metrics", (405, "method_not_allowed")),
        ("GET", "/api/events/?limit=0", (422, "invalid_request")),
        ("GET", "/api/events/?after=x", (422, "invalid_request")),
    ],
)
def test_errors_have_one_shape(ask: Ask, method: str, path: str, expected: tuple[int, str]) -> None:
    answer = ask(method, path)

    assert expected == code(answer)
    assert {"message", "type", "code", "param"} == set(answer.json()["error"])


def test_a_typo_in_a_name_is_not_obeyed(ask: Ask) -> None:
    pair = {"provider": "openai", "connection": "mian", "model": "m", **WHY}

    assert code(ask("POST", "/api/resilience/lockouts/lock/", "operate", pair)) == (404, "not_found")
    assert code(ask("POST", "/api/resilience/breakers/opneai/force-open/", "operate", WHY)) == (404, "not_found")


def test_explain_of_an_unknown_model_is_a_404(ask: Ask) -> None:
    assert code(ask("POST", "/api/explain/", "read", {"model": "nope"})) == (404, "model_not_found")


def test_a_failure_of_ours_is_json_too(ask: Ask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.raise_request_exception = False
    monkeypatch.setattr("resilience.status.snapshot", lambda now: 1 / 0)

    assert code(ask("GET", "/api/resilience/")) == (500, "internal_error")
