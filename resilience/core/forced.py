"""An operator's hand on a breaker: hold it open or closed, let go, reset, let it probe.

While a hold is in force outcomes only reach the window. Its end, by time or by hand, leaves a closed breaker with zero
counts; attempts admitted before then belong to an older generation.
"""

from dataclasses import replace
from datetime import datetime

from .events import BreakerHeld, BreakerReleased, Events, ProbeAllowed
from .state import Breaker, Cause, Forced, Mode, State, close, move, moved


def force(
    breaker: Breaker, mode: Mode, now: datetime, *, by: str, reason: str, until: datetime | None
) -> tuple[Breaker, Events]:
    """Hold the breaker: `open` refuses everything, `closed` admits everything. Replaces a hold in force."""
    state = State.OPEN if mode == "open" else State.CLOSED
    held = move(
        breaker,
        state,
        Cause.FORCED,
        forced=Forced(mode, by, reason, until),
        opened_at=now if state is State.OPEN else None,
        retry_at=until if state is State.OPEN else None,
        probe_successes=0,
        leases=(),
    )
    event = BreakerHeld(
        provider=breaker.provider,
        from_state=breaker.state.value,
        to_state=state.value,
        mode=mode,
        by=by,
        reason=reason,
        until=until,
        generation=held.generation,
    )
    return held, (event,)


def unforce(breaker: Breaker, now: datetime, *, cause: str = Cause.FORCE_ENDED.value) -> tuple[Breaker, Events]:
    """Let go of the breaker; nothing happens if it is not held. `cause` is told to those who read the event."""
    if breaker.forced is None:
        return breaker, ()
    if breaker.force_ended(now):
        cause = "time"
    free = close(breaker, Cause.FORCE_ENDED)
    event = BreakerReleased(
        provider=breaker.provider,
        from_state=breaker.state.value,
        to_state=free.state.value,
        cause=cause,
        generation=free.generation,
    )
    return free, (event,)


def effective(breaker: Breaker, now: datetime) -> tuple[Breaker, Events]:
    """The breaker without a hold that has run out; the same breaker if there is none."""
    if breaker.force_ended(now):
        return unforce(breaker, now)
    return breaker, ()


def generation_at(breaker: Breaker, now: datetime) -> int:
    """The generation a permit of this moment belongs to, the unwritten end of a hold included."""
    return breaker.generation + 1 if breaker.force_ended(now) else breaker.generation


def reset(breaker: Breaker, now: datetime) -> tuple[Breaker, Events]:  # noqa: ARG001 - the signature of its siblings
    """Start afresh: closed, not held, nothing counted, the last failure forgotten."""
    after = replace(close(breaker, Cause.RESET), last_failure_kind=None, last_failure_at=None, last_failure_message="")
    return after, (moved(breaker, after, Cause.RESET),)


def probe_now(breaker: Breaker, now: datetime) -> tuple[Breaker, Events]:
    """End the wait of an open breaker: the next request probes. Nothing happens where nothing waits, or is held."""
    if breaker.state is not State.OPEN or breaker.forced is not None:
        return breaker, ()
    if breaker.retry_at is None or breaker.retry_at <= now:
        return breaker, ()
    return replace(breaker, retry_at=now), (ProbeAllowed(breaker.provider, breaker.retry_at),)
