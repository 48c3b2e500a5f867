"""What to make of deadlines when the clock was set back, or was wrong.

A value that began in the future was made by a clock that was ahead: it begins now instead, and lasts as long as it was
to last. Whatever it says, no deadline is further away than the policy allows. Both are idempotent, so every process may
look at any time. What an operator set has no such bound, and a hold has no beginning: it is left alone.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from .breaker import opening_time
from .cooldown import Cooldown
from .lockout import Lockout
from .policy import Policy
from .state import Breaker, Lease

TOLERANCE = timedelta(seconds=5)
"""By so much the clocks of two machines may differ without anybody minding."""


def breaker_by(now: datetime, breaker: Breaker, policy: Policy) -> Breaker:
    """The breaker as `now` allows it."""
    latest = now + policy.breaker.probe_lease
    if any(lease.expires_at > latest + TOLERANCE for lease in breaker.leases):
        leases = tuple(Lease(lease.id, min(lease.expires_at, latest)) for lease in breaker.leases)
        breaker = replace(breaker, leases=leases)
    if breaker.forced is not None or breaker.opened_at is None or breaker.retry_at is None:
        return breaker
    if _is_ahead(breaker.opened_at, now):
        open_for = breaker.retry_at - breaker.opened_at
        breaker = replace(breaker, opened_at=now, retry_at=now + open_for)
    longest = opening_time(policy.breaker, policy.cooldown.max_cooldown, None, open_cycles=10_000, u=1.0)
    if breaker.retry_at is not None and breaker.retry_at > now + longest:
        breaker = replace(breaker, retry_at=now + longest)
    return breaker


def cooldown_by(now: datetime, cooldown: Cooldown, policy: Policy) -> Cooldown:
    """The cooldown as `now` allows it."""
    until, failed_at, started_at = cooldown.until, cooldown.failed_at, cooldown.started_at
    if failed_at is not None and _is_ahead(failed_at, now):
        until = until and now + (until - failed_at)
        cooldown = replace(cooldown, until=until, failed_at=now, started_at=started_at and min(started_at, now))
    limit = now + policy.cooldown.max_cooldown
    return replace(cooldown, until=limit) if until is not None and until > limit else cooldown


def lockout_by(now: datetime, lockout: Lockout, policy: Policy) -> Lockout:
    """The lockout as `now` allows it."""
    if any(_is_ahead(at, now) for at in lockout.failures):
        lockout = replace(lockout, failures=tuple(min(at, now) for at in lockout.failures))
    until, locked_at, last = lockout.until, lockout.locked_at, lockout.last_locked_at
    if until is not None and locked_at is not None and _is_ahead(locked_at, now):
        until = now + (until - locked_at)
        lockout = replace(lockout, locked_at=now, until=until, last_locked_at=last and min(last, now))
    limit = now + max(policy.cooldown.max_cooldown, policy.lockout.max_lockout_duration)
    by_hand = lockout.reason is None
    return replace(lockout, until=limit) if until is not None and until > limit and not by_hand else lockout


def _is_ahead(at: datetime, now: datetime) -> bool:
    return at > now + TOLERANCE
