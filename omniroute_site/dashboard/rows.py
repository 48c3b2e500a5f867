"""What the pages show, as frozen rows. They compare by value: a live page is told only of rows that differ.

Nothing in a row depends on who looks, nor on how much time has passed since it was read: times are absolute, and
the browser counts down from them. So one row serves every open page, and an idle provider sends nothing.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2s

BREAKER_TONES = {"CLOSED": "ok", "DEGRADED": "degraded", "OPEN": "open", "HALF_OPEN": "probe"}
BREAKER_WORDS = {"CLOSED": "CLOSED", "DEGRADED": "DEGRADED", "OPEN": "OPEN", "HALF_OPEN": "HALF-OPEN"}


def dom_id(*parts: str) -> str:
    """An element id for a thing with these names: stable, never empty, safe for any model's name."""
    plain = "--".join(parts)
    if plain.replace("-", "").isalnum() and plain.isascii():
        return plain
    return f"x{blake2s(plain.encode(), digest_size=8).hexdigest()}"


def slashed(*names: str) -> str:
    """Names as people write them, `openai/main/gpt-4o`, without those that are empty."""
    return "/".join(filter(None, names))


@dataclass(frozen=True, slots=True)
class Traffic:
    """The last two minutes of one provider, drawn (see `charts`)."""

    calls_path: str = ""
    fails_path: str = ""
    good_path: str = ""
    limited_path: str = ""
    failed_path: str = ""
    calls: int = 0
    failures: int = 0
    per_second: float = 0.0
    first_token_p95: float | None = None

    @property
    def failure_percent(self) -> int:
        """Share of the two minutes' calls that failed."""
        return round(100 * self.failures / self.calls) if self.calls else 0


@dataclass(frozen=True, slots=True)
class Lock:
    """A locked (connection, model) pair."""

    provider: str
    connection: str
    model: str
    kind: str
    until: datetime
    failures: int
    message: str = ""

    @property
    def key(self) -> str:
        """The element id it is known by."""
        return dom_id(self.provider, self.connection, self.model)


@dataclass(frozen=True, slots=True)
class ConnectionRow:
    """An account at a provider, with its cooldown if one is in force."""

    provider: str
    slug: str
    enabled: bool = True
    problem: str = ""
    kind: str = ""
    started_at: datetime | None = None
    until: datetime | None = None
    source: str = ""
    message: str = ""
    locks: tuple[Lock, ...] = ()

    @property
    def key(self) -> str:
        """The element id it is known by."""
        return dom_id(self.provider, self.slug)

    @property
    def cooling(self) -> bool:
        """Whether a cooldown is in force."""
        return self.until is not None

    @property
    def tone(self) -> str:
        """Which colour and shape it wears."""
        if not self.enabled:
            return "off"
        if self.problem:
            return "open"
        return "degraded" if self.cooling or self.locks else "ok"

    @property
    def cooling_seconds(self) -> int:
        """The whole length of the cooldown in force, for its bar."""
        if self.until is None:
            return 0
        return max(1, round((self.until - (self.started_at or self.until)).total_seconds()))


@dataclass(frozen=True, slots=True)
class Circuit:
    """A provider: its breaker, its connections, its traffic."""

    slug: str
    name: str
    format: str
    state: str
    threshold: int
    enabled: bool = True
    forced_mode: str = ""
    forced_by: str = ""
    forced_reason: str = ""
    forced_until: datetime | None = None
    failure_count: int = 0
    failure_rate_percent: int = 50
    minimum_calls: int = 20
    retry_at: datetime | None = None
    opened_at: datetime | None = None
    opened_by: str = ""
    next_wait: timedelta | None = None
    probes: int = 0
    lease_until: datetime | None = None
    last_kind: str = ""
    last_message: str = ""
    last_failure_at: datetime | None = None
    window_calls: int = 0
    window_failures: int = 0
    connections: tuple[ConnectionRow, ...] = ()
    traffic: Traffic = Traffic()

    @property
    def key(self) -> str:
        """The element id it is known by."""
        return dom_id(self.slug)

    @property
    def tone(self) -> str:
        """Which colours it wears."""
        if not self.enabled:
            return "off"
        if self.forced_mode:
            return "forced"
        if self.state == "CLOSED" and self.hampered:
            return "degraded"
        return BREAKER_TONES[self.state]

    @property
    def mark(self) -> str:
        """Which shape it wears, so that colour is never the only sign."""
        if not self.enabled:
            return "off"
        return "forced" if self.forced_mode else BREAKER_TONES[self.state]

    @property
    def word(self) -> str:
        """Its state in a word."""
        if not self.enabled:
            return "DISABLED"
        if self.forced_mode:
            return "HELD OPEN" if self.forced_mode == "open" else "HELD CLOSED"
        return BREAKER_WORDS[self.state]

    @property
    def hampered(self) -> bool:
        """Whether one of its connections cools down, or one of its models is locked."""
        return any(connection.cooling or connection.locks for connection in self.connections)

    @property
    def calm(self) -> bool:
        """Whether there is nothing to see: a quiet card is enough."""
        return self.rank >= CALM

    @property
    def out(self) -> bool:
        """Whether it takes no calls but probes."""
        if not self.enabled:
            return False
        return self.forced_mode == "open" or (not self.forced_mode and self.state in ("OPEN", "HALF_OPEN"))

    @property
    def rank(self) -> int:
        """Trouble first; within a rank the order never changes."""
        if not self.enabled:
            return DISABLED
        if self.out:
            return OUT
        return LIMPING if self.forced_mode or self.hampered or self.state != "CLOSED" else CALM

    @property
    def window_percent(self) -> int:
        """Failure rate of the breaker's own window."""
        return round(100 * self.window_failures / self.window_calls) if self.window_calls else 0

    @property
    def pips(self) -> tuple[bool, ...]:
        """Failures in a row of the threshold; empty where there are too many to draw."""
        if self.threshold > MOST_PIPS:
            return ()
        return tuple(position < self.failure_count for position in range(self.threshold))

    def without_traffic(self) -> "Circuit":
        """What is left when only the traffic has changed."""
        return replace(self, traffic=NO_TRAFFIC, window_calls=0, window_failures=0)


OUT, LIMPING, CALM, DISABLED = range(4)
MOST_PIPS = 10
NO_TRAFFIC = Traffic()
