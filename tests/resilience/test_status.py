"""The state as it is shown: the shapes of CONTRACT section 5, and no read that changes anything."""

import pytest
from django.db import OperationalError

from resilience import eventlog, reading, status, store
from resilience.core.permit import Pair
from resilience.core.window import Window
from resilience.reading import current_version

from .examples import BROKEN, GONE, LIMITED, NOW, PAIR, POLICY, after, open_breaker, settle

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_registry")]


def breaker(provider="openai", now=NOW):
    return next(one for one in status.snapshot(now)["breakers"] if one["provider"] == provider)


def test_an_open_breaker_reads_as_the_contract_says():
    open_breaker()

    assert breaker(now=after(6)) == {
        "provider": "openai",
        "state": "OPEN",
        "failure_count": 5,
        "last_failure_kind": "transient",
        "last_failure_at": "2026-11-30T12:00:00.000Z",
        "opened_at": "2026-11-30T12:00:00.000Z",
        "retry_at": "2026-11-30T12:00:30.000Z",
        "retry_after": 24.0,
        "open_cycles": 0,
        "effective_reset_timeout": 30.0,
        "probes_in_flight": 0,
        "half_open_requests": 1,
        "failure_threshold": 5,
        "degradation_threshold": 3,
        "kind_counts": {"transient": 5},
        "window": {"calls": 5, "failures": 5, "rate": 1.0},
        "forced": None,
        "generation": 2,
    }


def test_every_configured_provider_is_listed_and_those_that_only_have_state():
    settle(BROKEN, Pair("removed", "main", "m"))

    assert [one["provider"] for one in status.snapshot(NOW)["breakers"]] == ["groq", "openai", "removed"]
    assert breaker("groq")["state"] == "CLOSED"
    assert breaker("groq")["retry_after"] is None


def test_reading_past_retry_at_still_says_open_and_writes_nothing():
    open_breaker()
    version = current_version()

    shown = breaker(now=after(100))

    assert (shown["state"], shown["retry_after"]) == ("OPEN", 0.0)
    assert current_version() == version


def test_a_probe_in_flight_is_counted():
    open_breaker()
    store.claim("openai", POLICY, after(30), "lease-1")

    assert breaker(now=after(31))["state"] == "HALF_OPEN"
    assert breaker(now=after(31))["probes_in_flight"] == 1
    assert breaker(now=after(151))["probes_in_flight"] == 0


def test_a_forced_state_shows_who_and_why_and_reads_as_ended_after_its_time():
    store.force("openai", "open", actor="ann", reason="drill", until=after(60), now=NOW)

    assert breaker()["forced"] == {"mode": "open", "by": "ann", "reason": "drill", "until": "2026-11-30T12:01:00.000Z"}
    assert breaker()["state"] == "OPEN"
    assert breaker(now=after(60))["forced"] is None
    assert breaker(now=after(60))["state"] == "CLOSED"


def test_only_what_is_in_force_is_listed():
    settle(LIMITED)
    settle(GONE, Pair("openai", "spare", "gpt-9"))

    shown = status.snapshot(after(2))

    assert shown["cooldowns"] == [
        {
            "provider": "openai",
            "connection": "main",
            "kind": "rate_limit",
            "until": "2026-11-30T12:00:07.000Z",
            "remaining": 5.0,
            "source": "retry-after header",
            "level": 1,
        }
    ]
    assert shown["lockouts"] == [
        {
            "provider": "openai",
            "connection": "spare",
            "model": "gpt-9",
            "reason": "model_unavailable",
            "locked_at": "2026-11-30T12:00:00.000Z",
            "until": "2026-11-30T12:02:00.000Z",
            "remaining": 118.0,
            "attempts": 1,
        }
    ]
    assert status.snapshot(after(200))["cooldowns"] == status.snapshot(after(200))["lockouts"] == []


def test_a_lock_by_hand_says_so():
    store.lock(PAIR, None, actor="ann", reason="wrong answers", now=NOW)

    assert status.snapshot(NOW)["lockouts"][0]["reason"] == "operator"


def test_calls_not_yet_written_by_this_process_are_in_the_window():
    from resilience.registry import get_registry

    settle(BROKEN)
    get_registry().unwritten["openai"] = Window.EMPTY.add(NOW, POLICY.breaker.window, calls=3)

    assert breaker()["window"] == {"calls": 4, "failures": 1, "rate": 0.25}


def test_a_breaker_in_detail_has_its_transitions_newest_first():
    open_breaker()
    store.reset("openai", actor="ann", reason="fixed", now=after(5))

    transitions = status.breaker_detail("openai", after(5))["transitions"]

    assert [(one["from"], one["to"], one["cause"]) for one in transitions] == [
        ("OPEN", "CLOSED", "reset"),
        ("DEGRADED", "OPEN", "failures in a row"),
        ("CLOSED", "DEGRADED", "failures in a row"),
    ]
    assert (transitions[0]["actor"], transitions[0]["reason"]) == ("ann", "fixed")
    assert transitions[0]["at"] == "2026-11-30T12:00:05.000Z"


def test_a_provider_never_heard_of_has_no_detail():
    with pytest.raises(status.UnknownProviderError):
        status.breaker_detail("nobody", NOW)
    assert status.breaker_detail("groq", NOW)["transitions"] == []


def test_events_come_oldest_first_after_an_id():
    open_breaker()
    first, second = status.events_after(0, 10)

    assert (first["to_state"], second["to_state"]) == ("DEGRADED", "OPEN")
    assert status.events_after(first["id"], 10) == [second]
    assert status.events_after(0, 1) == [first]
    assert eventlog.latest_events(1) == [second]
    assert second["data"] == {"retry_at": "2026-11-30T12:00:30.000Z", "generation": 2}


def test_events_past_their_retention_are_deleted():
    settle(GONE)
    settle(GONE, Pair("openai", "main", "other"), now=after(100))

    assert eventlog.prune_events(after(50)) == 1
    assert [event["model"] for event in status.events_after(0, 10)] == ["other"]


def test_without_a_database_the_copy_of_this_process_is_shown(monkeypatch):
    from resilience.registry import get_registry

    get_registry().apply(open_breaker())

    def away():
        raise OperationalError("no route to host")

    monkeypatch.setattr(reading, "load_all", away)
    assert breaker()["state"] == "OPEN"
