"""Layer 2: the cooldown of a connection.

`until` is never shortened by a failure and never extended by our own refusals. `level` grows when a cooldown starts
while none is in force, so that ten failures in flight raise it once, and falls by one per success.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from .events import CooldownCleared, CooldownStarted, Events
from .kinds import CooldownEffect, Kind
from .outcome import Failure
from .policy import CooldownConfig

UNHINTED_RATE_LIMIT_CAP = timedelta(minutes=30)
"""A rate limit that names no time is never waited out for longer."""

HIGHEST_EXPONENT = 30
"""Beyond it every cooldown has met its cap; keeps the power within a float."""


@dataclass(frozen=True, slots=True)
class Cooldown:
    """What is known of one connection. `failed_at` is the failure that set `until`."""

    provider: str
    connection: str
    kind: Kind | None = None
    until: datetime | None = None
    started_at: datetime | None = None
    failed_at: datetime | None = None
    level: int = 0
    source: str = ""
    message: str = ""
    status: int | None = None

    def in_force(self, now: datetime) -> bool:
        """Whether the connection is to be skipped."""
        return self.until is not None and now < self.until


def start(cooldown: Cooldown, config: CooldownConfig, failure: Failure, now: datetime) -> tuple[Cooldown, Events]:
    """Cool the connection down, if the failure's kind does so and not for less long than it already does."""
    in_force = cooldown.in_force(now)
    # Failures in flight ask for the time that the first of them asked for, not for twice as long.
    level = max(0, cooldown.level - 1) if in_force else cooldown.level
    duration, source = cooldown_for(config, failure, level)
    if duration <= timedelta(0):
        return cooldown, ()
    until = now + duration
    if in_force and cooldown.until is not None and until <= cooldown.until:
        return cooldown, ()
    after = replace(
        cooldown,
        kind=failure.kind,
        until=until,
        started_at=cooldown.started_at if in_force else now,
        failed_at=now,
        level=cooldown.level if in_force else cooldown.level + 1,
        source=source,
        message=failure.message,
        status=failure.status,
    )
    event = CooldownStarted(after.provider, after.connection, failure.kind, until, source, after.level)
    return after, (event,)


def cooldown_for(config: CooldownConfig, failure: Failure, level: int) -> tuple[timedelta, str]:
    """How long a failure cools its connection (zero: not at all), and where that time comes from."""
    if failure.cooldown is not None:
        return min(failure.cooldown, config.max_cooldown), f"rule {failure.rule}".rstrip()
    if failure.hint is not None and failure.effects.cooldown is not CooldownEffect.NEVER:
        return min(failure.hint.duration, config.max_cooldown), failure.hint.source
    # Kinds that cool for a hint only, or never, have no time here unless the operator gave them one.
    cap = config.max_cooldown
    if failure.kind is Kind.RATE_LIMIT:
        cap = min(cap, UNHINTED_RATE_LIMIT_CAP)
    return _doubled(config.for_kind(failure.kind), level, cap), "configuration"


def succeed(cooldown: Cooldown, admitted_at: datetime, now: datetime) -> tuple[Cooldown, Events]:
    """Lower the level; end the cooldown if the attempt began after the failure that set it."""
    began_after = cooldown.failed_at is None or admitted_at >= cooldown.failed_at
    ends = cooldown.in_force(now) and began_after
    if cooldown.level == 0 and not ends:
        return cooldown, ()
    after = replace(cooldown, level=max(0, cooldown.level - 1), until=None if ends else cooldown.until)
    events = (CooldownCleared(cooldown.provider, cooldown.connection, "success"),) if ends else ()
    return after, events


def clear(cooldown: Cooldown, now: datetime, *, cause: str = "operator") -> tuple[Cooldown, Events]:
    """End the cooldown by hand; the next one starts at the lowest level."""
    if cooldown.until is None and cooldown.level == 0:
        return cooldown, ()
    after = replace(cooldown, until=None, level=0)
    events = (CooldownCleared(cooldown.provider, cooldown.connection, cause),) if cooldown.in_force(now) else ()
    return after, events


def _doubled(duration: timedelta, level: int, cap: timedelta) -> timedelta:
    seconds: float = duration.total_seconds() * 2.0 ** min(level, HIGHEST_EXPONENT)
    return timedelta(seconds=min(seconds, cap.total_seconds()))
