"""The state API: shapes, what a read leaves alone, actions and their record."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from pydantic import TypeAdapter

from resilience import actions, shapes
from resilience.core.permit import Pair
from resilience.models import ResilienceEvent
from routing import table
from routing.models import ClientKey, RequestLog

Ask = Callable[..., Any]
BREAKER = "/api/resilience/breakers/openai/"


def test_state_lists_every_provider_in_the_documented_shape(ask: Ask) -> None:
    document = ask("GET", "/api/resilience/").json()

    assert [breaker["provider"] for breaker in document["breakers"]] == ["groq", "openai"]
    assert set(shapes.BreakerData.__annotations__) == set(document["breakers"][0])
    TypeAdapter(shapes.Snapshot).validate_python(document)
    assert (document["cooldowns"], document["lockouts"]) == ([], [])


@pytest.mark.parametrize("path", ["/api/resilience", "/api/resilience/breakers/openai", "/api/events"])
def test_reads_answer_without_the_last_slash_too(ask: Ask, path: str) -> None:
    assert ask("GET", path).status_code == 200


def test_what_is_in_force_is_listed_with_its_remaining_time(ask: Ask) -> None:
    actions.lock(Pair("openai", "main", "gpt-4o"), actor="cli:me", reason="drill", duration=timedelta(seconds=90))

    (lockout,) = ask("GET", "/api/resilience/").json()["lockouts"]

    TypeAdapter(shapes.LockoutData).validate_python(lockout)
    assert (lockout["provider"], lockout["connection"], lockout["model"]) == ("openai", "main", "gpt-4o")
    assert 80 < lockout["remaining"] <= 90


def test_a_read_never_moves_an_open_breaker(ask: Ask) -> None:
    actions.force_open("openai", actor="cli:me", reason="drill")
    before = ask("GET", BREAKER).json()

    after = ask("GET", BREAKER).json()

    assert after["state"] == "OPEN"
    assert before["generation"] == after["generation"]


@pytest.mark.parametrize(
    ("verb", "mode", "state"), [("force-open", "open", "OPEN"), ("force-close", "closed", "CLOSED")]
)
def test_a_hold_says_who_why_and_until_when(ask: Ask, verb: str, mode: str, state: str) -> None:
    answer = ask("POST", f"{BREAKER}{verb}/", "operate", {"reason": "maintenance", "for": 60.5})

    breaker = answer.json()
    assert (200, state, mode) == (answer.status_code, breaker["state"], breaker["forced"]["mode"])
    assert (breaker["forced"]["by"], breaker["forced"]["reason"]) == ("key:operate", "maintenance")
    assert breaker["forced"]["until"] is not None
    TypeAdapter(shapes.BreakerDetail).validate_python(breaker)


def test_a_hold_without_a_duration_has_no_end(ask: Ask) -> None:
    breaker = ask("POST", f"{BREAKER}force-open/", "operate", {"reason": "maintenance", "for": None}).json()

    assert breaker["forced"]["until"] is None


def test_unforce_and_reset_leave_the_breaker_closed(ask: Ask) -> None:
    for verb in ("unforce", "reset"):
        actions.force_open("openai", actor="cli:me", reason="drill")
        breaker = ask("POST", f"{BREAKER}{verb}/", "operate", {"reason": "over"}).json()
        assert (breaker["state"], breaker["forced"], breaker["failure_count"]) == ("CLOSED", None, 0)


def test_every_action_is_an_event_with_actor_and_reason(ask: Ask) -> None:
    ask("POST", f"{BREAKER}force-open/", "operate", {"reason": "maintenance"})

    events = ask("GET", "/api/events/").json()

    assert tuple(events[-1][name] for name in ("provider", "actor", "reason")) == (
        "openai",
        "key:operate",
        "maintenance",
    )
    assert ask("GET", f"/api/events/?after={events[-1]['id']}").json() == []


def test_a_key_of_the_longest_name_acts_under_as_much_of_it_as_there_is_room_for(ask: Ask) -> None:
    ClientKey.objects.filter(name="operate").update(name="k" * 200)
    table.load()

    assert ask("POST", f"{BREAKER}force-open/", "operate", {"reason": "maintenance"}).status_code == 200

    actor = ask("GET", "/api/events/").json()[-1]["actor"]
    assert actor == "key:" + "k" * 196
    assert len(actor) == ResilienceEvent._meta.get_field("actor").max_length


def test_events_come_oldest_first_and_no_more_than_asked_for(ask: Ask) -> None:
    for _ in range(3):
        actions.force_open("openai", actor="cli:me", reason="drill")
        actions.unforce("openai", actor="cli:me", reason="drill")

    events = ask("GET", "/api/events/?after=0&limit=2").json()

    assert len(events) == 2
    assert sorted(event["id"] for event in events) == [event["id"] for event in events]
    assert ResilienceEvent.objects.order_by("id").first().pk == events[0]["id"]  # type: ignore[union-attr]


def test_lock_and_unlock_touch_one_pair(ask: Ask) -> None:
    pair = {"provider": "openai", "connection": "main", "model": "org/model-1", "reason": "drill"}

    locked = ask("POST", "/api/resilience/lockouts/lock/", "operate", {**pair, "for": 30}).json()
    unlocked = ask("POST", "/api/resilience/lockouts/unlock/", "operate", pair).json()

    assert [lockout["model"] for lockout in locked["lockouts"]] == ["org/model-1"]
    assert unlocked["lockouts"] == []


def test_clearing_a_cooldown_that_is_not_there_is_no_error(ask: Ask) -> None:
    body = {"provider": "openai", "connection": "main", "reason": "drill"}

    assert ask("POST", "/api/resilience/cooldowns/clear/", "operate", body).status_code == 200


def test_a_request_is_shown_with_its_targets(ask: Ask) -> None:
    id_ = UUID("01900000-0000-7000-8000-000000000001")
    values: dict[str, Any] = dict.fromkeys(
        ("chain", "requested_model", "key_name", "client_format", "code", "error"), "x"
    )
    values |= {"provider": "openai", "connection": "main", "model": "m", "outcome": "answered", "status": 200}
    values |= {"stream": False, "attempts": 1, "fallback": False, "emergency": False, "duration": 0.25}
    RequestLog.objects.create(id=id_, started_at=timezone.now(), targets_json='[{"decision": "answered"}]', **values)

    document = ask("GET", f"/api/requests/{id_}/").json()

    assert (str(id_), 200, [{"decision": "answered"}]) == (document["id"], document["status"], document["targets"])


def test_explain_orders_the_targets_and_names_the_gate(ask: Ask) -> None:
    document = ask("POST", "/api/explain/", "read", {"model": "gpt-4o", "messages": []}).json()

    assert [target["provider"] for target in document["targets"]] == ["openai", "groq"]
    assert all("admitted" in target for target in document["targets"])
    assert ResilienceEvent.objects.count() == 0


def test_the_documentation_needs_nothing_from_elsewhere(ask: Ask) -> None:
    page = ask("GET", "/api/docs", None)
    document = ask("GET", "/api/openapi.json", None).json()

    assert page.status_code == 200
    assert b"//cdn" not in page.content
    assert b"<script>" not in page.content
    assert "default-src 'self'" in page.headers["Content-Security-Policy"]
    documented = {path.removeprefix("/api") for path in document["paths"]}
    assert {"/resilience/", "/resilience/breakers/{provider}/force-open/", "/events/", "/explain/"} <= documented
    assert all(path.endswith("/") for path in documented)
    assert "from" in document["components"]["schemas"]["TransitionData"]["required"]
