"""One client request on its way through the engine."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Protocol

from resilience.core.outcome import Failure
from resilience.registry import Registry
from routing.adapters.base import Answer, ClientRequest, Continuation, Exchange, Usage
from routing.adapters.sent import Sent
from routing.chains import Route, Target
from routing.journal import Journal
from routing.live import Live
from routing.table import RoutingTable
from routing.upstream import Upstream

Pairing = Callable[[ClientRequest, Target, int | None], Exchange]


class Client(Protocol):
    """Where answers go. `started` is true once the status line is out, and nothing can be taken back."""

    started: bool

    async def answer(self, job: "Job", target: Target, answer: Answer) -> None:
        """Send an unstreamed answer, whole."""

    async def start(self, job: "Job", target: Target) -> None:
        """Begin a stream."""

    async def write(self, data: bytes) -> None:
        """Send a piece of the stream; waits while the client reads slowly."""

    async def finish(self, data: bytes) -> None:
        """Send the last piece and end the body."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A stream that died after its first content, and may be continued: why, what the client has, and how to go on."""

    failure: Failure
    begun: Exchange  # that began the client's stream
    sent: Sent
    continuation: Continuation


@dataclass(slots=True)
class Job:
    """Everything the engine needs to answer one request, and what it has found out so far."""

    id: str  # UUIDv7
    request: ClientRequest
    route: Route
    table: RoutingTable
    client: Client
    pair_with: Pairing
    registry: Registry
    live: Live
    upstream: Upstream
    random: Random
    started: float  # of the loop's clock
    journal: Journal
    parts: list[tuple[Target, Usage]] = field(default_factory=list)  # whose answer it is, and what each of them counted
    broken: Broken | None = None
    served_by: Target | None = None
    first_content: float | None = None  # seconds since `started`
    events: int = 0  # see Exchange.events

    @property
    def now(self) -> datetime:
        """The wall clock, for everything that is compared with stored times."""
        return datetime.now(UTC)

    @property
    def rescued(self) -> bool:
        """Another entry than the first answered, or somebody went on with a stream that broke."""
        served = self.served_by
        return served is not None and (self.broken is not None or not served.first)

    @property
    def usage(self) -> Usage:
        """What the answer used: all of what its providers counted."""
        return sum((usage for _, usage in self.parts), Usage())

    def counted(self, target: Target, usage: Usage) -> None:
        """A provider's count. Only the parts of a stream that was continued add up."""
        if self.broken is None:
            self.parts.clear()
        self.parts.append((target, usage))
