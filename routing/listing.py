"""`GET /v1/models`: the names a key may use."""

from collections.abc import Iterator
from typing import Any

from routing.auth import key_may_use
from routing.errors import GatewayError, model_not_found
from routing.table import ClientKey, RoutingTable


def list_models(table: RoutingTable, key: ClientKey) -> dict[str, Any]:
    """OpenAI's list object: chains first, then `provider/model` for every model known of an enabled provider."""
    names = dict(_names(table))
    data = [_model(name, owner) for name, owner in names.items() if key_may_use(key, name)]
    return {"object": "list", "data": data}


def one_model(table: RoutingTable, key: ClientKey, name: str) -> dict[str, Any]:
    """One of them. Raises GatewayError 404 or 403."""
    owner = dict(_names(table)).get(name)
    if owner is None:
        raise model_not_found(name)
    if not key_may_use(key, name):
        raise GatewayError(
            f"This key may not use the model {name!r}.", status=403, code="model_not_allowed", param="model"
        )
    return _model(name, owner)


def _names(table: RoutingTable) -> Iterator[tuple[str, str]]:
    for chain in table.chains.values():
        if chain.enabled:
            yield chain.model, "omniroute"
    direct = {(entry.provider.slug, entry.model) for chain in table.chains.values() for entry in chain.entries}
    for slug, model in sorted(direct | set(table.facts)):
        provider = table.providers.get(slug)
        if provider is not None and provider.enabled:
            yield f"{slug}/{model}", slug


def _model(name: str, owner: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": owner}
