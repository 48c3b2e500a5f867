"""What if: the layers as they would become, worked out by the core's functions. Nothing is written, nobody is called.

registry ──copied()──► hold open ──► failures ──► the clock moves on ──► explain
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from resilience.core import breaker as breakers
from resilience.core import forced, settlement
from resilience.core.events import Event
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from resilience.core.permit import NEEDS_LEASE, Pair, Permit, Refusal
from resilience.core.state import Breaker
from resilience.livecopy import LiveCopy
from routing import gate
from routing.chains import NO_FACTS, Target
from routing.table import RoutingTable

NOBODY = "what if"  # who holds, and the name of leases and permits that are none
NO_JITTER = 0.0  # so that the same question has the same answer


@dataclass(frozen=True, slots=True)
class Failing:
    """Calls of one target, one after another, that all end with the same kind of failure."""

    pair: Pair
    kind: Kind
    times: int = 1


@dataclass(frozen=True, slots=True)
class Supposition:
    """What is to be imagined, in this order."""

    held_open: tuple[str, ...] = ()
    failing: Failing | None = None
    later: timedelta = timedelta(0)

    @property
    def empty(self) -> bool:
        """Whether everything is as it is."""
        return self == Supposition()


@dataclass(frozen=True, slots=True)
class Outlook:
    """What would have become of it: the layers, the time it would be, and what would stand in the event log.

    `reached`: how many of the failing calls would have been let through before a gate shut.
    """

    layers: LiveCopy
    at: datetime
    events: tuple[Event, ...] = ()
    reached: int = 0


def suppose(layers: LiveCopy, table: RoutingTable, what: Supposition, now: datetime) -> Outlook:
    """Imagine it, on `layers`, which are changed: give a copy. Raises KeyError for a target that is not in the table."""
    events: list[Event] = []
    for provider in what.held_open:
        before = layers.breakers.get(provider) or Breaker(provider)
        held, news = forced.force(before, "open", now, by=NOBODY, reason=NOBODY, until=None)
        layers.breakers[provider] = held
        events += news
    calls = list(_failures(layers, table, what.failing, now)) if what.failing else []
    events += (event for news in calls for event in news)
    return Outlook(layers, now + what.later, tuple(events), len(calls))


def _failures(layers: LiveCopy, table: RoutingTable, failing: Failing, now: datetime) -> Iterator[tuple[Event, ...]]:
    """What each call that is let through would cause."""
    target = _target(table, failing.pair)
    policy = target.provider.policy
    for _ in range(failing.times):
        verdict = layers.check(failing.pair, policy, now) if target.enabled else gate.DISABLED
        if isinstance(verdict, Refusal):
            return
        before = layers.layers(*failing.pair)
        moves: tuple[Event, ...] = ()
        if verdict is NEEDS_LEASE:
            layers.breakers[failing.pair.provider], _, moves = breakers.claim(
                before.breaker, policy.breaker, now, NOBODY
            )
            before = layers.layers(*failing.pair)
        lease = NOBODY if verdict is NEEDS_LEASE else None
        permit = Permit(*failing.pair, forced.generation_at(before.breaker, now), lease, now, NOBODY)
        after, news = settlement.settle(
            before,
            policy,
            permit,
            Failure(failing.kind),
            now,
            NO_JITTER,
            sibling_usable=gate.sibling_usable(target, layers, now),
        )
        layers.keep(failing.pair, after)
        yield (*moves, *news)


def _target(table: RoutingTable, pair: Pair) -> Target:
    provider = table.providers[pair.provider]
    connection = provider.connection(pair.connection)
    if connection is None:
        raise KeyError(pair.connection)
    enabled = provider.enabled and connection.usable
    return Target(provider=provider, connection=connection, model=pair.model, facts=NO_FACTS, enabled=enabled)
