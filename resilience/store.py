"""The only writer of state. The database is the truth; whoever wants to change it calls a function here.

Each is one short transaction of the same shape:

    take a number ─► read the rows ─► apply the core's function ─► save what changed ─► append events ─► commit
    (one writer at                    (pure)                        (with the number)                      │
     a time, in all                                                                                signal, news
     processes)

`committing.py` holds that shape; what happens inside is one function of the core each. Functions raise `django.db.Error` if the database fails, and then nothing has changed.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from resilience import policies
from resilience.change import Change
from resilience.committing import Draft, Note, delete_lockouts, write
from resilience.core import breaker as breakers
from resilience.core import clock, forced, settlement
from resilience.core import cooldown as cooldowns
from resilience.core import lockout as lockouts
from resilience.core.events import ConfigChanged, Event
from resilience.core.lockout import Lockout
from resilience.core.outcome import Outcome
from resilience.core.permit import Pair, Permit, Refusal
from resilience.core.policy import Policy
from resilience.core.settlement import Layers
from resilience.core.state import Breaker, Mode
from resilience.core.window import Window
from resilience.reading import load_all, read_breaker, read_cooldown, read_layers, read_lockout


def claim(provider: str, policy: Policy, now: datetime, lease_id: str) -> tuple[Change, Refusal | None]:
    """Claim a probe lease: the one decision that processes must not take from their copies.

    Without a refusal the attempt is admitted under the generation of `Change.breakers[0]`; it has the lease if that
    breaker holds `lease_id`, else the breaker was found closed. Claiming the same lease twice is the same as once.
    """
    refusal: Refusal | None = None

    def work() -> Draft:
        nonlocal refusal
        before = read_breaker(provider)
        if before.holds(lease_id, now):
            return Draft(breakers=[(before, before)])
        after, refusal, events = breakers.claim(before, policy.breaker, now, lease_id)
        return Draft(breakers=[(before, after)], events=events)

    change = write(work, Note(now))
    return change, refusal


def settle(
    permit: Permit,
    policy: Policy,
    outcome: Outcome,
    now: datetime,
    u: float,
    *,
    sibling_usable: bool,
    unwritten: Window = Window.EMPTY,
    request_id: str = "",
) -> Change:
    """Apply the outcome of one attempt. `unwritten` are successes that the calling process has not written yet."""

    def work() -> Draft:
        before = read_layers(permit.provider, permit.connection, permit.model)
        after, events = settlement.settle(
            with_unwritten(before, unwritten), policy, permit, outcome, now, u, sibling_usable=sibling_usable
        )
        return Draft(
            breakers=[(before.breaker, after.breaker)],
            cooldowns=[(before.cooldown, after.cooldown)],
            lockouts=[(before.lockout, after.lockout)],
            events=events,
        )

    return write(work, Note(now, request_id=request_id))


def with_unwritten(layers: Layers, unwritten: Window) -> Layers:
    """The layers with the calls that one process kept to itself added to the breaker's window."""
    if not unwritten.buckets:
        return layers
    return replace(layers, breaker=replace(layers.breaker, window=layers.breaker.window.merge(unwritten)))


def flush_window(provider: str, window: Window, now: datetime) -> Change:
    """Add successes to the breaker's window that a process had kept to itself."""

    def work() -> Draft:
        before = read_breaker(provider)
        return Draft(breakers=[(before, replace(before, window=before.window.merge(window)))])

    return write(work, Note(now), tell=False)


def reset(provider: str, *, actor: str, reason: str, now: datetime) -> Change:
    """Close the breaker with zero counts; a forced state ends too."""
    return write(partial(_on_breaker, provider, lambda found: forced.reset(found, now)), Note(now, "", actor, reason))


