"""From a model's name to the targets to try, in order."""

from collections.abc import Iterator
from dataclasses import dataclass

from resilience.core.breaker import Pair
from routing.errors import model_not_found
from routing.live import Live
from routing.strategies import STRATEGIES, Surroundings
from routing.table import Connection, Entry, ModelFacts, Provider, RoutingTable

NO_FACTS = ModelFacts()


@dataclass(frozen=True, slots=True)
class Route:
    """The entries behind a requested name. `direct` calls name one provider and get no emergency fallback."""

    name: str
    strategy: str
    entries: tuple[Entry, ...]
    direct: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """A connection plus an upstream model."""

    provider: Provider
    connection: Connection
    model: str
    facts: ModelFacts
    enabled: bool = True
    first: bool = False  # belongs to the entry that is tried first
    emergency: bool = False

    @property
    def pair(self) -> Pair:
        """The key of its lockout, and with it of connection and breaker."""
        return Pair(self.provider.slug, self.connection.slug, self.model)


def resolve(table: RoutingTable, model: str) -> Route:
    """The chain of that name, else `provider/model`. Raises GatewayError 404 `model_not_found`."""
    chain = table.chains.get(model)
    if chain is not None and chain.enabled:
        return Route(chain.model, chain.strategy, chain.entries)
    slug, slash, rest = model.partition("/")
    provider = table.providers.get(slug)
    if slash and rest and provider is not None:
        entry = Entry(provider=provider, model=rest, priority=0, weight=1, enabled=True, connection=None)
        return Route(model, "priority", (entry,), direct=True)
    raise model_not_found(model)


def targets(route: Route, table: RoutingTable, around: Surroundings) -> Iterator[Target]:
    """Every (connection, model) of the route once, in the order in which it is to be tried."""
    seen: set[Pair] = set()
    entries = [entry for entry in route.entries if entry.enabled]
    if len(entries) > 1:
        entries = STRATEGIES[route.strategy](entries, around)
    for position, entry in enumerate(entries):
        facts = table.facts.get((entry.provider.slug, entry.model), NO_FACTS)
        for connection in connections(entry, around.live):
            target = Target(
                provider=entry.provider,
                connection=connection,
                model=entry.model,
                facts=facts,
                enabled=entry.provider.enabled and connection.usable,
                first=position == 0,
            )
            if target.pair not in seen:
                seen.add(target.pair)
                yield target


def connections(entry: Entry, live: Live) -> list[Connection]:
    """The pinned connection, else the provider's: by priority, then the least busy for its weight."""
    candidates = entry.provider.connections
    if entry.connection is not None:
        return [connection for connection in candidates if connection.slug == entry.connection]
    if len(candidates) < 2:
        return list(candidates)

    def load(connection: Connection) -> tuple[int, float]:
        busy = live.in_flight.get((connection.provider, connection.slug), 0)
        return (connection.priority, busy / connection.weight if connection.weight else float("inf"))

    return sorted(candidates, key=load)
