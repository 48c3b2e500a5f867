"""What people do to the layers: the functions behind the state API, the commands, the admin and the dashboard.

Each takes who acts (`actor`: a user's name, "key:NAME" or "cli:USER") and why; both go to the event log. Each raises
`ValueError` for an empty reason or a duration that is not positive, and `django.db.Error` if the database fails.
By the time it returns, the requests of this process are decided by what it did. What is already so stays so: clearing
a cooldown that has ended changes nothing (`Change.written` tells), no error.
"""

from datetime import timedelta

from django.utils import timezone

from resilience import store
from resilience.change import Change
from resilience.core.events import ConfigChanged
from resilience.core.permit import Pair
from resilience.core.state import Mode
from resilience.sync import heard

LONGEST = timedelta(days=3650)


def reset(provider: str, *, actor: str, reason: str) -> Change:
    """Close the breaker of `provider` with zero counts, whatever its state; a forced state ends too."""
    return heard(store.reset(provider, actor=actor, reason=_needed(reason), now=timezone.now()))


def force_open(provider: str, *, actor: str, reason: str, duration: timedelta | None = None) -> Change:
    """Refuse every call to `provider` until released, or for `duration`."""
    return _force(provider, "open", actor=actor, reason=reason, duration=duration)


def force_close(provider: str, *, actor: str, reason: str, duration: timedelta | None = None) -> Change:
    """Admit every call to `provider`, whatever fails, until released, or for `duration`."""
    return _force(provider, "closed", actor=actor, reason=reason, duration=duration)


def unforce(provider: str, *, actor: str, reason: str) -> Change:
    """End a forced state: the breaker is closed with zero counts and decides by itself again."""
    return heard(store.unforce(provider, actor=actor, reason=_needed(reason), now=timezone.now()))


def probe_now(provider: str, *, actor: str, reason: str) -> Change:
    """Let the next request to an open `provider` probe it, without waiting for `retry_at`."""
    return heard(store.probe_now(provider, actor=actor, reason=_needed(reason), now=timezone.now()))


def clear_cooldown(provider: str, connection: str, *, actor: str, reason: str) -> Change:
    """Use the connection again at once."""
    return heard(store.clear_cooldown(provider, connection, actor=actor, reason=_needed(reason), now=timezone.now()))


def lock(pair: Pair, *, actor: str, reason: str, duration: timedelta | None = None) -> Change:
    """Skip `pair` for `duration`, else for the provider's `lockout_duration`."""
    return heard(store.lock(pair, _checked(duration), actor=actor, reason=_needed(reason), now=timezone.now()))


def unlock(pair: Pair, *, actor: str, reason: str) -> Change:
    """Use `pair` again at once and forget its failures."""
    return heard(store.unlock(pair, actor=actor, reason=_needed(reason), now=timezone.now()))


def configured(changed: ConfigChanged, *, actor: str, reason: str) -> None:
    """Record a change of the configuration; call it in the transaction that makes the change."""
    store.note(changed, actor=actor, reason=_needed(reason), now=timezone.now())


def _force(provider: str, mode: Mode, *, actor: str, reason: str, duration: timedelta | None) -> Change:
    now = timezone.now()
    until = None if duration is None else now + _within_limits(duration)
    return heard(store.force(provider, mode, actor=actor, reason=_needed(reason), until=until, now=now))


def _needed(reason: str) -> str:
    reason = reason.strip()
    if not reason:
        raise ValueError("a reason is needed: it is what the next person on call will read")
    return reason


def _checked(duration: timedelta | None) -> timedelta | None:
    return None if duration is None else _within_limits(duration)


def _within_limits(duration: timedelta) -> timedelta:
    if not timedelta(0) < duration <= LONGEST:
        raise ValueError(f"a duration lies above 0 s and is at most {LONGEST.total_seconds():.0f} s")
    return duration
