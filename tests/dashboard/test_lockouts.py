"""The lockouts page: what is locked and why, unlocked and locked by hand, and back where one came from."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from omniroute_site.dashboard.lockout_rows import nearest
from omniroute_site.dashboard.selectors.lockouts import read_lockouts
from resilience import actions
from resilience.core.permit import Pair
from resilience.models import ResilienceEvent
from resilience.reading import read_lockout
from routing.models import FallbackChain
from tests.dashboard.conftest import locked
from tests.dashboard.reading import said_by
from tests.state import write

GROQ = Pair("groq", "main", "llama-3.3-70b")
HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/lockouts/"}
UNLOCK = {"action": "unlock", "provider": "groq", "connection": "main", "model": "llama-3.3-70b"}


def page_of(client: Client) -> str:
    return said_by(client.get("/lockouts/"))


def hooks(page: str) -> list[str]:
    return re.findall(r'data-lockout="([^"]+)"', page)


def test_what_is_locked_stands_with_reason_attempts_and_times(operator: Client, on_fire: FallbackChain) -> None:
    page = page_of(operator)
    assert hooks(page) == ["groq/main/llama-3.3-70b"]
    assert "timed out" in page
    assert "<small>failures</small> 1" in page
    assert 'data-since="' in page
    assert 'data-until="' in page
    assert 'data-action="unlock"' in page


def test_a_lock_set_by_hand_says_by_whom_and_why(operator: Client, fleet: FallbackChain) -> None:
    actions.lock(GROQ, actor="bob", reason="wrong answers", duration=timedelta(hours=2))
    page = page_of(operator)
    assert "by <b>bob</b>: “wrong answers”" in page


def test_the_request_that_caused_a_lock_is_linked(operator: Client, on_fire: FallbackChain) -> None:
    request = "019339a1-7c00-7000-8000-0f3a9c1e77aa"
    ResilienceEvent.objects.create(
        at=timezone.now() + timedelta(seconds=1), name="model_locked", provider="groq", connection="main",
        model="llama-3.3-70b", request_id=request,
    )  # fmt: skip
    assert f"/requests/{request}/" in page_of(operator)


def test_what_ran_out_or_is_not_configured_any_more_is_not_shown(operator: Client, fleet: FallbackChain) -> None:
    write(
        lockouts=(locked("groq", "main", "old", seconds=-5), locked("gone", "main", "m"), locked("groq", "gone", "m"))
    )
    page = page_of(operator)
    assert hooks(page) == []
    assert "Nothing is locked" in page


def test_unlocking_answers_with_the_page_it_was_done_on(operator: Client, on_fire: FallbackChain) -> None:
    write(lockouts=(locked("openai", "main", "gpt-4o"),))
    asked = operator.get("/act/", UNLOCK, headers=HTMX).content.decode()
    assert 'name="back" value="lockouts"' in asked
    assert 'href="/lockouts/"' in asked
    answer = operator.post("/act/", {**UNLOCK, "reason": "right again"}, headers=HTMX)
    assert hooks(answer.content.decode()) == ["openai/main/gpt-4o"]
    assert b'id="wall"' not in answer.content
    key = read_lockouts(timezone.now()).rows[0].key
    assert answer["HX-Trigger-After-Settle"] == f'{{"console:focus": {{"id": "act-unlock-{key}"}}}}'
    event = ResilienceEvent.objects.get(name="model_unlocked")
    assert (event.actor, event.reason) == ("alice", "right again")


def test_when_the_last_one_is_gone_the_focus_goes_to_the_heading(operator: Client, on_fire: FallbackChain) -> None:
    answer = operator.post("/act/", {**UNLOCK, "reason": "right again"}, headers=HTMX)
    assert answer["HX-Trigger-After-Settle"] == '{"console:focus": {"id": "lockouts-title"}}'


def test_without_a_script_one_returns_to_where_one_came_from(operator: Client, on_fire: FallbackChain) -> None:
    asked = operator.get("/act/", UNLOCK, headers={"Referer": "http://testserver/lockouts/"}).content.decode()
    assert 'name="back" value="lockouts"' in asked
    answer = operator.post("/act/", {**UNLOCK, "reason": "right again", "back": "lockouts"})
    assert answer["Location"] == "/lockouts/"
    answer = operator.post("/act/", {**UNLOCK, "reason": "right again", "back": "//evil.example"})
    assert answer["Location"] == "/#tile-groq"


def lock(client: Client, *, htmx: bool = True, **data: str) -> tuple[int, str]:
    answer = client.post("/lockouts/lock/", data, headers=HTMX if htmx else {})
    return answer.status_code, answer.content.decode()


def test_a_pair_is_locked_by_hand_for_a_while(operator: Client, fleet: FallbackChain) -> None:
    before = timezone.now()
    status, body = lock(operator, connection="groq/main", model="llama-3.3-70b", reason="wrong answers", duration="2 h")
    assert status == 200
    assert hooks(body) == ["groq/main/llama-3.3-70b"]
    until = read_lockout(*GROQ).until
    assert until is not None
    assert timedelta(hours=1.9) < until - before < timedelta(hours=2.1)
    event = ResilienceEvent.objects.get()
    assert (event.name, event.actor, event.reason) == ("model_locked", "alice", "wrong answers")


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"connection": "groq/main", "model": "m", "reason": ""}, "reason"),
        ({"connection": "", "model": "m", "reason": "because"}, "connection"),
        ({"connection": "groq/gone", "model": "m", "reason": "because"}, "connection"),
        ({"connection": "groq/main", "model": "", "reason": "because"}, "model"),
        ({"connection": "groq/main", "model": "m", "reason": "because", "duration": "soon"}, "duration"),
    ],
)
@pytest.mark.parametrize("htmx", [True, False])
def test_a_bad_form_comes_back_open_with_the_error_beside_the_field(
    operator: Client, fleet: FallbackChain, data: dict[str, str], field: str, htmx: bool
) -> None:
    status, body = lock(operator, htmx=htmx, **data)
    assert status == 422
    assert f'id="lock-{field}_error"' in body
    assert '<details class="adder" id="lock-form" open>' in body
    assert ("<html" in body) is not htmx
    assert not ResilienceEvent.objects.exists()


def test_a_viewer_sees_and_finds_no_control(viewer: Client, on_fire: FallbackChain) -> None:
    page = page_of(viewer)
    assert hooks(page)
    assert "data-action" not in page
    assert lock(viewer, connection="groq/main", model="m", reason="because")[0] == 403


def test_the_nearest_row_is_the_next_then_the_last(on_fire: FallbackChain) -> None:
    rows = read_lockouts(timezone.now()).rows
    assert nearest(rows, ("a", "b", "c")) == nearest(rows, ("z", "z", "z")) == rows[0]
    assert nearest([], ("a", "b", "c")) is None
