"""The right to make one attempt, and what stands in its way."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from typing import Final, NamedTuple


class Pair(NamedTuple):
    """A connection of a provider together with an upstream model."""

    provider: str
    connection: str
    model: str


@dataclass(frozen=True, slots=True)
class Permit:
    """The right to make one attempt, settled exactly once.

    It remembers the breaker's generation at admission: an outcome that belongs to an older generation changes nothing.
    """

    provider: str
    connection: str
    model: str
    generation: int
    lease_id: str | None
    admitted_at: datetime
    id: str


class RefusalReason(StrEnum):
    """Why a target is skipped."""

    DISABLED = "disabled"
    BREAKER_OPEN = "breaker_open"
    BREAKER_HALF_OPEN = "breaker_half_open"
    FORCED_OPEN = "forced_open"
    COOLING = "cooling"
    LOCKED = "locked"
    CONCURRENCY = "concurrency"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A target is skipped, and until when that holds (None: not known)."""

    reason: RefusalReason
    until: datetime | None


class NeedsLease(Enum):
    """The answer of a check that passes only for those who claim a probe lease first."""

    NEEDS_LEASE = "needs_lease"


NEEDS_LEASE: Final = NeedsLease.NEEDS_LEASE
