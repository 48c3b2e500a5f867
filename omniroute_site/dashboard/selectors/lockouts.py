"""Lockouts in force, with who or what set them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from omniroute_site.dashboard.lockout_rows import LockoutRow, Lockouts
from omniroute_site.dashboard.selectors.state import routes
from resilience.core.lockout import Lockout
from resilience.models import ModelLockout, ResilienceEvent
from resilience.rows import to_lockout

MOST_EVENTS = 1_000  # looked through for the causes

Causes = Mapping[tuple[str, str, str], ResilienceEvent]


def read_lockouts(at: datetime) -> Lockouts:
    """Read the lockouts in force at `at`. What the configuration does not name any more stops nobody, and is left out."""
    providers = routes().providers
    found = [
        lockout
        for lockout in map(to_lockout, ModelLockout.objects.filter(until__gt=at))
        if lockout.provider in providers and providers[lockout.provider].connection(lockout.connection)
    ]
    causes = _causes(found)
    rows = (_row(lockout, causes) for lockout in found)
    return Lockouts(tuple(sorted((row for row in rows if row), key=lambda row: row.pair)))


def _causes(found: Sequence[Lockout]) -> Causes:
    """The event of each lock: the newest of its pair."""
    since = min((lockout.locked_at for lockout in found if lockout.locked_at), default=None)
    if since is None:
        return {}
    events = ResilienceEvent.objects.filter(name="model_locked", at__gte=since).order_by("-id")[:MOST_EVENTS]
    return {(event.provider, event.connection, event.model): event for event in reversed(events)}


def _row(lockout: Lockout, causes: Causes) -> LockoutRow | None:
    if lockout.until is None:
        return None
    cause = causes.get((lockout.provider, lockout.connection, lockout.model))
    return LockoutRow(
        provider=lockout.provider,
        connection=lockout.connection,
        model=lockout.model,
        until=lockout.until,
        locked_at=lockout.locked_at,
        kind=lockout.reason.value if lockout.reason else "",
        failures=len(lockout.failures),
        message=lockout.message,
        actor=cause.actor if cause else "",
        request_id=cause.request_id if cause else "",
    )
