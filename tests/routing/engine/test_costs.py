"""Tokens and cost of a request: in its row of the log and in the metrics."""

from decimal import Decimal

from prometheus_client import REGISTRY

from routing.table import ModelFacts

from .harness import Break, Gateway, Hang, Reply, chat, chunk, completion, event, streaming


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


USAGE = event({"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 100}})


def half_a_stream(gateway: Gateway, name: str, end: Break | Hang) -> None:
    gateway.provider(name, streaming(USAGE, chunk("Hel"), end))
    gateway.facts[name, "m"] = ModelFacts(input_price=Decimal(2), output_price=Decimal(10))


def is_counted(gateway: Gateway, name: str) -> bool:
    [record] = gateway.records
    return (
        (record.provider, record.input_tokens, record.cost) == ("", 1000, Decimal("0.003"))
        and counted("tokens_total", provider=name, direction="output") == 100
        and counted("cost_usd_total", provider=name) == 0.003
    )


async def test_a_stream_that_breaks_costs_what_its_provider_counted(gateway: Gateway) -> None:
    half_a_stream(gateway, "breaks", Break())
    await gateway.ask(chat(stream=True))
    assert is_counted(gateway, "breaks")


async def test_a_stream_that_is_left_costs_what_its_provider_counted(gateway: Gateway) -> None:
    half_a_stream(gateway, "left", Hang())
    call = gateway.begin(chat(stream=True))
    await call.wait_for(b"Hel")
    call.hang_up()
    await call.answer()
    assert is_counted(gateway, "left")


async def test_an_answer_without_a_count_has_not_that_of_an_attempt_before_it(gateway: Gateway) -> None:
    failed = event({"error": {"message": "overloaded", "type": "server_error"}})
    gateway.provider("counted", streaming(USAGE, failed))
    gateway.provider("uncounted", Reply(body=completion(usage=None)))
    assert (await gateway.ask(chat(stream=True))).served_by == "uncounted"
    assert gateway.records[0].input_tokens is None
    assert counted("tokens_total", provider="counted", direction="input") == 0
