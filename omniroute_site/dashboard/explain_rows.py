"""What the explain page shows, as frozen rows: each target, the gate that stops it now, and the one that would."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType

from omniroute_site.dashboard.board_rows import EventRow

GATES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "": ("admitted", "ok"),
        "probe": ("admitted as a probe", "probe"),
        "disabled": ("disabled", "off"),
        "breaker_open": ("breaker open", "open"),
        "breaker_half_open": ("half-open, every probe is under way", "probe"),
        "forced_open": ("held open", "forced"),
        "cooling": ("connection cooling down", "degraded"),
        "locked": ("model locked here", "degraded"),
        "concurrency": ("connection full", "off"),
    }
)
"""What stands at each gate, in words, and its tone."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What becomes of a target: `reason` is the API's, empty if it is admitted; `probe` if with a lease only."""

    reason: str = ""
    until: datetime | None = None
    waits: timedelta | None = None
    problem: str = ""

    @property
    def admitted(self) -> bool:
        """Whether it would be called."""
        return self.reason in ("", "probe")

    @property
    def word(self) -> str:
        """The gate in words."""
        return GATES[self.reason][0] if self.reason in GATES else self.reason.replace("_", " ")

    @property
    def tone(self) -> str:
        """Which colours and shape it wears."""
        return GATES[self.reason][1] if self.reason in GATES else "off"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One target in the order in which it would be tried.

    `then`: what would become of it, if something is supposed. `dropped`, `refused`: of a pasted body, what this target
    would not be told, and why it could not be told the rest: then the request ends there.
    """

    provider: str
    connection: str
    model: str
    now: Gate
    then: Gate | None = None
    first: bool = False
    dropped: tuple[str, ...] = ()
    refused: str = ""

    @property
    def gate(self) -> Gate:
        """What counts: the supposed, else the present."""
        return self.then or self.now

    @property
    def key(self) -> str:
        """What forms and scripts know it by."""
        return f"{self.provider}/{self.connection}/{self.model}"


@dataclass(frozen=True, slots=True)
class Explained:
    """One question answered."""

    model: str
    chain: str
    strategy: str
    candidates: tuple[Candidate, ...]
    answers_now: str = ""
    supposed: bool = False
    events: tuple[EventRow, ...] = ()
    failing: int = 0
    reached: int = 0
    later: timedelta = timedelta(0)
    max_attempts: int = 8
    emergency: str = ""

    @property
    def first(self) -> Candidate | None:
        """Who would be asked first."""
        return next((candidate for candidate in self.candidates if candidate.first), None)

    @property
    def soonest(self) -> timedelta | None:
        """How long until somebody could be asked, where nobody can be and that is known."""
        return min((one.gate.waits for one in self.candidates if one.gate.waits is not None), default=None)

    @property
    def drawn(self) -> bool:
        """Whether the order is one of many that chance or traffic could give."""
        return self.strategy not in ("priority", "cheapest")
