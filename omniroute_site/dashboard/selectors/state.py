"""Configuration and state as they are now: what every live page starts from."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from resilience.core.cooldown import Cooldown
from resilience.core.forced import effective
from resilience.core.lockout import Lockout
from resilience.core.state import Breaker
from resilience.reading import load_all
from resilience.registry import get_registry
from routing import table
from routing.table import RoutingTable
from routing.table_compile import UnsettledRowsError


@dataclass(frozen=True, slots=True)
class Now:
    """The routing table and the three layers at one moment, keyed by the names of things.

    Of cooldowns and lockouts only what is in force at that moment; a hold that has run out counts as ended.
    """

    at: datetime
    table: RoutingTable
    breakers: Mapping[str, Breaker] = field(default_factory=dict)
    cooldowns: Mapping[tuple[str, str], Cooldown] = field(default_factory=dict)
    lockouts: Mapping[tuple[str, str], Sequence[Lockout]] = field(default_factory=dict)

    def breaker(self, provider: str) -> Breaker:
        """The breaker of `provider`, a fresh one if it has no row yet."""
        return self.breakers.get(provider) or Breaker(provider)

    def lockout(self, provider: str, connection: str, model: str) -> Lockout | None:
        """The lockout of a pair, if it is in force."""
        return next((one for one in self.lockouts.get((provider, connection), ()) if one.model == model), None)


def routes() -> RoutingTable:
    """The routing table as the rows are; the one in force while somebody writes faster than it can be read."""
    try:
        return table.refresh()
    except UnsettledRowsError:
        return table.current()


def read_now(at: datetime) -> Now:
    """Read it all."""
    state = load_all()
    unwritten = dict(get_registry().unwritten)  # calls this process has not written yet: else its window would lag
    breakers = {breaker.provider: effective(breaker, at)[0] for breaker in state.breakers}
    for provider, window in unwritten.items():
        breaker = breakers.get(provider) or Breaker(provider)
        breakers[provider] = replace(breaker, window=breaker.window.merge(window))
    lockouts: dict[tuple[str, str], list[Lockout]] = defaultdict(list)
    for lockout in state.lockouts:
        if lockout.in_force(at):
            lockouts[lockout.provider, lockout.connection].append(lockout)
    return Now(
        at=at,
        table=routes(),
        breakers=breakers,
        cooldowns={(one.provider, one.connection): one for one in state.cooldowns if one.in_force(at)},
        lockouts=dict(lockouts),
    )
