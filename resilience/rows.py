"""Rows ⇄ values: the core knows no tables, the tables know no behaviour.

Reading is lenient: a kind that this version does not know (a newer process wrote it) is left out, never an error.
"""

from collections.abc import Mapping
from datetime import datetime

from django.db import models

from resilience import models as tables
from resilience.core.cooldown import Cooldown
from resilience.core.kinds import Kind
from resilience.core.lockout import Lockout
from resilience.core.state import Breaker, Forced, Lease, Mode, State
from resilience.core.window import Window


def _columns(table: type[models.Model], *key: str) -> tuple[str, ...]:
    """The columns that an update writes: all but the key."""
    fields = table._meta.concrete_fields  # noqa: SLF001 (documented by Django)
    return tuple(field.name for field in fields if field.name not in {"id", *key})


BREAKER_FIELDS = _columns(tables.BreakerState, "provider")
COOLDOWN_FIELDS = _columns(tables.Cooldown, "provider", "connection")
LOCKOUT_FIELDS = _columns(tables.ModelLockout, "provider", "connection", "model")


def to_breaker(row: tables.BreakerState) -> Breaker:
    """The value of a row."""
    forced = None
    if row.forced_mode:
        mode: Mode = "open" if row.forced_mode == "open" else "closed"
        forced = Forced(mode, row.forced_by, row.forced_reason, row.forced_until)
    return Breaker(
        provider=row.provider,
        state=State(row.state),
        failure_count=row.failure_count,
        last_failure_kind=to_kind(row.last_failure_kind),
        last_failure_at=row.last_failure_at,
        last_failure_message=row.last_failure_message,
        opened_at=row.opened_at,
        retry_at=row.retry_at,
        open_cycles=row.open_cycles,
        probe_successes=row.probe_successes,
        leases=tuple(Lease(lease_id, datetime.fromisoformat(expires_at)) for lease_id, expires_at in row.leases),
        kind_counts=_kind_counts(row.kind_counts),
        window=Window.from_json(row.window),
        forced=forced,
        generation=row.generation,
    )


def from_breaker(breaker: Breaker, version: int) -> tables.BreakerState:
    """The row of a value, not saved."""
    forced = breaker.forced
    return tables.BreakerState(
        provider=breaker.provider,
        state=breaker.state.value,
        failure_count=breaker.failure_count,
        last_failure_kind=_name(breaker.last_failure_kind),
        last_failure_at=breaker.last_failure_at,
        last_failure_message=storable(breaker.last_failure_message),
        opened_at=breaker.opened_at,
        retry_at=breaker.retry_at,
        open_cycles=breaker.open_cycles,
        probe_successes=breaker.probe_successes,
        leases=[[lease.id, lease.expires_at.isoformat()] for lease in breaker.leases],
        kind_counts={kind.value: count for kind, count in breaker.kind_counts.items()},
        window=breaker.window.to_json(),
        forced_mode=forced.mode if forced else "",
        forced_by=storable(forced.by) if forced else "",
        forced_reason=storable(forced.reason) if forced else "",
        forced_until=forced.until if forced else None,
        generation=breaker.generation,
        version=version,
    )


def to_cooldown(row: tables.Cooldown) -> Cooldown:
    """The value of a row."""
    return Cooldown(
        provider=row.provider,
        connection=row.connection,
        kind=to_kind(row.kind),
        until=row.until,
        started_at=row.started_at,
        failed_at=row.failed_at,
        level=row.level,
        source=row.source,
        message=row.message,
        status=row.status,
    )


def from_cooldown(cooldown: Cooldown, version: int) -> tables.Cooldown:
    """The row of a value, not saved."""
    return tables.Cooldown(
        provider=cooldown.provider,
        connection=cooldown.connection,
        kind=_name(cooldown.kind),
        until=cooldown.until,
        started_at=cooldown.started_at,
        failed_at=cooldown.failed_at,
        level=cooldown.level,
        source=storable(cooldown.source)[:200],
        message=storable(cooldown.message),
        status=cooldown.status,
        version=version,
    )


def to_lockout(row: tables.ModelLockout) -> Lockout:
    """The value of a row."""
    return Lockout(
        provider=row.provider,
        connection=row.connection,
        model=row.model,
        failures=tuple(datetime.fromisoformat(at) for at in row.failures),
        reason=to_kind(row.reason),
        locked_at=row.locked_at,
        until=row.until,
        last_locked_at=row.last_locked_at,
        locks_in_a_row=row.locks_in_a_row,
        message=row.message,
    )


def from_lockout(lockout: Lockout, version: int) -> tables.ModelLockout:
    """The row of a value, not saved."""
    return tables.ModelLockout(
        provider=lockout.provider,
        connection=lockout.connection,
        model=lockout.model,
        failures=[at.isoformat() for at in lockout.failures],
        reason=_name(lockout.reason),
        locked_at=lockout.locked_at,
        until=lockout.until,
        last_locked_at=lockout.last_locked_at,
        locks_in_a_row=lockout.locks_in_a_row,
        message=storable(lockout.message),
        version=version,
    )


def to_kind(text: str) -> Kind | None:
    """The kind of that name; None for an empty or unknown one."""
    try:
        return Kind(text)
    except ValueError:
        return None


def _name(kind: Kind | None) -> str:
    return "" if kind is None else kind.value


def storable(text: str) -> str:
    """Text that every database takes: an upstream's message may hold NUL or half a surrogate pair."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def _kind_counts(counts: Mapping[str, int]) -> dict[Kind, int]:
    known = {to_kind(name): int(count) for name, count in counts.items()}
    return {kind: count for kind, count in known.items() if kind is not None}
