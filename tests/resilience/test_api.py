"""The public Python names, as code that embeds the app uses them."""

from datetime import timedelta

import pytest
from django.utils import timezone

import resilience
from resilience import actions, store
from resilience.core.permit import Pair
from resilience.models import ResilienceEvent
from resilience.reading import read_breaker, read_cooldown

from .examples import PAIR, POLICY, open_breaker

pytestmark = pytest.mark.django_db


def test_the_names_of_the_contract_are_found_on_the_package():
    for name in resilience.PUBLIC:
        assert callable(getattr(resilience, name))
    assert set(resilience.PUBLIC) <= set(dir(resilience))
    with pytest.raises(AttributeError):
        resilience.get_toaster  # noqa: B018


def test_a_breaker_can_be_asked_read_and_reset():
    breaker = resilience.get_circuit_breaker("openai")
    assert breaker.can_execute()

    open_breaker(now=timezone.now())

    assert not breaker.can_execute()
    assert breaker.get_status()["state"] == "OPEN"
    breaker.reset()
    assert breaker.can_execute()
    assert ResilienceEvent.objects.latest("id").actor == "python"


def test_asking_takes_no_place():
    open_breaker(now=timezone.now() - timedelta(seconds=31))
    breaker = resilience.get_circuit_breaker("openai")

    assert breaker.can_execute()
    assert breaker.can_execute()
    assert read_breaker("openai").state == "OPEN"


def test_a_breaker_used_by_hand_finds_its_way_back():
    open_breaker(now=timezone.now() - timedelta(seconds=31))

    resilience.record_success(*PAIR)

    assert read_breaker("openai").state == "CLOSED"


def test_an_account_marked_as_limited_cools_down_and_a_success_ends_it():
    resilience.mark_account_unavailable(*PAIR, "rate_limit")
    assert read_cooldown("openai", "main").in_force(timezone.now())

    resilience.record_success(*PAIR)

    assert not read_cooldown("openai", "main").in_force(timezone.now())


def test_an_unknown_reason_is_an_error():
    with pytest.raises(ValueError, match="bad mood"):
        resilience.mark_account_unavailable(*PAIR, "bad mood")


def test_a_missing_model_is_locked_listed_and_unlocked():
    resilience.mark_account_unavailable(*PAIR, "model_unavailable")
    assert [one["model"] for one in resilience.get_all_model_lockouts()] == ["gpt-4o"]

    resilience.force_unlock(*PAIR)

    assert resilience.get_all_model_lockouts() == []


def test_all_breakers_are_listed():
    assert [one["provider"] for one in resilience.get_all_circuit_breaker_statuses()] == ["groq", "openai"]


@pytest.mark.parametrize("reason", ["", "   "])
def test_people_must_say_why(reason):
    with pytest.raises(ValueError, match="reason"):
        actions.reset("openai", actor="ann", reason=reason)


@pytest.mark.parametrize("seconds", [0, -1, 10**9])
def test_durations_are_positive_and_bounded(seconds):
    with pytest.raises(ValueError, match="duration"):
        actions.force_open("openai", actor="ann", reason="drill", duration=timedelta(seconds=seconds))


def test_a_hold_ends_by_itself():
    actions.force_open("openai", actor="ann", reason="drill", duration=timedelta(seconds=60))

    until = read_breaker("openai").forced.until
    assert timedelta(seconds=50) < until - timezone.now() <= timedelta(seconds=60)


def test_actions_reach_every_layer():
    store.lock(PAIR, None, actor="ann", reason="x", now=timezone.now())
    assert actions.unlock(PAIR, actor="ann", reason="fixed").written
    assert actions.lock(Pair("openai", "main", "m"), actor="ann", reason="bad", duration=timedelta(seconds=9)).written
    assert not actions.clear_cooldown("openai", "main", actor="ann", reason="new key").written
    assert actions.force_close("openai", actor="ann", reason="drill").breakers[0].forced.mode == "closed"
    assert actions.unforce("openai", actor="ann", reason="over").breakers[0].forced is None
    assert POLICY.breaker.failure_threshold == 5
