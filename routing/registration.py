"""The Python names of CONTRACT section 6 that are about chains. Synchronous, for scripts and for code that embeds us."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db import transaction

from routing.configfile.entries import plan_entries
from routing.configfile.schema import ChainFile
from routing.models import Connection, FallbackChain, Provider
from routing.table import Entry, current_sync


def register_fallback(model: str, entries: Iterable[str | Mapping[str, Any]]) -> FallbackChain:
    """Make the chain behind `model` consist of these entries, in this order; return it.

    An entry is "provider", "provider/model", or a mapping as in a configuration file: {"provider", "model",
    "connection", "priority", "weight", "enabled"}. Without a priority, the order given is the order of fallback.
    Strategy and state of a chain that exists stay. In force everywhere within a second.
    Raises ValueError for what no chain can hold, Provider.DoesNotExist and Connection.DoesNotExist.
    """
    said = ChainFile.model_validate(
        {"model": model, "entries": [_member(number, entry) for number, entry in enumerate(entries)]}
    )
    identities = [(entry.provider, entry.model or model, entry.connection) for entry in said.entries]
    if len(set(identities)) < len(identities):
        raise ValueError("a target (provider, model, connection) may stand once in a chain")
    with transaction.atomic():
        chain, _ = FallbackChain.objects.select_for_update().get_or_create(model=model)
        providers = {entry.provider: Provider.objects.get(slug=entry.provider) for entry in said.entries}
        pins = {
            (entry.provider, entry.connection): Connection.objects.get(
                provider__slug=entry.provider, slug=entry.connection
            )
            for entry in said.entries
            if entry.connection is not None
        }
        stored = list(chain.entries.select_related("provider", "connection"))
        plan = plan_entries(said, stored, providers, pins)
        plan.write(chain)
        if plan.details:
            FallbackChain.objects.filter(pk=chain.pk).update(version=chain.version + 1)
    chain.refresh_from_db()
    return chain


def resolve_fallback_chain(model: str, excluded_providers: Collection[str] = ()) -> tuple[Entry, ...]:
    """Return the entries that a request for `model` may use, by priority, without those switched off or excluded.

    An unknown or disabled chain has none. `provider/model` is the one entry it names.
    """
    table = current_sync()
    chain = table.chains.get(model)
    if chain is not None and chain.enabled:
        entries = chain.entries
    else:
        slug, _, rest = model.partition("/")
        provider = table.providers.get(slug)
        entries = (Entry(provider, rest),) if provider is not None and rest else ()
    return tuple(
        entry
        for entry in entries
        if entry.enabled and entry.provider.enabled and entry.provider.slug not in excluded_providers
    )


def _member(number: int, entry: str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(entry, str):
        provider, _, model = entry.partition("/")
        return {"provider": provider, "priority": number} | ({"model": model} if model else {})
    return {"priority": number} | dict(entry)
