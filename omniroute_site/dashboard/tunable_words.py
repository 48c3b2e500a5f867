"""What each number of a provider is called on the pages, and its unit. The file's own name stands beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from omniroute_site.dashboard.selectors.events import spelled
from routing.configfile.values import plain
from routing.tunables import TUNABLES, Tunable


@dataclass(frozen=True, slots=True)
class Words:
    """A number in people's words."""

    label: str
    unit: str = ""


SECONDS, TIMES = "s", "times"
LONG = 600
"""Seconds that nobody reads at a glance."""
UNSAID = "60 % of those"
"""What a degradation threshold is that nobody chose."""

WORDS: Mapping[str, Words] = MappingProxyType(
    {
        "breaker_failure_threshold": Words("Failures in a row that open it"),
        "breaker_degradation_threshold": Words("Failures in a row that degrade it"),
        "breaker_reset_timeout": Words("Stays open for", SECONDS),
        "breaker_half_open_requests": Words("Probes at a time, successes to close"),
        "breaker_backoff_multiplier": Words("Wait grows each time by", TIMES),
        "breaker_max_backoff_multiplier": Words("Wait grows at most to", TIMES),
        "breaker_jitter": Words("Random extra wait, as a share"),
        "breaker_failure_rate": Words("Share of failures that opens it"),
        "breaker_minimum_calls": Words("Calls before the share counts"),
        "breaker_window": Words("Window of the share", SECONDS),
        "breaker_probe_lease": Words("A probe may take", SECONDS),
        "cooldown_rate_limit": Words("When rate limited", SECONDS),
        "cooldown_quota_exhausted": Words("When a quota is spent", SECONDS),
        "cooldown_auth": Words("When credentials are rejected", SECONDS),
        "cooldown_transient": Words("After a transient failure", SECONDS),
        "cooldown_overloaded": Words("When overloaded", SECONDS),
        "cooldown_timeout": Words("After a timeout", SECONDS),
        "max_cooldown": Words("No cooldown is longer than", SECONDS),
        "lockout_max_attempts": Words("Failures that lock a model"),
        "lockout_attempt_window": Words("Counted within", SECONDS),
        "lockout_lockout_duration": Words("Locked for", SECONDS),
        "lockout_max_lockout_duration": Words("Doubled up to", SECONDS),
        "timeout_connect": Words("To connect", SECONDS),
        "timeout_first_token": Words("To the first token", SECONDS),
        "timeout_response": Words("To a whole unstreamed answer", SECONDS),
        "timeout_idle": Words("Silence within a stream", SECONDS),
        "timeout_total": Words("Everything together", SECONDS),
        "retries": Words("Retries of the same target"),
        "retry_backoff": Words("Wait before the first retry", SECONDS),
    }
)
"""By column of TUNABLES."""

SECTIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "breaker": ("Breaker", "Opens the whole provider when it fails."),
        "cooldown_by_kind": ("Cooldown", "Rests one connection after a failure without a stated wait. 0: none."),
        "lockout": ("Lockout", "Rests one model of one connection."),
        "timeouts": ("Timeouts", "How long an answer may take."),
        "": ("Attempts", "What happens before the next target is tried."),
    }
)
"""Title and purpose of each section, in the order of the page."""


def file_name(tunable: Tunable) -> str:
    """What the configuration file calls it."""
    return f"{tunable.section}.{tunable.name}" if tunable.section else tunable.name


def section_of(column: str) -> str:
    """The section a number stands in on the page: the longest cooldown stands with the cooldowns."""
    return "cooldown_by_kind" if column == "max_cooldown" else TUNABLES[column].section


def shown(value: float | None, unit: str = "") -> str:
    """A number as people write it: `30 s`, `3600 s (1 h)`, `16 times`."""
    if value is None:
        return UNSAID
    told = f"{plain(value)} {unit}".strip()
    whole = unit == SECONDS and value >= LONG and value % 60 == 0
    return f"{told} ({spelled(timedelta(seconds=value))})" if whole else told
