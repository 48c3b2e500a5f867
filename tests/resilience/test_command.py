"""`manage.py resilience …`, as an operator without a browser uses it."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from resilience.models import ResilienceEvent
from resilience.reading import read_breaker, read_cooldown, read_lockout

from .examples import GONE, LIMITED, PAIR, open_breaker, settle

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_registry")]


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("resilience", *arguments, stdout=out)
    return out.getvalue()


def test_status_is_a_table_of_every_provider():
    now = timezone.now()
    settle(GONE, now=now)
    settle(LIMITED, now=now)
    open_breaker("groq", now=now)

    lines = run("status").splitlines()

    assert lines[0].split() == ["PROVIDER", "STATE", "FAILURES", "WINDOW", "RETRY", "IN", "LAST", "FAILURE", "FORCED"]
    assert lines[1].split()[:4] == ["groq", "OPEN", "5/5", "5/5"]
    assert lines[2].split()[:3] == ["openai", "CLOSED", "0/5"]
    assert any(line.startswith("openai/main ") and "rate_limit" in line for line in lines)
    assert any(line.startswith("openai/main/gpt-4o") and "model_unavailable" in line for line in lines)


def test_status_without_anything_says_so(configured):
    configured.clear()

    assert run("status").splitlines() == ["No providers.", "No cooldowns.", "No lockouts."]


def test_status_as_json_is_the_state_api():
    shown = json.loads(run("status", "--json"))

    assert set(shown) == {"time", "breakers", "cooldowns", "lockouts"}
    assert [one["provider"] for one in shown["breakers"]] == ["groq", "openai"]


def test_a_provider_is_held_open_released_and_reset():
    assert run("force-open", "openai", "--reason", "drill", "--for", "60") == "force-open openai: done\n"
    assert read_breaker("openai").forced.mode == "open"
    assert read_breaker("openai").forced.until is not None
    run("unforce", "openai", "--reason", "over")
    assert read_breaker("openai").forced is None
    run("force-close", "openai", "--reason", "we need it")
    assert read_breaker("openai").forced.mode == "closed"
    run("reset", "openai", "--reason", "clean slate")
    assert read_breaker("openai").forced is None

    actors = set(ResilienceEvent.objects.values_list("actor", flat=True))
    assert len(actors) == 1
    assert actors.pop().startswith("cli")


def test_a_pair_is_locked_and_unlocked_and_a_cooldown_cleared():
    run("lock", *PAIR, "--reason", "wrong answers", "--for", "30")
    assert read_lockout(*PAIR).in_force(timezone.now())
    run("unlock", *PAIR, "--reason", "fixed")
    assert not read_lockout(*PAIR).in_force(timezone.now())
    settle(LIMITED, now=timezone.now())
    run("clear-cooldown", "openai", "main", "--reason", "new key")
    assert not read_cooldown("openai", "main").in_force(timezone.now())
    assert "nothing to change" in run("clear-cooldown", "openai", "main", "--reason", "again")


def test_an_unknown_provider_is_refused_with_the_known_ones():
    with pytest.raises(CommandError, match=r"Unknown provider 'opnai'. Known: groq, openai\.") as error:
        run("reset", "opnai", "--reason", "typo")
    assert error.value.returncode == 2


def test_a_provider_that_left_the_configuration_can_still_be_reset():
    open_breaker("removed")

    run("reset", "removed", "--reason", "gone")

    assert read_breaker("removed").state == "CLOSED"


@pytest.mark.parametrize("action", ["reset", "force-open", "force-close", "unforce"])
def test_every_action_wants_a_reason(action):
    with pytest.raises(CommandError, match="--reason"):
        run(action, "openai")
    with pytest.raises(CommandError, match="reason"):
        run(action, "openai", "--reason", "  ")


@pytest.mark.parametrize("seconds", ["0", "-5", "nan", "inf", "soon"])
def test_a_duration_is_a_number_above_zero(seconds):
    with pytest.raises(CommandError, match="--for"):
        run("force-open", "openai", "--reason", "drill", f"--for={seconds}")
