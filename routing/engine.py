"""The attempt loop (RESILIENCE section 7).

targets in order ─► gate ─► attempt ─► answered: the client gets the rest, done
                     │         │
                     │         └─ failed: same target again (if the kind allows), next target, or the caller's error
                     └─ shut: recorded, next target

none admitted: wait for a short cooldown, once more ─► exhausted: emergency target once ─► the verdict
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from operator import itemgetter

from resilience.core.kinds import RULES, Kind, NextTarget
from resilience.core.outcome import Failure, Success
from resilience.core.permit import Permit, Refusal, RefusalReason
from routing import gate, telemetry
from routing.adapters.base import Answer
from routing.attempt import Attempt
from routing.chains import Target, targets
from routing.emergency import emergency_target
from routing.errors import GatewayError
from routing.job import Job
from routing.strategies import Surroundings
from routing.verdict import callers_mistake, content_filtered, exhausted

JUST_AFTER = 0.01  # s; so that a gate that opens at a moment is open when we come back


class StreamInterruptedError(Exception):
    """The stream broke after its first content; the client has part of an answer and must be told."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


async def run(job: Job) -> None:
    """Answer the job's client. Raises GatewayError if nothing was sent yet, else StreamInterruptedError."""
    if await _walk(job, ordered(job)):
        return
    budget = job.table.settings.max_cooldown_wait
    while (pause := _until_soonest_cooldown(job, budget)) is not None:
        budget -= pause
        await _wait(job, pause)
        job.journal.forget_skips()
        if await _walk(job, ordered(job)):
            return
    if not await _last_resort(job):
        raise exhausted(job)


async def _last_resort(job: Job) -> bool:
    """The emergency target, once; whatever becomes of it, the chain's own failure is what the client hears of."""
    target = emergency_target(job)
    try:
        return target is not None and await _walk(job, [target])
    except GatewayError:
        return False


def ordered(job: Job) -> list[Target]:
    """The targets of the job's route in the order in which they would be tried now."""
    around = Surroundings(
        job.route.name, job.registry, job.live, job.table.facts, job.random, asyncio.get_running_loop().time()
    )
    return list(targets(job.route, job.table, around))


async def _walk(job: Job, candidates: Sequence[Target]) -> bool:
    """Try one target after another; true if the client was answered. What broke off, the next one goes on with."""
    for number, target in enumerate(candidates, 1):
        if job.journal.calls >= job.table.settings.max_attempts:
            break
        if _time_left(job, target) <= 0:
            continue  # a call would be lost at once, and count against a provider that was never given a chance
        permit = await _admit(job, target)
        if permit is not None and await _try(job, target, permit, candidates[number:]):
            return True
    if job.broken is not None:
        raise StreamInterruptedError(job.broken.failure)
    return False


async def _admit(job: Job, target: Target) -> Permit | None:
    """A permit, or None with the skip written down."""
    now = job.now
    admitted = await gate.admit(target, job.registry, job.live, now)
    if isinstance(admitted, Refusal):
        job.journal.skip(target, admitted, now)
        telemetry.skip(target.provider.slug, admitted.reason.value)
        return None
    return admitted


async def _try(job: Job, target: Target, permit: Permit, others: Sequence[Target]) -> bool:
    """Call one target, again where its failure allows that; true if the client was answered."""
    tries = Counter[bool]()  # those that wait for a stated time, and the others
    while True:
        attempt = Attempt(job, target, last=not _any_open(job, others), followed=bool(others))
        outcome = await attempt.run(permit)
        if isinstance(outcome, Success):
            await _deliver(job, target, attempt.rest)
            return True
        _stop_if_final(job, outcome)
        if job.broken is not None and job.broken.failure is outcome:
            return False  # it broke in the middle: that is for the next target
        waits = outcome.kind is Kind.RATE_LIMIT
        tries[waits] += 1
        pause = _pause_before_retry(job, target, outcome, tries[waits])
        if pause is None or job.journal.calls >= job.table.settings.max_attempts:
            return False
        await _wait(job, pause)
        again = await _admit(job, target)
        if again is None:
            return False
        permit = again


async def _deliver(job: Job, target: Target, rest: Answer | bytes) -> None:
    job.served_by = target
    if isinstance(rest, Answer):
        await job.client.answer(job, target, rest)
        return
    if not job.client.started:
        await job.client.start(job, target)
    await job.client.finish(rest)


def _stop_if_final(job: Job, failure: Failure) -> None:
    """Raise where no other target may be asked."""
    if failure.kind is Kind.CANCELLED or (job.client.started and job.broken is None):
        raise StreamInterruptedError(failure)
    if job.broken is not None:
        return
    following = RULES[failure.kind].next_target
    if following is NextTarget.NO:
        raise callers_mistake(failure)
    if following is NextTarget.BY_SETTING and job.table.settings.on_content_filter == "error":
        raise content_filtered(failure)


def _any_open(job: Job, others: Sequence[Target]) -> bool:
    """Whether another target could be tried after this one."""
    now = job.now
    return any(gate.check(other, job.registry, job.live, now) is None for other in others)


def _pause_before_retry(job: Job, target: Target, failure: Failure, tries: int) -> float | None:
    """Seconds before the same target is asked again; None if it is not."""
    provider = target.provider
    if failure.kind is Kind.RATE_LIMIT:
        patience = timedelta(seconds=job.table.settings.wait_for_retry_after)
        if failure.hint is None or failure.hint.duration > patience or tries > 1:
            return None
        pause = failure.hint.duration.total_seconds() + JUST_AFTER
    elif RULES[failure.kind].retry_same_target and tries <= provider.retries:
        spread = 1 + provider.policy.breaker.jitter * (2 * job.random.random() - 1)
        pause = provider.retry_backoff * 2 ** (tries - 1) * spread
    else:
        return None
    return pause if pause < _time_left(job, target) else None


def _time_left(job: Job, target: Target) -> float:
    """Seconds until the whole request has taken as long as the target's provider allows."""
    return job.started + target.provider.timeouts.total - asyncio.get_running_loop().time()


def _until_soonest_cooldown(job: Job, budget: float) -> float | None:
    """Seconds until the first cooldown ends, if cooldowns alone are in the way and `budget` seconds reach that far."""
    skips = [skip for skip in job.journal.skips if skip[1].reason is not RefusalReason.DISABLED]
    if budget <= 0 or job.journal.failures or not skips:
        return None
    if any(refusal.reason is not RefusalReason.COOLING or refusal.until is None for _, refusal in skips):
        return None
    soonest, target = min(((refusal.until, target) for target, refusal in skips if refusal.until), key=itemgetter(0))
    pause = max(0.0, (soonest - job.now).total_seconds()) + JUST_AFTER * (1 + job.random.random())
    return pause if pause <= budget and pause < _time_left(job, target) else None


async def _wait(job: Job, seconds: float) -> None:
    """Wait on purpose; not the gateway's overhead."""
    await asyncio.sleep(seconds)
    job.journal.upstream_time += seconds
