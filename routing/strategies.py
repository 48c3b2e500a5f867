"""In which order the entries of a chain are tried; every strategy keeps the rest as fallback.

`priority` obeys the entries' priorities. The others choose among all entries, with priority only breaking ties.
A degraded provider comes last within its priority, and counts half in `weighted`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from resilience.core.breaker import State
from resilience.livecopy import LiveCopy
from routing.live import Live
from routing.table import Entry, ModelFacts


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a strategy may look at. `at` is of `time.monotonic`, in seconds."""

    chain: str
    registry: LiveCopy
    live: Live
    facts: Mapping[tuple[str, str], ModelFacts]
    random: Random
    at: float

    def degraded(self, entry: Entry) -> bool:
        """Whether the entry's provider shows elevated failures."""
        breaker = self.registry.breakers.get(entry.provider.slug)
        return breaker is not None and breaker.state is State.DEGRADED


Strategy = Callable[[Sequence[Entry], Surroundings], list[Entry]]


def by_priority(entries: Sequence[Entry], around: Surroundings) -> list[Entry]:
    """Lowest number first."""
    return sorted(entries, key=lambda entry: (entry.priority, around.degraded(entry)))


def weighted(entries: Sequence[Entry], around: Surroundings) -> list[Entry]:
    """Drawn one after another with probability by weight; weight 0 only after all others."""
    rest = [(entry, entry.weight / 2 if around.degraded(entry) else float(entry.weight)) for entry in entries]
    order: list[Entry] = []
    while rest:
        if not any(weight for _, weight in rest):
            return order + by_priority([entry for entry, _ in rest], around)
        [drawn] = around.random.choices(range(len(rest)), [weight for _, weight in rest])
        order.append(rest.pop(drawn)[0])
    return order


def round_robin(entries: Sequence[Entry], around: Surroundings) -> list[Entry]:
    """Each in turn, per process; degraded ones after the healthy."""
    start = around.live.turn(around.chain) % len(entries)
    turned = [*entries[start:], *entries[:start]]
    return sorted(turned, key=around.degraded)


def shuffled(entries: Sequence[Entry], around: Surroundings) -> list[Entry]:
    """Any order; degraded ones after the healthy."""
    order = list(entries)
    around.random.shuffle(order)
    return sorted(order, key=around.degraded)


def least_used(entries: Sequence[Entry], around: Surroundings) -> list[Entry]:
    """Fewest attempts of the last minute first."""
    return sorted(
        entries,
        key=lambda entry: (
            around.degraded(entry),
            around.live.used(entry.provider.slug, entry.model, around.at),
            entry.priority,
        ),
    )


def fastest(entries: Sequence[Entry], around: Surroundings) -> list[Entry]:
    """Shortest time to first content first; what was not measured lately is tried, and so measured."""
    return sorted(
        entries,
        key=lambda entry: (
            around.degraded(entry),
            around.live.speed(entry.provider.slug, entry.model, around.at) or 0.0,
            entry.priority,
        ),
    )


def cheapest(entries: Sequence[Entry], around: Surroundings) -> list[Entry]:
    """Lowest price of an input and an output token together; unknown prices last."""

    def price(entry: Entry) -> float:
        facts = around.facts.get((entry.provider.slug, entry.model))
        if facts is None or facts.input_price is None or facts.output_price is None:
            return float("inf")
        return float(facts.input_price) + float(facts.output_price)

    return sorted(entries, key=lambda entry: (around.degraded(entry), price(entry), entry.priority))


STRATEGIES: Mapping[str, Strategy] = {
    "priority": by_priority,
    "weighted": weighted,
    "round_robin": round_robin,
    "random": shuffled,
    "least_used": least_used,
    "fastest": fastest,
    "cheapest": cheapest,
}
