"""The Python API about chains, prices, and what is deleted in time."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

import routing
from resilience.models import ResilienceEvent
from routing import pricing, retention, table
from routing.adapters.base import Usage
from routing.ids import uuid7, uuid7_floor
from routing.models import FallbackChain, FallbackEntry, Provider, RequestLog, UpstreamModel
from routing.requestlog import RequestRecord
from routing.requestlog_rows import write_rows
from tests.routing.rows import make_chain, make_provider


@pytest.mark.django_db
def test_a_registered_fallback_is_resolved_in_its_order() -> None:
    make_provider("a"), make_provider("b")
    routing.register_fallback("m", ["b", "a/other", {"provider": "a", "connection": "main"}])
    resolved = routing.resolve_fallback_chain("m")
    assert [(e.provider.slug, e.model, e.connection) for e in resolved] == [
        ("b", "m", None),
        ("a", "other", None),
        ("a", "m", "main"),
    ]
    assert [e.provider.slug for e in routing.resolve_fallback_chain("m", excluded_providers={"a"})] == ["b"]


@pytest.mark.django_db
def test_registering_again_replaces_the_entries_and_keeps_the_rest() -> None:
    make_chain("m", make_provider("a"), strategy="weighted")
    make_provider("b")
    routing.register_fallback("m", ["b", "a"])
    chain = FallbackChain.objects.get()
    assert (chain.strategy, chain.version) == ("weighted", 1)
    assert [e.provider.slug for e in chain.entries.all()] == ["b", "a"]
    routing.register_fallback("m", ["b", "a"])
    assert FallbackChain.objects.get().version == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("entries", "error"),
    [
        (["nobody"], Provider.DoesNotExist),
        ([{"provider": "a", "weight": -1}], ValueError),
        ([{"provider": "a", "colour": "red"}], ValueError),
        (["UPPER"], ValueError),
        (["a", "a"], ValueError),
    ],
)
def test_what_no_chain_can_hold_is_refused(entries: list[Any], error: type[Exception]) -> None:
    make_chain("m", make_provider("a"))
    with pytest.raises(error):
        routing.register_fallback("m", entries)
    assert FallbackEntry.objects.count() == 1


@pytest.mark.django_db
def test_what_is_switched_off_is_not_resolved() -> None:
    make_chain("m", make_provider("a"), make_provider("b", enabled=False), make_provider("c"))
    FallbackEntry.objects.filter(provider__slug="c").update(enabled=False)
    assert [e.provider.slug for e in routing.resolve_fallback_chain("m")] == ["a"]
    assert [(e.provider.slug, e.model) for e in routing.resolve_fallback_chain("a/x/y")] == [("a", "x/y")]
    assert routing.resolve_fallback_chain("unknown") == ()
    FallbackChain.objects.update(enabled=False)
    assert routing.resolve_fallback_chain("m") == ()


OPENAI = table.Provider("openai", "OpenAI", "openai", "https://api.openai.com/v1")


def test_the_operators_price_is_used_first() -> None:
    facts = table.ModelFacts(input_price=Decimal(1), output_price=Decimal(2))
    assert pricing.cost(OPENAI, "gpt-4o", facts, Usage(1_000_000, 500_000, 900_000)) == Decimal(2)


def test_a_listed_price_is_used_where_the_operator_gave_none() -> None:
    listed = pricing.listed("any", "https://api.openai.com/v1", "gpt-4o")
    assert listed.input_price is not None
    assert listed.output_price is not None
    assert listed.cached_price is not None
    cost = pricing.cost(OPENAI, "gpt-4o", table.ModelFacts(), Usage(1_000_000, 1_000_000, 400_000))
    assert cost == (600_000 * listed.input_price + 400_000 * listed.cached_price) / 1_000_000 + listed.output_price


def test_what_is_written_to_a_cache_has_its_own_price() -> None:
    claude = table.Provider("claude", "Claude", "anthropic", "https://api.anthropic.com/v1")
    listed = pricing.listed("any", claude.base_url, "claude-sonnet-4-5")
    prices = (listed.input_price, listed.cached_price, listed.written_price)
    assert all(prices)
    used = Usage(1_000_000, 0, cached_tokens=700_000, written_tokens=200_000)
    shares = (Decimal("0.1"), Decimal("0.7"), Decimal("0.2"))
    cost = pricing.cost(claude, "claude-sonnet-4-5", table.ModelFacts(), used)
    assert cost == sum(price * share for price, share in zip(prices, shares, strict=True) if price)


def test_what_nobody_knows_costs_nothing_known() -> None:
    unknown = table.Provider("local", "Local", "openai", "http://127.0.0.1:9000/v1")
    assert pricing.cost(unknown, "nonsense", table.ModelFacts(), Usage(1, 1)) is None
    assert pricing.cost(OPENAI, "gpt-4o", table.ModelFacts(), Usage()) is None


@pytest.mark.django_db
def test_the_table_knows_the_prices_of_what_chains_name() -> None:
    provider = make_provider("openai")
    make_chain("gpt-4o", provider)
    UpstreamModel.objects.create(provider=provider, model="mine", input_price=3, output_price=4)
    loaded = table.load()
    assert loaded.model_facts("openai", "gpt-4o").input_price == pricing.listed("openai", "", "gpt-4o").input_price
    assert loaded.model_facts("openai", "mine").output_price == 4


@pytest.mark.django_db
def test_prune_deletes_what_is_past_its_retention_in_batches(
    monkeypatch: pytest.MonkeyPatch, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    settings.REQUEST_LOG_RETENTION_DAYS, settings.EVENT_RETENTION_DAYS = 10, 20
    now = timezone.now()
    old = [str(uuid7_floor(now - timedelta(days=11, minutes=minute))) for minute in range(5)]
    write_rows([RequestRecord(id=key, started_at=now) for key in [*old, uuid7(), uuid7()]])
    ResilienceEvent.objects.create(at=now - timedelta(days=21), name="x")
    ResilienceEvent.objects.create(at=now - timedelta(days=19), name="x")
    call_command("prune")
    assert RequestLog.objects.count() == 2
    assert ResilienceEvent.objects.count() == 1
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["5", "0", "1"]
    assert datetime.now(UTC) >= now
