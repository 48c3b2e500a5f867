"""The cooldown, sentence by sentence of RESILIENCE section 4."""

from datetime import UTC, datetime, timedelta

import pytest

from resilience.core import cooldown as cooldowns
from resilience.core.cooldown import Cooldown
from resilience.core.events import CooldownCleared, CooldownStarted
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure, Hint
from resilience.core.policy import CooldownConfig

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CONFIG = CooldownConfig()
FRESH = Cooldown("openai", "main")


def hinted(seconds: float, kind: Kind = Kind.RATE_LIMIT) -> Failure:
    return Failure(kind, hint=Hint(timedelta(seconds=seconds), "retry-after header"))


def started(
    failure: Failure, now: datetime = NOW, cooldown: Cooldown = FRESH, config: CooldownConfig = CONFIG
) -> Cooldown:
    return cooldowns.start(cooldown, config, failure, now)[0]


def left(cooldown: Cooldown, now: datetime = NOW) -> float | None:
    return (cooldown.until - now).total_seconds() if cooldown.until else None


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (Failure(Kind.RATE_LIMIT), 60),
        (hinted(7), 7),
        (hinted(200_000), 86_400),
        (Failure(Kind.QUOTA_EXHAUSTED), 3600),
        (hinted(5400, Kind.QUOTA_EXHAUSTED), 5400),
        (Failure(Kind.AUTH), 600),
        (Failure(Kind.OVERLOADED), None),
        (hinted(45, Kind.OVERLOADED), 45),
        (Failure(Kind.TRANSIENT), None),
        (hinted(45, Kind.TRANSIENT), 45),
        (hinted(45, Kind.TIMEOUT), None),
        (hinted(45, Kind.MODEL_UNAVAILABLE), None),
        (hinted(45, Kind.CONTEXT_LENGTH), None),
        (hinted(45, Kind.CONTENT_FILTER), None),
        (hinted(45, Kind.INVALID_REQUEST), None),
        (hinted(45, Kind.CANCELLED), None),
        (hinted(45, Kind.LOCAL), None),
    ],
)
def test_how_long_a_kind_cools_its_connection(failure: Failure, expected: float | None) -> None:
    assert left(started(failure)) == expected


def test_an_operators_rule_sets_the_time() -> None:
    failure = Failure(
        Kind.TIMEOUT, hint=Hint(timedelta(seconds=5), "x"), rule="operator: slow", cooldown=timedelta(seconds=33)
    )
    assert left(started(failure)) == 33


@pytest.mark.parametrize("kind", [Kind.TRANSIENT, Kind.OVERLOADED, Kind.TIMEOUT])
def test_kinds_that_cool_for_a_hint_only_or_never_do_so_for_as_long_as_the_operator_says(kind: Kind) -> None:
    config = CooldownConfig({kind: timedelta(seconds=5)})
    first = started(Failure(kind), config=config)
    assert (left(first), first.source) == (5, "configuration")
    assert left(started(Failure(kind), NOW + timedelta(seconds=6), first, config), NOW + timedelta(seconds=6)) == 10
    assert left(started(hinted(45, kind), config=config)) == (5 if kind is Kind.TIMEOUT else 45)


def test_a_cooldown_of_zero_is_none() -> None:
    config = CooldownConfig(by_kind={Kind.RATE_LIMIT: timedelta(0)})
    assert started(Failure(Kind.RATE_LIMIT), config=config) is FRESH


def test_the_time_doubles_with_the_level_up_to_its_cap() -> None:
    waits, cooldown, now = [], FRESH, NOW
    for _ in range(8):
        cooldown = started(Failure(Kind.RATE_LIMIT), now, cooldown)
        waits.append(left(cooldown, now))
        now = cooldown.until or now
    assert waits == [60, 120, 240, 480, 960, 1800, 1800, 1800]
    assert left(started(Failure(Kind.QUOTA_EXHAUSTED), now, Cooldown("o", "m", level=1000)), now) == 86_400


def test_ten_failures_in_flight_raise_the_level_once() -> None:
    cooldown = FRESH
    for _ in range(10):
        cooldown = started(Failure(Kind.RATE_LIMIT), cooldown=cooldown)
    assert cooldown.level == 1
    assert left(cooldown) == 60


def test_the_later_deadline_wins_in_either_order() -> None:
    short_first = started(hinted(300), cooldown=started(hinted(2)))
    long_first = started(hinted(2), cooldown=started(hinted(300)))
    assert left(short_first) == left(long_first) == 300
    assert started(hinted(2), cooldown=long_first) is long_first


def test_a_cooldown_ends_by_time() -> None:
    cooldown = started(hinted(7))
    assert cooldown.in_force(NOW + timedelta(seconds=6.9))
    assert not cooldown.in_force(NOW + timedelta(seconds=7))


def test_a_success_clears_only_what_was_set_before_it_began() -> None:
    cooldown = started(hinted(120))
    during, nothing = cooldowns.succeed(cooldown, NOW - timedelta(seconds=1), NOW + timedelta(seconds=1))
    assert (left(during), during.level, nothing) == (120, 0, ())
    after, events = cooldowns.succeed(cooldown, NOW + timedelta(seconds=1), NOW + timedelta(seconds=2))
    assert (after.until, after.level) == (None, 0)
    assert events == (CooldownCleared("openai", "main", "success"),)


def test_a_success_on_a_connection_that_never_cooled_changes_nothing() -> None:
    assert cooldowns.succeed(FRESH, NOW, NOW) == (FRESH, ())


def test_an_operator_clears_it_and_the_level() -> None:
    cooldown = started(hinted(120))
    clear, events = cooldowns.clear(cooldown, NOW)
    assert (clear.until, clear.level) == (None, 0)
    assert events == (CooldownCleared("openai", "main", "operator"),)
    assert cooldowns.clear(FRESH, NOW) == (FRESH, ())


def test_a_start_tells_what_operators_need() -> None:
    failure = Failure(Kind.RATE_LIMIT, "slow down", 429, hint=Hint(timedelta(seconds=7), "retry-after header"))
    cooldown, events = cooldowns.start(FRESH, CONFIG, failure, NOW)
    assert (cooldown.kind, cooldown.source, cooldown.message, cooldown.status) == (
        Kind.RATE_LIMIT,
        "retry-after header",
        "slow down",
        429,
    )
    assert (cooldown.started_at, cooldown.failed_at) == (NOW, NOW)
    until = NOW + timedelta(seconds=7)
    assert events == (CooldownStarted("openai", "main", Kind.RATE_LIMIT, until, "retry-after header", 1),)
