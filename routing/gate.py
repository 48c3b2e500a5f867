"""Whether a target may be called now, and the permit for it.

The gates in order: enabled, breaker, cooldown, lockout, concurrency, probe lease. The lease is claimed last, so that
a target skipped for another reason never eats a probe.
"""

from datetime import datetime

from resilience.core.permit import NEEDS_LEASE, NeedsLease, Permit, Refusal, RefusalReason
from resilience.livecopy import LiveCopy
from resilience.registry import Registry
from routing.chains import Target
from routing.live import Live

DISABLED = Refusal(RefusalReason.DISABLED, None)
FULL = Refusal(RefusalReason.CONCURRENCY, None)


def check(target: Target, registry: LiveCopy, live: Live, now: datetime) -> Refusal | NeedsLease | None:
    """Look, without touching anything. None: a permit can be had at once."""
    if not target.enabled:
        return DISABLED
    verdict = registry.check(target.pair, target.provider.policy, now)
    if isinstance(verdict, Refusal):
        return verdict
    connection = target.connection
    if 0 < connection.max_concurrency <= live.in_flight.get((connection.provider, connection.slug), 0):
        return FULL
    return verdict


async def admit(target: Target, registry: Registry, live: Live, now: datetime) -> Permit | Refusal:
    """A permit, which must be settled exactly once, or the first gate that is shut."""
    verdict = check(target, registry, live, now)
    if isinstance(verdict, Refusal) and await registry.backlog.written(target.provider.slug):
        # the client is told of the gate as the database shut it, if it did
        verdict = check(target, registry, live, now)
    if verdict is None:
        return registry.permit(target.pair, now)
    if verdict is NEEDS_LEASE:
        return await registry.claim(target.pair, target.provider.policy, now)
    return verdict


def sibling_usable(target: Target, registry: LiveCopy, now: datetime) -> bool:
    """Whether the provider has another connection that could take this model: then a rate limit is not its fault."""
    model = target.model
    for connection in target.provider.connections:
        if connection is target.connection or not connection.usable:
            continue
        cooldown = registry.cooldowns.get((connection.provider, connection.slug))
        lockout = registry.lockouts.get((connection.provider, connection.slug, model))  # a Pair is such a tuple
        if not (cooldown and cooldown.in_force(now)) and not (lockout and lockout.in_force(now)):
            return True
    return False
