"""What the processes page shows, as frozen rows (see `rows`): what each process said of itself, and whether it still speaks."""

from dataclasses import dataclass
from datetime import datetime

TONES = {"live": "ok", "behind": "degraded", "draining": "probe", "stale": "open", "gone": "off"}
PROMISED = 1.0
"""Seconds that a copy of the state may be old (RESILIENCE section 9)."""


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """One process. `lag` is how old its copy of the state was when it last spoke, in seconds; None: never loaded."""

    id: str
    host: str
    pid: int
    role: str
    state: str
    started_at: datetime
    beat_at: datetime
    lag: float | None
    state_version: int
    table_loaded_at: datetime | None
    table_behind: bool
    in_flight: int
    database_ok: bool
    backlog: int
    log_waiting: int
    log_dropped: int
    here: bool = False

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.host}:{self.pid}"

    @property
    def tone(self) -> str:
        """Which colours and shape it wears."""
        return TONES[self.state]

    @property
    def late(self) -> bool:
        """Whether its copy of the state was older than promised."""
        return self.lag is None or self.lag > PROMISED


@dataclass(frozen=True, slots=True)
class Processes:
    """Every process that spoke of late, the oldest first."""

    rows: tuple[ProcessRow, ...]

    @property
    def troubled(self) -> tuple[ProcessRow, ...]:
        """Those that need a look."""
        return tuple(row for row in self.rows if row.state in ("behind", "stale"))

    @property
    def speaking(self) -> int:
        """How many are alive as far as is known."""
        return sum(row.state not in ("stale", "gone") for row in self.rows)
