"""What is questionable about a chain: said on its lane and while it is edited."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from omniroute_site.dashboard.rows import slashed
from routing.table import RoutingTable


@dataclass(frozen=True, slots=True)
class Link:
    """An entry as far as the warnings go. An empty connection is any of the provider's."""

    provider: str
    model: str
    connection: str
    enabled: bool

    def __str__(self) -> str:
        return slashed(self.provider, self.connection, self.model)


def warnings(links: Sequence[Link], table: RoutingTable) -> Iterator[str]:
    """What would hurt when the first entry fails, in the order in which it hurts."""
    on = [link for link in links if link.enabled and _is_on(link.provider, table)]
    if not on:
        yield "No entry is enabled: every request is refused." if links else "No entry: every request is refused."
        return
    if len({link.provider for link in on}) == 1:
        yield "One provider only: nothing to fall back to."
    yield from _same_account(on, table)
    yield from _less_able(on, table)


def unexercised(links: Sequence[Link], answered: Collection[tuple[str, str]], *, requests: int) -> Iterator[str]:
    """Entries that have answered none of the last `requests`: whether they would is not known."""
    for link in links if requests else ():
        if link.enabled and (link.provider, link.model) not in answered:
            yield f"{link} has answered nothing in 7 days: untested."


def _is_on(provider: str, table: RoutingTable) -> bool:
    found = table.providers.get(provider)
    return found is not None and found.enabled


def _same_account(on: Sequence[Link], table: RoutingTable) -> Iterator[str]:
    """Two entries that can only use one and the same connection fall together when it cools down."""
    seen: set[tuple[str, str]] = set()
    for link in on:
        connections = [c.slug for c in table.providers[link.provider].connections if link.connection in ("", c.slug)]
        if len(connections) != 1:
            continue
        account = (link.provider, connections[0])
        if account in seen:
            yield f"{link.provider}/{connections[0]} stands in it twice: when that account cools down, both are skipped."
        seen.add(account)


def _less_able(on: Sequence[Link], table: RoutingTable) -> Iterator[str]:
    """Entries further down that cannot take what the first one takes."""
    first = table.model_facts(on[0].provider, on[0].model)
    for link in on[1:]:
        facts = table.model_facts(link.provider, link.model)
        if first.context_window and facts.context_window and facts.context_window < first.context_window:
            yield f"{link} takes {facts.context_window:,} tokens, the first {first.context_window:,}."
        if facts.supports_tools is False and first.supports_tools is not False:
            yield f"{link} takes no tools."
        if facts.supports_vision is False and first.supports_vision:
            yield f"{link} takes no images."
