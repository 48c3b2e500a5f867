"""In which order a chain's entries and a provider's connections are tried."""

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from random import Random

import pytest

from resilience.core.state import Breaker, State
from resilience.registry import Registry
from routing.chains import Route, connections, resolve, targets
from routing.errors import GatewayError
from routing.live import Live
from routing.strategies import STRATEGIES, Surroundings
from routing.table import Chain, Connection, Entry, ModelFacts, Provider, RoutingTable


def entry(slug: str, priority: int = 0, weight: float = 1.0, *names: str, **members: object) -> Entry:
    ready = tuple(Connection(slug, name, "http://x.invalid/v1") for name in names or ("main",))
    return Entry(
        Provider(slug, slug, "openai", "http://x.invalid/v1", connections=ready), "m", priority, weight, **members
    )  # type: ignore[arg-type]


def around(
    *, degraded: str = "", facts: dict[tuple[str, str], ModelFacts] | None = None, at: float = 0.0
) -> Surroundings:
    registry = Registry()
    if degraded:
        registry.breakers[degraded] = Breaker(degraded, State.DEGRADED)
    return Surroundings("chain", registry, Live(), facts or {}, Random(7), at)


def order(strategy: str, entries: list[Entry], surroundings: Surroundings) -> str:
    return "".join(one.provider.slug for one in STRATEGIES[strategy](entries, surroundings))


def test_priority_is_lowest_number_first_and_keeps_the_given_order_within_one() -> None:
    assert order("priority", [entry("c", 2), entry("a", 0), entry("b", 0)], around()) == "abc"


def test_within_one_priority_a_degraded_provider_comes_last() -> None:
    assert order("priority", [entry("a"), entry("b"), entry("c", 1)], around(degraded="a")) == "bac"


@pytest.mark.parametrize("strategy", ["round_robin", "random", "least_used", "fastest", "cheapest"])
def test_other_strategies_try_a_degraded_provider_after_the_healthy(strategy: str) -> None:
    assert order(strategy, [entry("a"), entry("b"), entry("c")], around(degraded="b")).endswith("b")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_keeps_every_entry_as_fallback(strategy: str) -> None:
    assert sorted(order(strategy, [entry("a"), entry("b"), entry("c")], around())) == ["a", "b", "c"]


def test_weighted_draws_in_proportion_and_halves_what_is_degraded() -> None:
    entries = [entry("a", weight=3), entry("b", weight=1)]

    def share(surroundings: Surroundings) -> float:
        first = Counter(order("weighted", entries, surroundings)[0] for _ in range(4000))
        return first["a"] / first.total()

    assert abs(share(around()) - 3 / 4) < 0.03
    assert abs(share(around(degraded="a")) - 1.5 / 2.5) < 0.03


def test_round_robin_takes_turns() -> None:
    surroundings = around()
    entries = [entry("a"), entry("b"), entry("c")]
    assert [order("round_robin", entries, surroundings) for _ in range(4)] == ["abc", "bca", "cab", "abc"]


def test_least_used_counts_attempts_and_forgets_old_ones() -> None:
    surroundings = around(at=10.0)
    for at in (0.0, 1.0, 2.0):
        surroundings.live.use("a", "m", at)
    surroundings.live.use("b", "m", 10.0)
    assert order("least_used", [entry("a"), entry("b")], surroundings) == "ba"
    assert surroundings.live.used("a", "m", 1000.0) < 0.001


def test_fastest_goes_by_first_content_and_measures_what_is_unknown() -> None:
    surroundings = around(at=5.0)
    surroundings.live.measure("a", "m", 2.0, 0.0)
    surroundings.live.measure("b", "m", 0.5, 0.0)
    assert order("fastest", [entry("a"), entry("b"), entry("c")], surroundings) == "cba"
    assert surroundings.live.speed("a", "m", 1000.0) is None


def test_cheapest_puts_unknown_prices_last() -> None:
    facts = {
        ("b", "m"): ModelFacts(input_price=Decimal(1), output_price=Decimal(2)),
        ("c", "m"): ModelFacts(input_price=Decimal("0.5"), output_price=Decimal(1)),
    }
    assert order("cheapest", [entry("a"), entry("b"), entry("c")], around(facts=facts)) == "cba"


def test_connections_go_by_priority_then_by_calls_in_flight_for_their_weight() -> None:
    spare = Connection("p", "spare", "http://x.invalid/v1", priority=1)
    small = Connection("p", "small", "http://x.invalid/v1", weight=1)
    large = Connection("p", "large", "http://x.invalid/v1", weight=4)
    one = Entry(Provider("p", "p", "openai", "http://x.invalid/v1", connections=(small, large, spare)), "m")
    live = Live()
    for name in ("small", "large", "large"):
        live.enter("p", name)
    assert [connection.slug for connection in connections(one, live)] == ["large", "small", "spare"]
    assert [connection.slug for connection in connections(replace(one, connection="spare"), live)] == ["spare"]


def test_a_connection_and_model_appear_once_and_only_the_first_entrys_targets_are_first() -> None:
    twice = entry("a", 0, 1.0, "one", "two")
    route = Route("chain", "priority", (twice, entry("b", 1), replace(twice, priority=2)))
    found = list(targets(route, RoutingTable(version=1), around()))
    assert [f"{target.pair.provider}/{target.pair.connection}" for target in found] == ["a/one", "a/two", "b/main"]
    assert [target.first for target in found] == [True, True, False]


def test_disabled_entries_are_not_tried_and_disabled_providers_are_skips() -> None:
    off = entry("b")
    off = replace(off, provider=replace(off.provider, enabled=False))
    route = Route("chain", "priority", (replace(entry("a"), enabled=False), off))
    [target] = targets(route, RoutingTable(version=1), around())
    assert (target.provider.slug, target.enabled) == ("b", False)


def test_a_disabled_chain_is_not_found_but_its_name_may_still_mean_a_provider() -> None:
    one = entry("a")
    table = RoutingTable(version=1, providers={"a": one.provider}, chains={"a/m": Chain("a/m", enabled=False)})
    assert resolve(table, "a/m").direct
    with pytest.raises(GatewayError, match="does not exist here"):
        resolve(table, "chain")
