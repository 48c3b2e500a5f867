"""The names a key may use, for `GET /v1/models`; each client's format has its own shape for them."""

from collections.abc import Iterator
from typing import NamedTuple

from routing.auth import key_may_use
from routing.errors import GatewayError, model_not_found
from routing.table import ClientKey, RoutingTable
from routing.table_values import UNKNOWN_MODEL, ModelFacts


class ListedModel(NamedTuple):
    """A name that requests may ask for. `owner` is the provider's slug, `omniroute` for a chain."""

    name: str
    owner: str
    facts: ModelFacts = UNKNOWN_MODEL


def list_models(table: RoutingTable, key: ClientKey) -> list[ListedModel]:
    """Chains first, then `provider/model` for every model known of an enabled provider. Each name once."""
    return [model for model in _models(table).values() if key_may_use(key, model.name)]


def one_model(table: RoutingTable, key: ClientKey, name: str) -> ListedModel:
    """One of them. Raises GatewayError 404 or 403."""
    model = _models(table).get(name)
    if model is None:
        raise model_not_found(name)
    if not key_may_use(key, name):
        raise GatewayError(
            f"This key may not use the model {name!r}.", status=403, code="model_not_allowed", param="model"
        )
    return model


def _models(table: RoutingTable) -> dict[str, ListedModel]:
    return {model.name: model for model in _all(table)}


def _all(table: RoutingTable) -> Iterator[ListedModel]:
    for chain in table.chains.values():
        if chain.enabled:
            yield ListedModel(chain.model, "omniroute")
    direct = {(entry.provider.slug, entry.model) for chain in table.chains.values() for entry in chain.entries}
    for slug, model in sorted(direct | set(table.facts)):
        provider = table.providers.get(slug)
        if provider is not None and provider.enabled:
            yield ListedModel(f"{slug}/{model}", slug, table.facts.get((slug, model), UNKNOWN_MODEL))
