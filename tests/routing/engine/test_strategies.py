"""The order in which each strategy tries the entries of a chain."""

from collections import Counter
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from resilience.core.state import Breaker, State
from resilience.registry import Registry
from routing.live import Live
from routing.strategies import STRATEGIES, Surroundings
from routing.table import Entry, ModelFacts, Provider

AT = 1000.0  # s, of a clock that the tests hold


class Scene:
    def __init__(self, strategy: str, *entries: Entry, facts: dict[str, ModelFacts] | None = None) -> None:
        self._strategy = STRATEGIES[strategy]
        self._entries = entries
        self.registry, self.live = Registry(), Live()
        known = {(slug, "m"): fact for slug, fact in (facts or {}).items()}
        self._random = Random(7)
        self._facts = known

    def degrade(self, slug: str) -> None:
        self.registry.breakers[slug] = Breaker(slug, state=State.DEGRADED)

    def order(self, at: float = AT) -> str:
        around = Surroundings("chain", self.registry, self.live, self._facts, self._random, at)
        return "".join(entry.provider.slug for entry in self._strategy(self._entries, around))

    def firsts(self, times: int) -> Counter[str]:
        return Counter(self.order()[0] for _ in range(times))


def entry(slug: str, **members: Any) -> Entry:
    return Entry(Provider(slug, slug, "openai", f"http://{slug}.invalid"), "m", **members)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_keeps_every_entry(strategy: str) -> None:
    scene = Scene(strategy, entry("a"), entry("b", weight=0), entry("c"))
    for _ in range(20):
        assert sorted(scene.order()) == ["a", "b", "c"]


@pytest.mark.parametrize("strategy", sorted(STRATEGIES.keys() - {"weighted"}))
def test_a_degraded_provider_comes_last_among_its_equals(strategy: str) -> None:
    scene = Scene(strategy, entry("a"), entry("b"), entry("c"))
    scene.degrade("a")
    assert {scene.order()[-1] for _ in range(10)} == {"a"}


def test_priority_counts_for_more_than_health() -> None:
    scene = Scene("priority", entry("b", priority=1), entry("a", priority=0))
    scene.degrade("a")
    assert scene.order() == "ab"


def test_weights_are_shares_and_degraded_ones_count_half() -> None:
    scene = Scene("weighted", entry("a", weight=3), entry("b", weight=1), entry("c", weight=0))
    shares = scene.firsts(4000)
    assert 2850 < shares["a"] < 3150
    assert shares["c"] == 0
    scene.degrade("a")
    assert 2250 < scene.firsts(4000)["a"] < 2550  # 1.5 of 2.5


def test_only_zero_weights_fall_back_to_priority() -> None:
    assert Scene("weighted", entry("a", weight=0, priority=2), entry("b", weight=0, priority=1)).order() == "ba"


def test_round_robin_takes_turns() -> None:
    scene = Scene("round_robin", entry("a"), entry("b"), entry("c"))
    assert [scene.order() for _ in range(4)] == ["abc", "bca", "cab", "abc"]


def test_random_starts_anywhere() -> None:
    assert min(Scene("random", entry("a"), entry("b")).firsts(1000).values()) > 400


def test_the_least_used_comes_first_and_use_fades() -> None:
    scene = Scene("least_used", entry("a"), entry("b"))
    for _ in range(3):
        scene.live.use("a", "m", AT)
    scene.live.use("b", "m", AT)
    assert scene.order() == "ba"
    scene.live.use("b", "m", AT + 120)
    assert scene.order(AT + 120) == "ab"


def test_the_fastest_comes_first_and_what_is_not_known_is_tried() -> None:
    scene = Scene("fastest", entry("a"), entry("b"), entry("c"))
    scene.live.measure("a", "m", 0.9, AT)
    scene.live.measure("b", "m", 0.2, AT)
    assert scene.order() == "cba"
    scene.live.measure("c", "m", 0.5, AT)
    assert scene.order() == "bca"
    assert scene.order(AT + 301) == "abc"  # long ago: all are to be tried again


def test_the_cheapest_comes_first_and_unknown_prices_last() -> None:
    def price(each: str) -> ModelFacts:
        return ModelFacts(input_price=Decimal(each), output_price=Decimal(each))

    facts = {"a": price("2.5"), "c": price("0.1"), "d": ModelFacts(input_price=Decimal(0))}
    scene = Scene("cheapest", entry("a"), entry("b"), entry("c"), entry("d", priority=-1), facts=facts)
    assert scene.order() == "cadb"
