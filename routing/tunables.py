"""Every number a provider can be tuned with: its name in the configuration file, default and bounds, in one table.

Columns, their database constraints, the file's schema and the routing table are all built from it, so that
they cannot disagree. Durations are seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

LONGEST = 366 * 86_400.0
"""No duration may be longer (s): beyond a year it is a typing mistake, and date arithmetic must never overflow."""
SHORTEST_TIMEOUT = 0.01
"""A deadline of nothing would fail every call."""


@dataclass(frozen=True, slots=True)
class Tunable:
    """One number: where the file has it, what it is without one, and what it may be."""

    section: str
    name: str
    default: float | None
    low: float
    high: float
    whole: bool = False

    @property
    def column(self) -> str:
        """The column of Provider that holds it."""
        prefix = _PREFIXES[self.section]
        return f"{prefix}{self.name}"


_PREFIXES = {
    "breaker": "breaker_",
    "cooldown_by_kind": "cooldown_",
    "lockout": "lockout_",
    "timeouts": "timeout_",
    "": "",
}

_TABLE = (
    Tunable("breaker", "failure_threshold", 5, 1, 10_000, whole=True),
    Tunable("breaker", "degradation_threshold", None, 1, 10_000, whole=True),  # none: 60 % of the threshold
    Tunable("breaker", "reset_timeout", 30, 0, LONGEST),
    Tunable("breaker", "half_open_requests", 1, 1, 1_000, whole=True),
    Tunable("breaker", "backoff_multiplier", 2, 1, 100),
    Tunable("breaker", "max_backoff_multiplier", 16, 1, 10_000),
    Tunable("breaker", "jitter", 0.1, 0, 1),
    Tunable("breaker", "failure_rate", 0.5, 0.01, 1),
    Tunable("breaker", "minimum_calls", 20, 1, 1_000_000, whole=True),
    Tunable("breaker", "window", 60, 1, 86_400),
    Tunable("breaker", "probe_lease", 120, 1, 86_400),
    Tunable("cooldown_by_kind", "rate_limit", 60, 0, LONGEST),
    Tunable("cooldown_by_kind", "quota_exhausted", 3_600, 0, LONGEST),
    Tunable("cooldown_by_kind", "auth", 600, 0, LONGEST),
    Tunable("cooldown_by_kind", "transient", 0, 0, LONGEST),
    Tunable("cooldown_by_kind", "overloaded", 0, 0, LONGEST),
    Tunable("cooldown_by_kind", "timeout", 0, 0, LONGEST),
    Tunable("", "max_cooldown", 86_400, 1, LONGEST),
    Tunable("lockout", "max_attempts", 5, 1, 10_000, whole=True),
    Tunable("lockout", "attempt_window", 300, 1, LONGEST),
    Tunable("lockout", "lockout_duration", 120, 0, LONGEST),
    Tunable("lockout", "max_lockout_duration", 1_800, 0, LONGEST),
    Tunable("timeouts", "connect", 5, SHORTEST_TIMEOUT, 86_400),
    Tunable("timeouts", "first_token", 10, SHORTEST_TIMEOUT, 86_400),
    Tunable("timeouts", "response", 300, SHORTEST_TIMEOUT, 86_400),
    Tunable("timeouts", "idle", 20, SHORTEST_TIMEOUT, 86_400),
    Tunable("timeouts", "total", 900, SHORTEST_TIMEOUT, 86_400),
    Tunable("", "retries", 1, 0, 10, whole=True),
    Tunable("", "retry_backoff", 0.25, 0, 60),
)

TUNABLES: Mapping[str, Tunable] = MappingProxyType({tunable.column: tunable for tunable in _TABLE})
"""By column."""
