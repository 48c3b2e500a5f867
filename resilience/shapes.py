"""The JSON shapes of the state API (CONTRACT section 5). Times are RFC 3339 in UTC, durations seconds."""

from typing import Any

# Pydantic, which documents the state API by these, cannot read `typing`'s own before Python 3.12
from typing_extensions import TypedDict

from resilience.core.state import Mode, State


class WindowData(TypedDict):
    """Calls and failures of the sliding window; `rate` is their quotient, 0 without calls."""

    calls: int
    failures: int
    rate: float


class ForcedData(TypedDict):
    """An operator's hold on a breaker."""

    mode: Mode
    by: str
    reason: str
    until: str | None


class BreakerData(TypedDict):
    """One provider's breaker."""

    provider: str
    state: State
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
    window: WindowData
    forced: ForcedData | None
    generation: int


TransitionData = TypedDict(
    "TransitionData",
    {
        "from": str,  # a keyword, hence this way of writing it
        "to": str,
        "at": str,
        "cause": str,
        "failure_count": int | None,
        "request_id": str,
        "actor": str,
        "reason": str,
    },
)


class BreakerDetail(BreakerData):
    """A breaker with its last 50 transitions, newest first."""

    transitions: list[TransitionData]


class CooldownData(TypedDict):
    """A connection that is skipped until `until`."""

    provider: str
    connection: str
    kind: str
    until: str
    remaining: float
    source: str
    level: int


class LockoutData(TypedDict):
    """A (connection, model) that is skipped until `until`."""

    provider: str
    connection: str
    model: str
    reason: str
    locked_at: str
    until: str
    remaining: float
    attempts: int


class Snapshot(TypedDict):
    """Every breaker; the cooldowns and lockouts in force."""

    time: str
    breakers: list[BreakerData]
    cooldowns: list[CooldownData]
    lockouts: list[LockoutData]


class EventData(TypedDict):
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
