"""The public Python names, for code that embeds the app without the proxy (CONTRACT section 6).

Plain functions on the database, for synchronous code: views, commands, workers. A serving process hears of what they
change within a second. `resilience.get_circuit_breaker` and its siblings are the same functions.
"""

import random
import uuid

from django.utils import timezone

from resilience import actions, policies, reading, status, store
from resilience.core import breaker as breakers
from resilience.core import forced
from resilience.core.kinds import Kind
from resilience.core.outcome import SUCCESS, Failure, Outcome
from resilience.core.permit import NEEDS_LEASE, Pair, Permit, Refusal
from resilience.status import BreakerData, LockoutData

ACTOR = "python"


class CircuitBreaker:
    """A handle on the breaker of one provider; it reads the row at each call."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"CircuitBreaker({self.name!r})"

    def can_execute(self) -> bool:
        """Whether a call may be made now, as a probe if need be. Only reads: no place is taken by asking."""
        config = policies.policy_for(self.name).breaker
        return not isinstance(breakers.check(reading.read_breaker(self.name), config, timezone.now()), Refusal)

    def get_status(self) -> BreakerData:
        """The breaker in the shape of the state API."""
        return status.describe_breaker(reading.read_breaker(self.name), policies.policy_for(self.name), timezone.now())

    def reset(self, *, actor: str = ACTOR, reason: str = "reset by code") -> None:
        """Close the breaker with zero counts."""
        actions.reset(self.name, actor=actor, reason=reason)


def get_circuit_breaker(name: str) -> CircuitBreaker:
    """The breaker of provider `name`; a provider never heard of has a clean one."""
    return CircuitBreaker(name)


def get_all_circuit_breaker_statuses() -> list[BreakerData]:
    """Every provider's breaker in the shape of the state API."""
    return status.snapshot(timezone.now())["breakers"]


def get_all_model_lockouts() -> list[LockoutData]:
    """The lockouts in force in the shape of the state API."""
    return status.snapshot(timezone.now())["lockouts"]


def mark_account_unavailable(
    provider: str, connection: str, model: str, reason: Kind | str, *, message: str = ""
) -> None:
    """Record one failure of kind `reason` ("rate_limit", "auth", …). Raises ValueError for an unknown kind.

    It acts on the layers as a failed call would; the provider is taken to have other connections that work.
    """
    failure = Failure(Kind(reason), message)
    _settle(Pair(provider, connection, model), failure)


def record_success(provider: str, connection: str, model: str) -> None:
    """Record one success: counts in a row end, cooldown and lockout of the pair are cleared."""
    _settle(Pair(provider, connection, model), SUCCESS)


def force_unlock(
    provider: str, connection: str, model: str, *, actor: str = ACTOR, reason: str = "unlocked by code"
) -> None:
    """End the lockout of a pair and forget the failures that led to it."""
    actions.unlock(Pair(provider, connection, model), actor=actor, reason=reason)


def _settle(pair: Pair, outcome: Outcome) -> None:
    """Settle an attempt that was made elsewhere, as if it had begun just now.

    If it could only have been a probe it takes a probe's lease, so that a breaker used by hand finds its way back too.
    """
    now = timezone.now()
    policy = policies.policy_for(pair.provider)
    breaker, lease_id = reading.read_breaker(pair.provider), None
    if breakers.check(breaker, policy.breaker, now) is NEEDS_LEASE:
        wanted = uuid.uuid4().hex
        change, _ = store.claim(pair.provider, policy, now, wanted)
        breaker = change.breakers[0]
        lease_id = wanted if breaker.holds(wanted, now) else None
    generation = forced.generation_at(breaker, now)
    permit = Permit(*pair, generation=generation, lease_id=lease_id, admitted_at=now, id=uuid.uuid4().hex)
    u = random.random()  # noqa: S311 (jitter)
    store.settle(permit, policy, outcome, now, u, sibling_usable=True)
