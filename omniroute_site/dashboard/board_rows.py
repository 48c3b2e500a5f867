"""What stands around the circuits on the board: verdict, figures, events (see `rows`)."""

from dataclasses import dataclass
from datetime import datetime

from omniroute_site.dashboard.rows import CALM, DISABLED, Circuit


@dataclass(frozen=True, slots=True)
class Phrase:
    """A piece of the verdict: plain text, or a name in a tone, or a moment counted down to."""

    text: str
    tone: str = ""
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong, in a sentence; `title` is the same for the tab."""

    phrases: tuple[Phrase, ...]
    title: str
    tone: str


@dataclass(frozen=True, slots=True)
class Count:
    """A number that is counted only up to a bound."""

    value: int
    more: bool = False


@dataclass(frozen=True, slots=True)
class Numbers:
    """The figures beside the verdict."""

    per_second: float = 0.0
    rescued: Count = Count(0)
    lost: Count = Count(0)
    first_token_p95: float | None = None


@dataclass(frozen=True, slots=True)
class EventRow:
    """One fact for the ticker."""

    id: int
    at: datetime
    tone: str
    subject: str
    verb: str
    rest: str = ""
    until: datetime | None = None
    detail: str = ""
    request_id: str = ""
    actor: str = ""
    reason: str = ""

    @property
    def spoken(self) -> str:
        """For those who listen to the page instead of looking at it."""
        return " ".join(part for part in (self.subject, self.verb, self.rest) if part)


@dataclass(frozen=True, slots=True)
class Board:
    """Everything on the board."""

    circuits: tuple[Circuit, ...]
    verdict: Verdict
    numbers: Numbers
    events: tuple[EventRow, ...]

    @property
    def troubled(self) -> int:
        """How many circuits need a look."""
        return sum(not circuit.calm for circuit in self.circuits)

    @property
    def healthy(self) -> int:
        """How many circuits are well."""
        return sum(circuit.rank == CALM for circuit in self.circuits)

    @property
    def disabled(self) -> int:
        """How many circuits are switched off."""
        return sum(circuit.rank == DISABLED for circuit in self.circuits)
