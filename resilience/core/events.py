"""One frozen dataclass per fact. They are what the event log keeps and the dashboards hear."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, TypeAlias

from .kinds import Kind


@dataclass(frozen=True, slots=True)
class BreakerMoved:
    """A breaker made a transition."""

    name: ClassVar[str] = "breaker_moved"
    provider: str
    from_state: str
    to_state: str
    cause: str
    failure_count: int
    kind: Kind | None
    retry_at: datetime | None
    generation: int


@dataclass(frozen=True, slots=True)
class BreakerHeld:
    """An operator forced a breaker open or closed."""

    name: ClassVar[str] = "breaker_held"
    provider: str
    from_state: str
    to_state: str
    mode: str
    by: str
    reason: str
    until: datetime | None
    generation: int


@dataclass(frozen=True, slots=True)
class BreakerReleased:
    """A forced state ended, by its time or by an operator; the breaker starts afresh."""

    name: ClassVar[str] = "breaker_released"
    provider: str
    from_state: str
    to_state: str
    cause: str
    generation: int


@dataclass(frozen=True, slots=True)
class ProbeAllowed:
    """An operator ended the wait of an open breaker: the next request probes."""

    name: ClassVar[str] = "probe_allowed"
    provider: str
    retry_at: datetime  # when it would have been


@dataclass(frozen=True, slots=True)
class CooldownStarted:
    """A connection began to cool down, or will now do so for longer."""

    name: ClassVar[str] = "cooldown_started"
    provider: str
    connection: str
    kind: Kind
    until: datetime
    source: str
    level: int


@dataclass(frozen=True, slots=True)
class CooldownCleared:
    """A cooldown in force was ended before its time."""

    name: ClassVar[str] = "cooldown_cleared"
    provider: str
    connection: str
    cause: str


@dataclass(frozen=True, slots=True)
class ModelLocked:
    """A (connection, model) pair was locked, or its lock now lasts longer."""

    name: ClassVar[str] = "model_locked"
    provider: str
    connection: str
    model: str
    kind: Kind | None
    until: datetime
    failures: int
    cause: str


@dataclass(frozen=True, slots=True)
class ModelUnlocked:
    """A lock in force was ended before its time."""

    name: ClassVar[str] = "model_unlocked"
    provider: str
    connection: str
    model: str
    cause: str


@dataclass(frozen=True, slots=True)
class ConfigChanged:
    """A person changed what requests are routed by. It changes no state, but explains what follows."""

    name: ClassVar[str] = "config_changed"
    subject: str  # what was changed, such as "chain gpt-4o"
    cause: str  # what was done to it
    provider: str = ""  # empty where it is not about one
    connection: str = ""


Event: TypeAlias = (
    BreakerMoved
    | BreakerHeld
    | BreakerReleased
    | ProbeAllowed
    | CooldownStarted
    | CooldownCleared
    | ModelLocked
    | ModelUnlocked
    | ConfigChanged
)
Events: TypeAlias = tuple[Event, ...]