def force(provider: str, mode: Mode, *, actor: str, reason: str, until: datetime | None, now: datetime) -> Change:
    """Hold the breaker open or closed, until a time or until told otherwise."""

    def change(found: Breaker) -> tuple[Breaker, Sequence[Event]]:
        return forced.force(found, mode, now, by=actor, reason=reason, until=until)

    return write(partial(_on_breaker, provider, change), Note(now, "", actor, reason))


def unforce(provider: str, *, actor: str, reason: str, now: datetime) -> Change:
    """End a forced state."""
    return write(
        partial(_on_breaker, provider, lambda found: forced.unforce(found, now, cause="operator")),
        Note(now, "", actor, reason),
    )


def probe_now(provider: str, *, actor: str, reason: str, now: datetime) -> Change:
    """End the wait of an open breaker."""
    return write(
        partial(_on_breaker, provider, lambda found: forced.probe_now(found, now)), Note(now, "", actor, reason)
    )


def clear_cooldown(provider: str, connection_slug: str, *, actor: str, reason: str, now: datetime) -> Change:
    """End a cooldown before its time."""

    def work() -> Draft:
        before = read_cooldown(provider, connection_slug)
        after, events = cooldowns.clear(before, now)
        return Draft(cooldowns=[(before, after)], events=events)

    return write(work, Note(now, "", actor, reason))


def lock(pair: Pair, duration: timedelta | None, *, actor: str, reason: str, now: datetime) -> Change:
    """Lock a pair for `duration`, else for its provider's `lockout_duration`."""
    if duration is None:
        duration = policies.policy_for(pair.provider).lockout.lockout_duration

    def work() -> Draft:
        before = read_lockout(*pair)
        after, events = lockouts.lock(before, now, duration, message=reason)
        return Draft(lockouts=[(before, after)], events=events)

    return write(work, Note(now, "", actor, reason))


def unlock(pair: Pair, *, actor: str, reason: str, now: datetime) -> Change:
    """End a lock before its time and forget the failures that led to it."""

    def work() -> Draft:
        before = read_lockout(*pair)
        after, events = lockouts.unlock(before, now)
        return Draft(lockouts=[(before, after)], events=events)

    return write(work, Note(now, "", actor, reason))


def note(changed: ConfigChanged, *, actor: str, reason: str, now: datetime) -> Change:
    """Append what a person did to the configuration; part of the caller's transaction, if there is one."""
    return write(lambda: Draft(events=[changed]), Note(now, "", actor, reason))


def correct_clocks(now: datetime) -> Change:
    """Bring what a clock that was ahead has set back to what `now` and the policies allow (`core.clock`).

    Once per start of a process and now and then: nobody else waits for a look that finds nothing.
    """

    def work() -> Draft:
        found = load_all()
        policy = policies.policy_for
        return Draft(
            breakers=[(one, clock.breaker_by(now, one, policy(one.provider))) for one in found.breakers],
            cooldowns=[(one, clock.cooldown_by(now, one, policy(one.provider))) for one in found.cooldowns],
            lockouts=[(one, clock.lockout_by(now, one, policy(one.provider))) for one in found.lockouts],
        )

    return write(work, Note(now)) if work().changes() else Change()


def forget_idle(now: datetime) -> int:
    """Delete lockouts that say nothing any more; how many there were.

    A client that makes up model names on direct calls leaves one row for each.
    """
    return delete_lockouts(lambda found: _is_idle(found, now))


def _is_idle(found: Lockout, now: datetime) -> bool:
    """Whether a blank lockout would decide the same from now on."""
    config = policies.policy_for(found.provider).lockout
    last = max(filter(None, (*found.failures, found.until, found.last_locked_at)), default=None)
    return last is None or last < now - max(config.attempt_window, lockouts.RELOCK_WINDOW)


def _on_breaker(provider: str, change: Callable[[Breaker], tuple[Breaker, Sequence[Event]]]) -> Draft:
    before = read_breaker(provider)
    after, events = change(before)
    return Draft(breakers=[(before, after)], events=events)
