"""What an answer cost: the operator's prices first, then those genai-prices ships with. USD; no network.

The list is looked up when the routing table is compiled, or once per model that no chain names; the request path
only multiplies. Tiered prices count by their first tier: an estimate for people, not an invoice.
"""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Protocol

from routing.table_values import ModelFacts, Provider

PER_MILLION = Decimal("0.000001")


class TokenCounts(Protocol):
    """What a provider counted; None where it did not say. `cached_tokens` and `written_tokens` are part of `input_tokens`."""

    @property
    def input_tokens(self) -> int | None:
        """Tokens of the prompt."""

    @property
    def output_tokens(self) -> int | None:
        """Tokens of the answer, reasoning included."""

    @property
    def cached_tokens(self) -> int | None:
        """Tokens of the prompt that came from the provider's cache."""

    @property
    def written_tokens(self) -> int | None:
        """Tokens of the prompt that were written to the provider's cache."""


def cost(provider: Provider, model: str, facts: ModelFacts, usage: TokenCounts) -> Decimal | None:
    """Return what an answer cost in USD, None if its tokens or its model's prices are unknown."""
    if facts.input_price is None and facts.output_price is None:
        facts = listed(provider.slug, provider.base_url, model)
    if usage.input_tokens is None and usage.output_tokens is None:
        return None
    if facts.input_price is None or facts.output_price is None:
        return None
    fresh, tokens = usage.input_tokens or 0, (usage.output_tokens or 0) * facts.output_price
    for counted, price in ((usage.cached_tokens, facts.cached_price), (usage.written_tokens, facts.written_price)):
        if counted and price is not None:
            priced = min(counted, fresh)
            fresh -= priced
            tokens += priced * price
    return (tokens + fresh * facts.input_price) * PER_MILLION


def completed(provider: str, base_url: str, model: str, facts: ModelFacts) -> ModelFacts:
    """Fill in the prices and the context window that the operator did not give."""
    known = listed(provider, base_url, model)
    if facts.input_price is None and facts.output_price is None:
        facts = replace(
            facts,
            input_price=known.input_price,
            output_price=known.output_price,
            cached_price=known.cached_price,
            written_price=known.written_price,
        )
    return facts if facts.context_window is not None else replace(facts, context_window=known.context_window)


@lru_cache(maxsize=4096)
def listed(provider: str, base_url: str, model: str) -> ModelFacts:
    """Return what genai-prices knows about a model, by the provider's URL, else by its slug; all unknown if nothing."""
    from genai_prices.data_snapshot import get_snapshot  # takes a moment, and a process without models needs none

    for by in ({"provider_api_url": base_url}, {"provider_id": provider}):
        try:
            _, found = get_snapshot().find_provider_model(
                model, None, by.get("provider_id"), by.get("provider_api_url")
            )
        except LookupError:
            continue
        prices = found.get_prices(datetime.now(UTC))
        return ModelFacts(
            context_window=found.context_window,
            input_price=_per_million(prices.input_mtok),
            output_price=_per_million(prices.output_mtok),
            cached_price=_per_million(prices.cache_read_mtok),
            written_price=_per_million(prices.cache_write_mtok),
        )
    return ModelFacts()


def _per_million(price: Any) -> Decimal | None:
    first_tier: Decimal | None = getattr(price, "base", price)
    return first_tier
