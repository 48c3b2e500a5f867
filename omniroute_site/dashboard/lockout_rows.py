"""What the lockouts page shows, as frozen rows (see `rows`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from omniroute_site.dashboard.rows import dom_id


@dataclass(frozen=True, slots=True)
class LockoutRow:
    """One lockout in force. `kind` is empty for one set by hand: then `actor` says by whom, and `message` why."""

    provider: str
    connection: str
    model: str
    until: datetime
    locked_at: datetime | None = None
    kind: str = ""
    failures: int = 0
    message: str = ""
    actor: str = ""
    request_id: str = ""

    @property
    def key(self) -> str:
        """The element id it is known by."""
        return dom_id(*self.pair)

    @property
    def pair(self) -> tuple[str, str, str]:
        """What is locked."""
        return self.provider, self.connection, self.model

    @property
    def seconds(self) -> int:
        """The whole length of the lock, for its bar."""
        return max(1, round((self.until - (self.locked_at or self.until)).total_seconds()))


@dataclass(frozen=True, slots=True)
class Lockouts:
    """Every lockout in force, by name."""

    rows: tuple[LockoutRow, ...]


def nearest(rows: Sequence[LockoutRow], pair: tuple[str, str, str]) -> LockoutRow | None:
    """The row that stands where `pair` stood: the next one, else the last."""
    return next((row for row in rows if row.pair > pair), rows[-1] if rows else None)
