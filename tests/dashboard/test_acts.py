"""Acting on circuits: reason first, 422 with the same form, the actor on record, and without a script."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from resilience.models import BreakerState, ResilienceEvent
from resilience.reading import read_breaker, read_cooldown, read_lockout
from routing.models import FallbackChain
from tests.dashboard.conftest import log, opened
from tests.dashboard.reading import said_by
from tests.state import write

HTMX = {"HX-Request": "true"}
PAIR = {"provider": "groq", "connection": "main", "model": "llama-3.3-70b"}


def post(client: Client, action: str, *, htmx: bool = True, **data: str) -> tuple[int, str]:
    answer = client.post("/act/", {"action": action, **data}, headers=HTMX if htmx else {})
    return answer.status_code, said_by(answer)


def test_a_circuit_is_held_open_with_actor_reason_and_end(operator: Client, fleet: FallbackChain) -> None:
    before = timezone.now()
    status, body = post(operator, "force-open", provider="openai", reason="billing migration", duration="30 min")
    assert status == 200
    assert 'data-forced="open"' in body
    held = read_breaker("openai").forced
    assert held is not None
    assert (held.mode, held.by, held.reason) == ("open", "alice", "billing migration")
    assert held.until is not None
    assert held.until - before >= timedelta(minutes=30)
    event = ResilienceEvent.objects.get()
    assert (event.name, event.actor, event.reason) == ("breaker_held", "alice", "billing migration")


def test_a_hold_without_an_end_lasts_until_released(operator: Client, fleet: FallbackChain) -> None:
    post(operator, "force-close", provider="openai", reason="their status page is wrong")
    forced = read_breaker("openai").forced
    assert forced is not None
    assert (forced.mode, forced.until) == ("closed", None)
    post(operator, "unforce", provider="openai", reason="it was right")
    assert read_breaker("openai").forced is None


def test_an_open_circuit_probes_at_once_when_told_to(operator: Client, on_fire: FallbackChain) -> None:
    status, body = post(operator, "probe", provider="openai", reason="their page says fixed")
    assert status == 200
    assert 'data-provider="openai" data-state="OPEN"' in body
    breaker = read_breaker("openai")
    assert breaker.retry_at is not None
    assert breaker.retry_at <= timezone.now()
    event = ResilienceEvent.objects.latest("id")
    assert (event.name, event.actor, event.reason) == ("probe_allowed", "alice", "their page says fixed")


def test_reset_closes(operator: Client, on_fire: FallbackChain) -> None:
    status, body = post(operator, "reset", provider="openai", reason="they fixed it")
    assert status == 200
    assert 'data-provider="openai" data-state="CLOSED"' in body
    assert read_breaker("openai").failure_count == 0


def test_a_cooldown_is_cleared(operator: Client, on_fire: FallbackChain) -> None:
    status, body = post(operator, "clear-cooldown", provider="anthropic", connection="main", reason="new quota")
    assert status == 200
    assert 'data-connection="anthropic/main" data-cooling="false"' in body
    assert not read_cooldown("anthropic", "main").in_force(timezone.now())


def test_a_model_is_locked_and_unlocked(operator: Client, fleet: FallbackChain) -> None:
    status, body = post(operator, "lock", **PAIR, reason="wrong answers", duration="2 h")
    assert status == 200
    assert 'data-lockout="groq/main/llama-3.3-70b"' in body
    assert read_lockout("groq", "main", "llama-3.3-70b").in_force(timezone.now())
    status, body = post(operator, "unlock", **PAIR, reason="right again")
    assert 'data-lockout="groq/main/llama-3.3-70b"' not in body
    assert not read_lockout("groq", "main", "llama-3.3-70b").in_force(timezone.now())


def test_the_focus_goes_to_the_tile_when_the_button_is_gone(operator: Client, on_fire: FallbackChain) -> None:
    answer = operator.post("/act/", {"action": "unlock", **PAIR, "reason": "right again"}, headers=HTMX)
    assert answer["HX-Trigger-After-Settle"] == '{"console:focus": {"id": "name-groq"}}'


@pytest.mark.parametrize("reason", ["", "   "])
def test_without_a_reason_the_same_form_comes_back(operator: Client, fleet: FallbackChain, reason: str) -> None:
    status, body = post(operator, "force-open", provider="openai", reason=reason, duration="2 h")
    assert status == 422
    assert "Say why" in body
    assert 'value="2 h"' in body
    assert 'id="acts-openai"' in body
    assert not BreakerState.objects.exists()


@pytest.mark.parametrize("duration", ["soon", "-5 min", "0", "10000 d", "1e9", "5 fortnights"])
def test_a_length_that_is_none_is_refused_beside_its_field(
    operator: Client, fleet: FallbackChain, duration: str
) -> None:
    status, body = post(operator, "force-open", provider="openai", reason="because", duration=duration)
    assert status == 422
    assert 'id="ask-openai-duration_error"' in body
    assert not BreakerState.objects.exists()


@pytest.mark.parametrize(
    "data",
    [
        {"action": "explode", "provider": "openai"},
        {"action": "reset", "provider": "nobody"},
        {"action": "clear-cooldown", "provider": "openai", "connection": "nowhere"},
        {},
    ],
)
def test_what_does_not_exist_is_not_acted_upon(operator: Client, fleet: FallbackChain, data: dict[str, str]) -> None:
    assert operator.post("/act/", {**data, "reason": "because"}, headers=HTMX).status_code == 404
    assert not ResilienceEvent.objects.exists()


def test_a_form_sent_back_stays_in_its_place(operator: Client, fleet: FallbackChain) -> None:
    status, body = post(operator, "lock", provider="openai", connection="batch", model="gpt-4o", reason="")
    assert status == 422
    assert 'id="acts-openai"' in body
    assert '<option value="batch" selected>' in body
    status, body = post(operator, "lock", provider="openai", connection="nowhere", model="", reason="because")
    assert status == 422
    assert "Select a valid choice" in body


def test_asking_changes_nothing(operator: Client, fleet: FallbackChain) -> None:
    body = operator.get("/act/?action=force-open&provider=openai", headers=HTMX).content.decode()
    assert 'name="reason"' in body
    assert "<html" not in body
    assert not BreakerState.objects.exists()


def test_holding_open_says_first_what_it_would_do(operator: Client, fleet: FallbackChain) -> None:
    write(breakers=(opened("anthropic"),))
    log()
    log(provider="groq")
    body = operator.get("/act/?action=force-open&provider=openai", headers=HTMX).content.decode()
    assert "It served 50 % of the last hour." in body
    assert "gpt-4o uses it." in body
    assert "gpt-4o would be left with one target." in body


def test_without_a_script_a_form_is_a_page_and_its_end_the_board(operator: Client, fleet: FallbackChain) -> None:
    page = operator.get("/act/?action=reset&provider=openai").content.decode()
    assert "<html" in page
    assert 'name="csrfmiddlewaretoken"' in page
    assert post(operator, "reset", htmx=False, provider="openai", reason="")[0] == 422
    answer = operator.post("/act/", {"action": "reset", "provider": "openai", "reason": "because"})
    assert answer["Location"] == "/#tile-openai"
