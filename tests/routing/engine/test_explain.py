"""Explaining: the serving code's own answer, with nothing called and nothing changed."""

from datetime import UTC, datetime

import pytest

from routing import table
from routing.errors import GatewayError
from routing.explain import explain
from routing.live import Live

from .harness import Gateway, chat, failing


async def test_each_target_is_admitted_or_says_which_gate_is_shut_and_until_when(gateway: Gateway) -> None:
    gateway.provider("a", failing(429, retry_after="60"))
    second = gateway.provider("b")
    await gateway.ask()
    found = explain(chat(), table.current(), gateway.registry, Live(), datetime.now(UTC))
    first, other = found["targets"]
    assert (first["provider"], first["admitted"], first["reason"]) == ("a", False, "cooling")
    assert 50 < first["retry_after"] <= 60
    assert (other["provider"], other["admitted"], other["reason"]) == ("b", True, None)
    assert len(second.calls) == 1


async def test_a_look_takes_no_turn_of_the_round_robin(gateway: Gateway) -> None:
    gateway.provider("a")
    gateway.provider("b")
    gateway.strategy = "round_robin"
    gateway.install()
    live = Live()
    orders = [
        [
            target["provider"]
            for target in explain(chat(), table.current(), gateway.registry, live, datetime.now(UTC))["targets"]
        ]
        for _ in range(2)
    ]
    assert orders[0] == orders[1]


@pytest.mark.parametrize(("body", "code"), [({}, "invalid_request"), ({"model": "nothing"}, "model_not_found")])
async def test_what_cannot_be_explained_is_an_error(gateway: Gateway, body: dict[str, str], code: str) -> None:
    gateway.provider("a")
    gateway.install()
    with pytest.raises(GatewayError) as refused:
        explain(body, table.current(), gateway.registry, Live(), datetime.now(UTC))
    assert refused.value.code == code
