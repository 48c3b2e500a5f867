"""What an operator can tune, as values: one `Policy` per provider. Durations are timedeltas."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType

from .kinds import Kind

DEGRADED_SHARE = 0.6
"""A breaker is degraded from this share of its failure threshold on, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class BreakerConfig:
    """Layer 1, per provider."""

    failure_threshold: int = 5
    degradation_threshold: int | None = None
    reset_timeout: timedelta = timedelta(seconds=30)
    half_open_requests: int = 1
    backoff_multiplier: float = 2.0
    max_backoff_multiplier: float = 16.0
    jitter: float = 0.1
    failure_rate: float = 0.5
    minimum_calls: int = 20
    window: timedelta = timedelta(seconds=60)
    probe_lease: timedelta = timedelta(seconds=120)

    @property
    def degrade_at(self) -> int:
        """Failures in a row that degrade the breaker: as configured, else 60 % of the threshold, rounded up."""
        if self.degradation_threshold is not None:
            return self.degradation_threshold
        # Rounded first: 0.6 * 5 is not quite 3, which would round up to 4.
        return max(1, math.ceil(round(self.failure_threshold * DEGRADED_SHARE, 6)))


DEFAULT_COOLDOWNS: Mapping[Kind, timedelta] = MappingProxyType(
    {
        Kind.RATE_LIMIT: timedelta(seconds=60),
        Kind.QUOTA_EXHAUSTED: timedelta(hours=1),
        Kind.AUTH: timedelta(minutes=10),
        Kind.TRANSIENT: timedelta(0),
        Kind.OVERLOADED: timedelta(0),
        Kind.TIMEOUT: timedelta(0),
    }
)


@dataclass(frozen=True, slots=True)
class CooldownConfig:
    """Layer 2, per connection of a provider; `by_kind` also bounds how long the breaker stays open from below."""

    by_kind: Mapping[Kind, timedelta] = field(default_factory=lambda: DEFAULT_COOLDOWNS)
    max_cooldown: timedelta = timedelta(days=1)

    def for_kind(self, kind: Kind) -> timedelta:
        """The configured cooldown of a kind; zero means none."""
        return self.by_kind.get(kind, timedelta(0))


@dataclass(frozen=True, slots=True)
class LockoutConfig:
    """Layer 3, per (connection, model) of a provider."""

    max_attempts: int = 5
    attempt_window: timedelta = timedelta(minutes=5)
    lockout_duration: timedelta = timedelta(minutes=2)
    max_lockout_duration: timedelta = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Policy:
    """How the three layers behave for one provider."""

    breaker: BreakerConfig = field(default_factory=BreakerConfig)
    cooldown: CooldownConfig = field(default_factory=CooldownConfig)
    lockout: LockoutConfig = field(default_factory=LockoutConfig)


DEFAULT_POLICY = Policy()
