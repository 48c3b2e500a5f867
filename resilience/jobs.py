"""Writes that a process owes the database, as values that are applied twice.

To the copy at once, to the rows when the database answers: the same function of the core, the same `now`, the same
chance.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from resilience import store
from resilience.change import Change
from resilience.core import breaker as breakers
from resilience.core import settlement
from resilience.core.outcome import Outcome
from resilience.core.permit import Permit
from resilience.core.policy import Policy
from resilience.core.settlement import Layers
from resilience.core.window import Window


class Job(Protocol):
    """One write."""

    @property
    def target(self) -> tuple[str, str, str]:
        """Provider, connection and model whose layers it touches."""
        ...

    def local(self, layers: Layers) -> Layers:
        """What the layers become."""
        ...

    def write(self) -> Change:
        """Do it in the database; raises `django.db.Error`."""
        ...


@dataclass(frozen=True, slots=True)
class Settle:
    """The outcome of one attempt."""

    permit: Permit
    policy: Policy
    outcome: Outcome
    now: datetime
    u: float
    sibling_usable: bool
    unwritten: Window
    request_id: str

    @property
    def target(self) -> tuple[str, str, str]:
        """The permit's."""
        return self.permit.provider, self.permit.connection, self.permit.model

    def local(self, layers: Layers) -> Layers:
        """The settled layers."""
        layers = store.with_unwritten(layers, self.unwritten)
        return settlement.settle(
            layers, self.policy, self.permit, self.outcome, self.now, self.u, sibling_usable=self.sibling_usable
        )[0]

    def write(self) -> Change:
        """Settle in the database."""
        return store.settle(
            self.permit,
            self.policy,
            self.outcome,
            self.now,
            self.u,
            sibling_usable=self.sibling_usable,
            unwritten=self.unwritten,
            request_id=self.request_id,
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """A probe lease that was taken from the copy while the database did not answer."""

    permit: Permit
    policy: Policy
    lease_id: str

    @property
    def target(self) -> tuple[str, str, str]:
        """The permit's."""
        return self.permit.provider, self.permit.connection, self.permit.model

    def local(self, layers: Layers) -> Layers:
        """The layers with the lease, if there is still room for it."""
        breaker = layers.breaker
        if not breaker.holds(self.lease_id, self.permit.admitted_at):
            breaker, _, _ = breakers.claim(breaker, self.policy.breaker, self.permit.admitted_at, self.lease_id)
        return Layers(breaker, layers.cooldown, layers.lockout)

    def write(self) -> Change:
        """Claim in the database."""
        return store.claim(self.permit.provider, self.policy, self.permit.admitted_at, self.lease_id)[0]


@dataclass(frozen=True, slots=True)
class Flush:
    """Successes kept in memory that other processes need for their failure rate."""

    provider: str
    window: Window
    now: datetime

    @property
    def target(self) -> tuple[str, str, str]:
        """A provider alone."""
        return self.provider, "", ""

    def local(self, layers: Layers) -> Layers:
        """The layers with the larger window."""
        return store.with_unwritten(layers, self.window)

    def write(self) -> Change:
        """Add to the row's window."""
        return store.flush_window(self.provider, self.window, self.now)
