"""The store: one transaction per write, rows as the core says, events as they happened."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from resilience import policies, store
from resilience.core.events import ConfigChanged
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from resilience.core.permit import Pair, Refusal, RefusalReason
from resilience.core.state import State
from resilience.core.window import Window
from resilience.models import BreakerState, Cooldown, ModelLockout, ResilienceEvent
from resilience.reading import current_version, load_all, load_since, read_breaker, read_cooldown, read_lockout
from resilience.signals import resilience_event

from .examples import BROKEN, GONE, LIMITED, NOW, PAIR, POLICY, SUCCESS, after, open_breaker, permit, settle

pytestmark = pytest.mark.django_db


def test_five_failures_in_a_row_open_the_breaker_and_leave_two_transitions():
    change = open_breaker()

    assert change.breakers[0].state is State.OPEN
    assert read_breaker("openai") == change.breakers[0]
    assert read_breaker("openai").retry_at == after(30)
    moves = list(ResilienceEvent.objects.order_by("id").values_list("from_state", "to_state", "cause", "failure_count"))
    assert moves == [
        ("CLOSED", "DEGRADED", "failures in a row", 3),
        ("DEGRADED", "OPEN", "failures in a row", 5),
    ]


def test_an_event_keeps_the_request_that_caused_it_and_no_actor():
    settle(GONE, request_id="0192f0c1-aaaa")

    event = ResilienceEvent.objects.get()
    assert (event.name, event.provider, event.connection, event.model) == ("model_locked", *PAIR)
    assert (event.request_id, event.actor, event.reason, event.at) == ("0192f0c1-aaaa", "", "", NOW)
    assert event.kind == "model_unavailable"
    assert event.data["until"] == "2026-11-30T12:02:00.000Z"


def test_a_hinted_429_cools_only_its_connection():
    settle(LIMITED)

    assert read_cooldown("openai", "main").until == after(7)
    assert read_cooldown("openai", "main").source == "retry-after header"
    assert read_cooldown("openai", "other").until is None
    assert read_breaker("openai").state is State.CLOSED
    assert read_breaker("openai").failure_count == 0


def test_a_success_on_clean_layers_writes_nothing_and_takes_no_number():
    settle(BROKEN)
    settle(SUCCESS, now=after(1))
    version = current_version()

    change = store.settle(
        permit(generation=99), POLICY, SUCCESS, after(2), 0.0, sibling_usable=True
    )  # of another generation

    assert not change.written
    assert change.version == version == current_version()
    assert change.breakers == (read_breaker("openai"),)


def test_successes_kept_in_memory_reach_the_row_with_the_next_failure():
    calls = Window.EMPTY.add(NOW, POLICY.breaker.window, calls=40)

    store.settle(permit(), POLICY, BROKEN, NOW, 0.0, sibling_usable=True, unwritten=calls)

    assert read_breaker("openai").window.totals(NOW, POLICY.breaker.window) == (41, 1)


def test_a_failure_costs_six_queries_inside_its_transaction():
    settle(BROKEN)
    first = permit()

    with CaptureQueriesContext(connection) as queries:
        store.settle(first, POLICY, BROKEN, NOW, 0.0, sibling_usable=True)

    statements = [query["sql"] for query in queries if "SAVEPOINT" not in query["sql"]]
    assert len(statements) == 6, statements


def test_a_probe_is_claimed_once_and_its_success_closes_the_breaker():
    open_breaker()

    won, refusal = store.claim("openai", POLICY, after(30), "lease-1")
    lost, second = store.claim("openai", POLICY, after(30), "lease-2")

    assert refusal is None
    assert won.breakers[0].state is State.HALF_OPEN
    assert second == Refusal(RefusalReason.BREAKER_HALF_OPEN, after(150))
    assert not lost.written
    settle(SUCCESS, lease_id="lease-1", now=after(31))
    assert read_breaker("openai").state is State.CLOSED
    assert ResilienceEvent.objects.latest("id").cause == "probes succeeded"


def test_claiming_the_same_lease_twice_is_the_same_as_once():
    open_breaker()
    first, _ = store.claim("openai", POLICY, after(30), "lease-1")

    again, refusal = store.claim("openai", POLICY, after(31), "lease-1")

    assert refusal is None
    assert not again.written
    assert again.breakers == first.breakers


def test_a_claim_before_retry_at_is_refused_and_changes_nothing():
    open_breaker()

    change, refusal = store.claim("openai", POLICY, after(29.9), "lease-1")

    assert refusal == Refusal(RefusalReason.BREAKER_OPEN, after(30))
    assert not change.written


def test_operators_actions_are_events_with_actor_and_reason():
    store.force("openai", "open", actor="ann", reason="fire drill", until=after(60), now=NOW)
    store.unforce("openai", actor="ben", reason="over", now=after(1))
    store.lock(PAIR, timedelta(seconds=5), actor="ann", reason="wrong answers", now=NOW)
    store.unlock(PAIR, actor="ann", reason="fixed", now=after(1))
    store.reset("openai", actor="cli:root", reason="clean slate", now=after(2))

    found = list(ResilienceEvent.objects.order_by("id").values_list("name", "actor", "reason"))
    assert found == [
        ("breaker_held", "ann", "fire drill"),
        ("breaker_released", "ben", "over"),
        ("model_locked", "ann", "wrong answers"),
        ("model_unlocked", "ann", "fixed"),
        ("breaker_moved", "cli:root", "clean slate"),
    ]


def test_a_change_of_the_configuration_is_an_event_that_changes_no_state():
    changed = ConfigChanged("chain gpt-4o", "entries reordered")
    change = store.note(changed, actor="ann", reason="openai is slow today", now=NOW)

    assert (change.breakers, change.cooldowns, change.lockouts) == ((), (), ())
    event = ResilienceEvent.objects.get()
    assert (event.name, event.actor, event.reason) == ("config_changed", "ann", "openai is slow today")
    assert (event.data, event.cause) == ({"subject": "chain gpt-4o"}, "entries reordered")


def test_a_lock_by_hand_without_duration_lasts_as_long_as_configured():
    store.lock(PAIR, None, actor="ann", reason="wrong answers", now=NOW)

    assert read_lockout(*PAIR).until == NOW + POLICY.lockout.lockout_duration


def test_clearing_a_cooldown_that_is_none_is_no_error_and_no_event():
    change = store.clear_cooldown("openai", "main", actor="ann", reason="why not", now=NOW)

    assert not change.written
    assert not ResilienceEvent.objects.exists()


def test_load_since_brings_only_what_is_newer():
    settle(BROKEN)
    version = current_version()
    settle(LIMITED, Pair("groq", "spare", "llama"))

    change = load_since(version)

    assert [one.provider for one in change.breakers] == ["groq"]
    assert [one.connection for one in change.cooldowns] == ["spare"]
    assert load_since(change.version).breakers == ()
    assert {one.provider for one in load_all().breakers} == {"openai", "groq"}


def test_deadlines_that_no_policy_can_have_set_are_brought_back_at_start(configured):
    settle(GONE, Pair("openai", "other", "gpt-9"))
    settle(LIMITED, Pair("openai", "spare", "gpt-4o"))
    open_breaker()
    far = after(10 * 365 * 86400)
    BreakerState.objects.update(retry_at=far)
    Cooldown.objects.update(until=far)
    ModelLockout.objects.filter(reason="model_unavailable").update(until=far)
    store.lock(Pair("openai", "main", "by-hand"), timedelta(days=30), actor="ann", reason="contract", now=NOW)

    store.correct_clocks(NOW)

    day = policies.policy_for("openai").cooldown.max_cooldown
    assert read_breaker("openai").retry_at == NOW + day
    assert read_cooldown("openai", "spare").until == NOW + day
    assert read_lockout("openai", "other", "gpt-9").until == NOW + day
    assert read_lockout("openai", "main", "by-hand").until == NOW + timedelta(days=30)
    assert not store.correct_clocks(NOW).written


def test_text_that_a_database_refuses_is_stored_readable():
    settle(Failure(Kind.TRANSIENT, "nul \x00 and half a pair \ud83d"))

    assert read_breaker("openai").last_failure_message == "nul \ufffd and half a pair ?"


def test_a_kind_of_a_newer_version_is_read_as_unknown():
    settle(BROKEN)
    BreakerState.objects.update(last_failure_kind="solar_flare", kind_counts={"solar_flare": 3, "transient": 1})

    breaker = read_breaker("openai")

    assert breaker.last_failure_kind is None
    assert breaker.kind_counts == {Kind.TRANSIENT: 1}


def test_lockouts_that_say_nothing_any_more_are_deleted_and_others_kept():
    settle(GONE, Pair("openai", "main", "made-up"))
    settle(GONE, Pair("openai", "main", "recent"), now=after(7000))
    settle(SUCCESS, Pair("openai", "main", "made-up"), now=after(200))

    assert store.forget_idle(after(7200)) == 1
    assert ModelLockout.objects.get().model == "recent"


def test_receivers_hear_of_events_after_the_commit_and_may_fail(django_capture_on_commit_callbacks):
    heard = []

    def broken_receiver(**_kwargs):
        raise ValueError("a receiver's mistake")

    def receiver(event, row, **_kwargs):
        heard.append((event.name, row.pk))

    resilience_event.connect(broken_receiver)
    resilience_event.connect(receiver)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            settle(GONE)
            assert heard == []
    finally:
        resilience_event.disconnect(broken_receiver)
        resilience_event.disconnect(receiver)
    assert heard == [("model_locked", ResilienceEvent.objects.get().pk)]
