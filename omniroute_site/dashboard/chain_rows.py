"""What the chains page shows, as frozen rows (see `rows`)."""

from dataclasses import dataclass
from datetime import datetime

from omniroute_site.dashboard.board_rows import Count
from omniroute_site.dashboard.rows import slashed


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a chain, where it stands, and what it served."""

    provider: str
    model: str
    connection: str
    weight: float
    off: bool
    tone: str
    word: str
    until: datetime | None
    answers: bool
    skipped: bool
    share_percent: int

    @property
    def label(self) -> str:
        """What scripts know it by."""
        return slashed(self.provider, self.connection, self.model)


NO_REQUESTS = Count(0)


@dataclass(frozen=True, slots=True)
class Lane:
    """A chain with its entries in order."""

    id: int
    model: str
    strategy: str
    entries: tuple[Entry, ...]
    enabled: bool = True
    requests: Count = NO_REQUESTS
    rescued_percent: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def ordered(self) -> bool:
        """Whether the entries' order decides."""
        return self.strategy == "priority"


@dataclass(frozen=True, slots=True)
class Chains:
    """Every chain."""

    lanes: tuple[Lane, ...]
