"""What if: what the layers would do, without their doing it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from resilience.core.kinds import Kind
from resilience.core.outcome import SUCCESS
from resilience.core.permit import Pair
from resilience.livecopy import LiveCopy
from routing import table
from routing.explain import explain
from routing.live import Live
from routing.what_if import Failing, Outlook, Supposition, suppose

from .harness import Gateway, chat

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
A = Pair("a", "main", "m")


@pytest.fixture
def two(gateway: Gateway) -> Gateway:
    gateway.provider("a", connections=("main", "spare"))
    gateway.provider("b")
    return gateway


def imagined(gateway: Gateway, **what: Any) -> Outlook:
    gateway.install()
    return suppose(gateway.registry.copied(), table.current(), Supposition(**what), NOW)


def reasons(outlook: Outlook) -> list[str | None]:
    found = explain(chat(), table.current(), outlook.layers, Live(), outlook.at)
    return ["probe" if target["probe"] else target["reason"] for target in found["targets"]]


def believed(layers: LiveCopy) -> tuple[Any, ...]:
    return dict(layers.breakers), dict(layers.cooldowns), dict(layers.lockouts), dict(layers.unwritten)


async def test_holding_open_shuts_every_connection_of_the_provider(two: Gateway) -> None:
    assert reasons(imagined(two)) == [None, None, None]
    assert reasons(imagined(two, held_open=("a",))) == ["forced_open", "forced_open", None]


async def test_a_rate_limit_cools_one_connection_and_the_clock_ends_it(two: Gateway) -> None:
    limited = Failing(A, Kind.RATE_LIMIT)
    assert reasons(imagined(two, failing=limited)) == ["cooling", None, None]
    assert reasons(imagined(two, failing=limited, later=timedelta(seconds=61))) == [None, None, None]


async def test_failures_in_a_row_open_the_breaker_and_the_rest_reach_nobody(two: Gateway) -> None:
    outlook = imagined(two, failing=Failing(A, Kind.TRANSIENT, times=9))
    assert reasons(outlook) == ["breaker_open", "breaker_open", None]
    assert outlook.reached == 5
    assert [event.name for event in outlook.events] == ["breaker_moved", "breaker_moved"]


async def test_an_open_breaker_is_due_for_a_probe_later_and_a_failed_probe_waits_longer(two: Gateway) -> None:
    outlook = imagined(two, failing=Failing(A, Kind.TRANSIENT, times=5), later=timedelta(seconds=31))
    assert reasons(outlook) == ["probe", "probe", None]
    again = suppose(outlook.layers, table.current(), Supposition(failing=Failing(A, Kind.TIMEOUT)), outlook.at)
    until = again.layers.breakers["a"].retry_at
    assert until is not None
    assert until - again.at == timedelta(seconds=60)


async def test_a_missing_model_locks_its_pair_alone(two: Gateway) -> None:
    assert reasons(imagined(two, failing=Failing(A, Kind.MODEL_UNAVAILABLE))) == ["locked", None, None]


async def test_a_provider_that_is_shut_cannot_fail(two: Gateway) -> None:
    outlook = imagined(two, held_open=("a",), failing=Failing(A, Kind.TRANSIENT, times=3))
    assert outlook.reached == 0


async def test_nothing_that_is_imagined_reaches_the_registry(two: Gateway) -> None:
    registry = two.registry
    registry.layers(*A)
    registry.unwritten["a"] = registry.breakers["a"].window.add(NOW, timedelta(seconds=60))
    before = believed(registry)
    for kind in Kind:
        imagined(two, held_open=("b",), failing=Failing(A, kind, times=6), later=timedelta(days=1))
    assert believed(registry) == before
    assert len(registry.backlog) == 0
    assert two.permits == 0


async def test_the_copy_counts_successes_that_are_not_written_yet(two: Gateway) -> None:
    two.install()
    registry, policy = two.registry, table.current().providers["a"].policy
    permit = registry.permit(A, NOW)
    await registry.settle(permit, policy, SUCCESS, now=NOW, sibling_usable=True, request_id="")
    assert registry.copied().breakers["a"].window.totals(NOW, policy.breaker.window) == (1, 0)


async def test_what_is_not_configured_cannot_be_imagined(two: Gateway) -> None:
    with pytest.raises(KeyError):
        imagined(two, failing=Failing(Pair("a", "nowhere", "m"), Kind.TRANSIENT))
