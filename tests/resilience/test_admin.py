"""The stock admin: read, act with a reason, never edit."""

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from django.utils import timezone

from resilience.models import BreakerState, Cooldown, ModelLockout, ResilienceEvent
from resilience.reading import read_breaker, read_cooldown, read_lockout

from .examples import GONE, LIMITED, PAIR, open_breaker, settle

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client):
    user = User.objects.create_superuser("ann", password="x")
    client.force_login(user)
    return client


def act(client, model: str, action: str, rows, **fields):
    """What the confirmation page sends: what it showed, and what was filled in."""
    address = reverse(f"admin:resilience_{model}_changelist")
    said = {"action": action, "_selected_action": [row.pk for row in rows]}
    page = client.post(address, said)
    if not fields:
        return page
    shown = dict(re.findall(r'name="(before-\d+)" value="([^"]*)"', page.content.decode()))
    return client.post(address, {**said, **shown, **fields})


@pytest.mark.parametrize("model", ["breakerstate", "cooldown", "modellockout", "resilienceevent"])
def test_rows_are_listed_searched_and_shown_but_not_edited(operator, model):
    settle(LIMITED, now=timezone.now())
    open_breaker(now=timezone.now())
    row = {"breakerstate": BreakerState, "cooldown": Cooldown, "modellockout": ModelLockout}.get(model, ResilienceEvent)
    changelist = reverse(f"admin:resilience_{model}_changelist")
    page = reverse(f"admin:resilience_{model}_change", args=[row.objects.first().pk])

    assert "openai" in operator.get(changelist, {"q": "openai"}).content.decode()
    shown = operator.get(page)
    assert shown.status_code == 200
    assert 'name="_save"' not in shown.content.decode()
    assert operator.post(page, {"provider": "other"}).status_code == 403
    assert operator.get(reverse(f"admin:resilience_{model}_add")).status_code == 403


def test_an_action_asks_for_a_reason_before_it_does_anything(operator):
    open_breaker()
    rows = BreakerState.objects.all()

    asked = act(operator, "breakerstate", "reset", rows)
    refused = act(operator, "breakerstate", "reset", rows, confirmed="yes", reason="  ")

    assert "openai: OPEN" in asked.content.decode()
    assert "This field is required" not in asked.content.decode()
    assert "This field is required" in refused.content.decode()
    assert read_breaker("openai").state == "OPEN"


def test_a_confirmed_reset_goes_through_the_actions_with_the_user_as_actor(operator):
    open_breaker()

    answer = act(operator, "breakerstate", "reset", BreakerState.objects.all(), confirmed="yes", reason="fixed")

    assert answer.status_code == 302
    assert read_breaker("openai").state == "CLOSED"
    event = ResilienceEvent.objects.latest("id")
    assert (event.actor, event.reason) == ("ann", "fixed")


def test_breakers_are_held_and_released(operator):
    open_breaker()
    rows = BreakerState.objects.all()

    act(operator, "breakerstate", "hold_open", rows, confirmed="yes", reason="drill", seconds="60")
    assert read_breaker("openai").forced.mode == "open"
    assert read_breaker("openai").forced.until is not None
    act(operator, "breakerstate", "hold_closed", rows, confirmed="yes", reason="drill", seconds="")
    assert read_breaker("openai").forced.mode == "closed"
    assert read_breaker("openai").forced.until is None
    act(operator, "breakerstate", "release", rows, confirmed="yes", reason="over")
    assert read_breaker("openai").forced is None


def test_cooldowns_are_cleared_and_pairs_unlocked(operator):
    now = timezone.now()
    settle(LIMITED, now=now)
    settle(GONE, now=now)

    act(operator, "cooldown", "clear", Cooldown.objects.all(), confirmed="yes", reason="new key")
    act(operator, "modellockout", "unlock", ModelLockout.objects.all(), confirmed="yes", reason="fixed")

    assert not read_cooldown("openai", "main").in_force(now)
    assert not read_lockout(*PAIR).in_force(now)


def test_a_viewer_sees_rows_but_is_offered_no_action(client):
    open_breaker()
    user = User.objects.create_user("vic", password="x", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_breakerstate"))
    client.force_login(user)

    page = client.get(reverse("admin:resilience_breakerstate_changelist")).content.decode()
    act(client, "breakerstate", "reset", BreakerState.objects.all(), confirmed="yes", reason="let me")

    assert "openai" in page
    assert "Hold open" not in page
    assert read_breaker("openai").state == "OPEN"
