"""Tokens and cost of a request: in its row of the log and in the metrics."""

from decimal import Decimal

from prometheus_client import REGISTRY

from routing.table import ModelFacts

from .harness import Gateway, Reply, chat, completion


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"omniroute_{name}", labels) or 0.0


async def test_an_answer_is_counted_with_its_tokens_and_what_they_cost(gateway: Gateway) -> None:
    used = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 400}}
    gateway.provider("costly", Reply(body=completion(usage=used)))
    prices = {"input_price": Decimal(2), "output_price": Decimal(10), "cached_price": Decimal("0.5")}
    gateway.facts["costly", "m"] = ModelFacts(**prices)
    await gateway.ask(chat())
    [record] = gateway.records
    assert (record.input_tokens, record.output_tokens, record.cached_tokens) == (1000, 100, 400)
    assert record.cost == Decimal("0.0024")
    assert counted("cost_usd_total", provider="costly") == 0.0024
    assert counted("tokens_total", provider="costly", direction="input") == 1000
    assert counted("tokens_total", provider="costly", direction="output") == 100


async def test_what_has_no_known_price_costs_nothing_known(gateway: Gateway) -> None:
    gateway.provider("unpriced")
    await gateway.ask(chat())
    assert gateway.records[0].cost is None
    assert counted("tokens_total", provider="unpriced", direction="input") == 9
    assert REGISTRY.get_sample_value("omniroute_cost_usd_total", {"provider": "unpriced"}) is None
