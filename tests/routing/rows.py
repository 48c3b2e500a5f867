"""Rows that several tests start from."""

from typing import Any

from routing.models import Connection, FallbackChain, FallbackEntry, Provider


def make_provider(slug: str = "openai", connections: tuple[str, ...] = ("main",), **columns: Any) -> Provider:
    provider = Provider.objects.create(slug=slug, base_url=f"http://{slug}.test/v1", **columns)
    for connection in connections:
        Connection.objects.create(provider=provider, slug=connection)
    return provider


def make_chain(model: str, *providers: Provider, **columns: Any) -> FallbackChain:
    chain = FallbackChain.objects.create(model=model, **columns)
    for priority, provider in enumerate(providers):
        FallbackEntry.objects.create(chain=chain, provider=provider, priority=priority)
    return chain
