"""The JSON shapes of the state API. Requests are validated against them; answers are documented (and tested) by them."""

from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import ConfigDict, Field, StringConstraints

from resilience.core.breaker import Pair

Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255)]
TEN_YEARS = 10 * 365 * 86400.0
Duration = Annotated[float, Field(gt=0, le=TEN_YEARS, allow_inf_nan=False, strict=True)]


class Strict(Schema):
    """A request body: a misspelt `for` must not become "for ever"."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class BreakerAction(Strict):
    """Why, and for how long (seconds; null: until somebody ends it)."""

    reason: Reason
    duration: Duration | None = Field(None, alias="for")


class CooldownAction(Strict):
    """Which connection, and why."""

    provider: Name
    connection: Name
    reason: Reason


class PairAction(Strict):
    """Which (connection, model), and why."""

    provider: Name
    connection: Name
    model: Name
    reason: Reason

    @property
    def pair(self) -> Pair:
        """The three names as the resilience floor takes them."""
        return Pair(self.provider, self.connection, self.model)


class LockAction(PairAction):
    """The same, for how long (seconds; null: the provider's `lockout_duration`)."""

    duration: Duration | None = Field(None, alias="for")


class EventsPage(Schema):
    """Which events: those after an id, at most so many."""

    after: int = Field(0, ge=0)
    limit: int = Field(100, ge=1, le=1000)


class Forced(Schema):
    """An operator's hold."""

    mode: Literal["open", "closed"]
    by: str
    reason: str
    until: str | None


class Window(Schema):
    """Calls and failures of the sliding window; `rate` is their quotient, 0 without calls."""

    calls: int
    failures: int
    rate: float


class Breaker(Schema):
    """One provider's breaker. Times are RFC 3339 in UTC, durations seconds."""

    provider: str
    state: Literal["CLOSED", "DEGRADED", "OPEN", "HALF_OPEN"]
    failure_count: int
    last_failure_kind: str | None
    last_failure_at: str | None
    opened_at: str | None
    retry_at: str | None
    retry_after: float | None
    open_cycles: int
    effective_reset_timeout: float
    probes_in_flight: int
    half_open_requests: int
    failure_threshold: int
    degradation_threshold: int
    kind_counts: dict[str, int]
    window: Window
    forced: Forced | None
    generation: int


class Transition(Schema):
    """One move of a breaker."""

    from_: str = Field(alias="from")
    to: str
    at: str
    cause: str
    failure_count: int | None
    request_id: str
    actor: str
    reason: str


class BreakerDetail(Breaker):
    """A breaker with its last 50 transitions, newest first."""

    transitions: list[Transition]


class Cooldown(Schema):
    """A connection that is skipped until `until`."""

    provider: str
    connection: str
    kind: str
    until: str
    remaining: float
    source: str
    level: int


class Lockout(Schema):
    """A (connection, model) that is skipped until `until`."""

    provider: str
    connection: str
    model: str
    reason: str
    locked_at: str
    until: str
    remaining: float
    attempts: int


class State(Schema):
    """Every breaker; the cooldowns and lockouts in force."""

    time: str
    breakers: list[Breaker]
    cooldowns: list[Cooldown]
    lockouts: list[Lockout]


class Event(Schema):
    """One fact: a transition, a cooldown, a lockout, an operator's action. What does not apply is empty."""

    id: int
    at: str
    name: str
    provider: str
    connection: str
    model: str
    from_state: str
    to_state: str
    cause: str
    kind: str
    failure_count: int | None
    request_id: str
    actor: str
    reason: str
    data: dict[str, Any]


class Target(Schema):
    """One target of a chain as the gates decide now."""

    provider: str
    connection: str
    model: str
    admitted: bool
    probe: bool
    reason: str | None
    problem: str | None
    until: str | None
    retry_after: float | None


class Explanation(Schema):
    """The targets of a request in the order in which they would be tried."""

    model: str
    chain: str | None
    strategy: str
    targets: list[Target]


class Error(Schema):
    """What every error looks like."""

    error: dict[str, Any]
