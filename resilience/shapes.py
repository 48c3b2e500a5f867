"""The JSON shapes of the state API (CONTRACT section 5). Times are ISO 8601 in UTC, durations seconds."""

from typing import TypedDict


class WindowData(TypedDict):
    """The sliding window of a breaker."""

    calls: int
    failures: int
    rate: float


class ForcedData(TypedDict):
    """An operator's hold on a breaker."""

    mode: str
    by: str
    reason: str
    until: str | None


class BreakerData(TypedDict):
    """One breaker. Times are ISO 8601, durations seconds."""

    provider: str
    state: str
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
        "at": str | None,
        "cause": str,
        "failure_count": int | None,
        "request_id": str,
        "actor": str,
        "reason": str,
    },
)


class BreakerDetail(BreakerData):
    """One breaker with its last transitions, newest first."""

    transitions: list[TransitionData]


class CooldownData(TypedDict):
    """One cooldown in force."""

    provider: str
    connection: str
    kind: str
    until: str | None
    remaining: float
    source: str
    level: int


class LockoutData(TypedDict):
    """One lockout in force."""

    provider: str
    connection: str
    model: str
    reason: str
    locked_at: str | None
    until: str | None
    remaining: float
    attempts: int


class Snapshot(TypedDict):
    """All of it at one time."""

    time: str | None
    breakers: list[BreakerData]
    cooldowns: list[CooldownData]
    lockouts: list[LockoutData]
