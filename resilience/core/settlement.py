"""Whose fault is it: one outcome acts on the narrowest layer that explains it.

* A failure that opens or reopens the breaker belongs to the provider: its time is kept for the pair, no lock is set.
* An outcome of an older generation counts nowhere; it only gives back a lease that it still holds.
* A spent quota of the model locks the pair instead of cooling the connection.
* What we did ourselves (cancelled, local) gives back its lease and changes no count.
"""

from dataclasses import dataclass
from datetime import datetime

from . import breaker as breakers
from . import cooldown as cooldowns
from . import lockout as lockouts
from .breaker import Breaker, State
from .cooldown import Cooldown
from .events import Events
from .kinds import BreakerEffect
from .lockout import Lockout
from .outcome import Failure, Outcome, Success
from .permit import Permit
from .policy import Policy
from .window import Window


@dataclass(frozen=True, slots=True)
class Layers:
    """The three values that one attempt touches."""

    breaker: Breaker
    cooldown: Cooldown
    lockout: Lockout


def settle(
    layers: Layers,
    policy: Policy,
    permit: Permit,
    outcome: Outcome,
    now: datetime,
    u: float,
    *,
    sibling_usable: bool,
) -> tuple[Layers, Events]:
    """Apply the outcome of an attempt to its layers.

    `u` is random, in [0, 1). `sibling_usable` tells whether another connection of the provider could be used now.
    """
    before = layers.breaker
    stale = breakers.is_stale(before, now, generation=permit.generation, lease_id=permit.lease_id)
    if stale or (isinstance(outcome, Failure) and outcome.effects.breaker is BreakerEffect.RELEASE):
        freed, events = breakers.release(before, lease_id=permit.lease_id)
        return (layers if freed is before else Layers(freed, layers.cooldown, layers.lockout)), events
    if isinstance(outcome, Success):
        return _succeeded(layers, policy, permit, now)
    return _failed(layers, policy, permit, outcome, now, u, sibling_usable=sibling_usable)


def counts(failure: Failure, *, sibling_usable: bool) -> bool:
    """Whether a failure counts against the provider."""
    effect = failure.effects.breaker
    if effect is BreakerEffect.COUNTS_IF_ALONE:
        return not sibling_usable
    return effect is BreakerEffect.COUNTS


def changes_nothing(
    layers: Layers, policy: Policy, permit: Permit, outcome: Outcome, now: datetime, unwritten: Window = Window.EMPTY
) -> bool:
    """Whether settling this outcome would change no row: at most the window grows, which is kept in memory.

    True for a success on clean layers (add it to `unwritten`: `grows_window`), and for what gives no lease back: an
    outcome of an older generation, or a cancelled attempt. `unwritten` is what the window holds besides the row.
    """
    breaker = layers.breaker
    if breaker.force_ended(now):
        return False
    if permit.lease_id is not None:
        return False
    if breakers.is_stale(breaker, now, generation=permit.generation, lease_id=None):
        return True
    if isinstance(outcome, Failure):
        return outcome.effects.breaker is BreakerEffect.RELEASE
    return _breaker_is_clean(breaker, policy, now, unwritten) and _pair_is_clean(layers, permit, now)


def grows_window(breaker: Breaker, permit: Permit, outcome: Outcome) -> bool:
    """Whether an outcome that changes nothing else is still a call to count in the window."""
    if not isinstance(outcome, Success) or permit.generation != breaker.generation:
        return False
    return breaker.forced is not None or breaker.state is State.CLOSED or breaker.state is State.DEGRADED


def _breaker_is_clean(breaker: Breaker, policy: Policy, now: datetime, unwritten: Window) -> bool:
    """Whether a success only lets the breaker's window grow."""
    if breaker.forced is not None:
        return True
    if breaker.failure_count:
        return False
    if breaker.state is State.CLOSED:
        return True
    config = policy.breaker  # degraded: the others admit nobody without a lease
    calls, failures = breaker.window.merge(unwritten).add(now, config.window).totals(now, config.window)
    return calls >= max(1, config.minimum_calls) and failures / calls >= config.failure_rate / 2


def _pair_is_clean(layers: Layers, permit: Permit, now: datetime) -> bool:
    """Whether a success leaves cooldown and lockout as they are."""
    cooldown, lockout = layers.cooldown, layers.lockout
    if cooldown.level or cooldown.until is not None:
        after, _ = cooldowns.succeed(cooldown, permit.admitted_at, now)
        if after is not cooldown:
            return False
    if lockout.failures or lockout.until is not None:
        unlocked, _ = lockouts.succeed(lockout, permit.admitted_at, now)
        return unlocked is lockout
    return True


def _succeeded(layers: Layers, policy: Policy, permit: Permit, now: datetime) -> tuple[Layers, Events]:
    breaker, moves = breakers.succeed(
        layers.breaker, policy.breaker, now, generation=permit.generation, lease_id=permit.lease_id
    )
    cooldown, cleared = cooldowns.succeed(layers.cooldown, permit.admitted_at, now)
    lockout, unlocked = lockouts.succeed(layers.lockout, permit.admitted_at, now)
    return Layers(breaker, cooldown, lockout), (*moves, *cleared, *unlocked)


def _failed(
    layers: Layers,
    policy: Policy,
    permit: Permit,
    failure: Failure,
    now: datetime,
    u: float,
    *,
    sibling_usable: bool,
) -> tuple[Layers, Events]:
    breaker, moves = breakers.fail(
        layers.breaker,
        policy.breaker,
        failure,
        now,
        u,
        generation=permit.generation,
        lease_id=permit.lease_id,
        counts=counts(failure, sibling_usable=sibling_usable),
        cooldown_floor=min(policy.cooldown.for_kind(failure.kind), policy.cooldown.max_cooldown),
    )
    opened = breaker.state is State.OPEN and breaker.forced is None
    lockout, locked = lockouts.fail(layers.lockout, policy.lockout, failure, now, may_lock=not opened)
    if failure.model_scope:
        return Layers(breaker, layers.cooldown, lockout), (*moves, *locked)
    cooldown, cooled = cooldowns.start(layers.cooldown, policy.cooldown, failure, now)
    return Layers(breaker, cooldown, lockout), (*moves, *cooled, *locked)
