"""What the board says: verdict, numbers, pictures, events, in the states that matter."""

from datetime import timedelta

import pytest
from django.utils import timezone

from omniroute_site.dashboard.board_rows import Board
from omniroute_site.dashboard.charts import bars, beats, percentile
from omniroute_site.dashboard.rows import Circuit
from omniroute_site.dashboard.selectors.board import read_board
from omniroute_site.dashboard.selectors.events import spelled
from omniroute_site.dashboard.selectors.traffic import COUNT_LIMIT, MOST_ROWS
from resilience import actions
from resilience.core.events import ConfigChanged
from resilience.core.state import Breaker, Lease, State
from routing.models import FallbackChain, Provider
from tests.dashboard.conftest import attempt, cooling, locked, log, opened
from tests.state import write


def board() -> Board:
    return read_board(timezone.now())


def circuit(slug: str = "openai") -> Circuit:
    return next(each for each in board().circuits if each.slug == slug)


def verdict() -> str:
    return "".join(phrase.text or "…" for phrase in board().verdict.phrases).strip()


def test_all_is_well(fleet: FallbackChain) -> None:
    assert verdict() == "All 3 providers healthy."
    assert board().verdict.title == "All healthy"


@pytest.mark.django_db
def test_nothing_is_configured() -> None:
    assert verdict() == "No provider yet."


def test_one_is_open_and_another_answers(fleet: FallbackChain) -> None:
    write(breakers=(opened(),))
    assert verdict() == "openai is open, retrying …. gpt-4o is answered by anthropic."
    assert board().verdict.title == "openai out"


def test_two_are_out_and_one_is_held(fleet: FallbackChain) -> None:
    write(breakers=(opened(),))
    actions.force_open("groq", actor="alice", reason="because")
    assert verdict().startswith("Two of three providers are out: groq is held open, openai is open, retrying …. ")


def test_nobody_is_left(on_fire: FallbackChain) -> None:
    assert "Nothing answers gpt-4o." in verdict()


def test_small_trouble_is_said_without_alarm(fleet: FallbackChain) -> None:
    write(breakers=(Breaker("openai", State.DEGRADED, failure_count=3),), cooldowns=(cooling("groq", "main"),))
    assert verdict().startswith("groq has main cooling down. openai is degraded.")
    assert board().verdict.tone == "degraded"


def test_a_disabled_provider_is_no_trouble(fleet: FallbackChain) -> None:
    write(breakers=(opened("groq"),))
    Provider.objects.filter(slug="groq").update(enabled=False)
    assert verdict() == "All 2 providers healthy."
    assert circuit("groq").word == "DISABLED"


def test_an_open_circuit_says_when_why_and_how_long_next_time(fleet: FallbackChain) -> None:
    breaker = opened(seconds=24, open_cycles=1)
    write(breakers=(breaker,))
    shown = circuit()
    assert (shown.word, shown.tone, shown.mark) == ("OPEN", "open", "open")
    assert shown.retry_at == breaker.retry_at
    assert shown.next_wait == timedelta(seconds=120)  # 30 s doubled twice
    assert shown.pips == (True,) * 5


def test_a_half_open_circuit_shows_its_live_probes_only(fleet: FallbackChain) -> None:
    now = timezone.now()
    leases = (Lease("gone", now - timedelta(seconds=1)), Lease("live", now + timedelta(seconds=100)))
    write(breakers=(Breaker("openai", State.HALF_OPEN, leases=leases),))
    assert circuit().probes == 1


def test_what_has_run_out_is_not_shown(fleet: FallbackChain) -> None:
    write(cooldowns=(cooling("openai", "main", -1),), lockouts=(locked("openai", "main", "gpt-4o", -1),))
    assert circuit().calm


def test_a_hold_that_has_ended_is_not_shown(fleet: FallbackChain) -> None:
    actions.force_open("openai", actor="alice", reason="because", duration=timedelta(minutes=5))
    later = read_board(timezone.now() + timedelta(minutes=6))
    assert all(not each.forced_mode and each.state == "CLOSED" for each in later.circuits)


def test_looking_changes_nothing(fleet: FallbackChain) -> None:
    write(breakers=(opened(seconds=-5),))
    assert circuit().state == "OPEN"
    assert circuit().state == "OPEN"


def test_traffic_is_counted_per_provider_from_attempts(fleet: FallbackChain) -> None:
    log(targets=[attempt(decision="failed", reason="transient"), attempt("groq")], provider="groq", outcome="rescued")
    log(targets=[attempt(decision="skipped", reason="breaker_open"), attempt("groq")], provider="groq")
    openai, groq = circuit("openai").traffic, circuit("groq").traffic
    assert (openai.calls, openai.failures) == (1, 1)
    assert (groq.calls, groq.failures) == (2, 0)
    assert groq.first_token_p95 == 0.4
    assert groq.per_second == 0.2


def test_an_answer_that_shows_the_provider_alive_is_no_failure(fleet: FallbackChain) -> None:
    log(targets=[attempt(decision="failed", reason="context_length")])
    log(targets=[attempt(decision="failed", reason="rate_limit")])
    traffic = circuit().traffic
    assert (traffic.calls, traffic.failures) == (2, 0)
    assert traffic.limited_path


def test_the_figures_count_five_minutes(fleet: FallbackChain) -> None:
    for outcome in ("answered", "rescued", "failed", "refused", "interrupted", "rejected", "client_closed"):
        log(outcome=outcome)
        log(timezone.now() - timedelta(minutes=6), outcome=outcome)
    numbers = board().numbers
    assert (numbers.rescued.value, numbers.lost.value) == (1, 3)
    assert not numbers.lost.more


def test_reading_the_log_is_bounded() -> None:
    assert MOST_ROWS <= 5_000
    assert COUNT_LIMIT <= 10_000


def test_an_event_names_its_request_and_an_action_its_reason(fleet: FallbackChain) -> None:
    actions.force_open("openai", actor="alice", reason="because", duration=timedelta(minutes=5))
    event = board().events[0]
    assert (event.subject, event.verb, event.actor, event.reason) == ("openai", "held open", "alice", "because")
    assert event.until is not None


def test_bars_are_to_scale_and_never_vanish() -> None:
    assert bars([], 0) == ""
    assert bars([0, 5, 10], 10, 40) == "M1 40v-20.0h0.8V40zM2 40v-40.0h0.8V40z"
    assert "v-2.0" in bars([0.001], 10, 40)


def test_the_newest_outcome_stands_rightmost() -> None:
    assert beats("ox", "x", 60) == "M59 14v-14.0h0.8V14z"


def test_percentiles_are_of_what_was_measured() -> None:
    assert percentile([], 0.95) is None
    assert percentile([7.0], 0.95) == 7.0
    assert percentile([float(n) for n in range(1, 101)], 0.95) == 95.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (30, "30 s"),
        (119, "119 s"),
        (125, "2 min 5 s"),
        (3600, "60 min"),
        (9000, "2 h 30 min"),
        (3e5, "3 d"),
    ],
)
def test_lengths_are_told_in_at_most_two_units(seconds: float, text: str) -> None:
    assert spelled(timedelta(seconds=seconds)) == text


def test_a_change_of_the_configuration_is_told_with_who_and_why(fleet: FallbackChain) -> None:
    actions.configured(ConfigChanged("chain gpt-4o", "groq moved up"), actor="alice", reason="openai is slow")
    event = board().events[0]
    assert (event.subject, event.verb, event.actor, event.reason) == (
        "chain gpt-4o", "groq moved up", "alice", "openai is slow",
    )  # fmt: skip
