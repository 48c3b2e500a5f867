"""This process's live registry, by which every request is decided without I/O.

    check ──None──► permit ────────┐
      │                            ├──► attempt ──► settle ──┬─ changes nothing: a number in memory
      └─NEEDS_LEASE─► claim ───────┘                         └─ else: the copy at once, then the database (backlog)

Only a claim asks the database before the attempt, since leases are shared by all processes; when it does not answer,
the copy decides. Everything here is used from one event loop, so nothing needs a lock.
"""

import asyncio
import itertools
import logging
import random
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from resilience import jobs, store
from resilience.backlog import PATIENCE, Backlog, is_away
from resilience.change import Change
from resilience.core import breaker as breakers
from resilience.core import forced, settlement
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure, Outcome
from resilience.core.permit import NEEDS_LEASE, NeedsLease, Pair, Permit, Refusal, RefusalReason
from resilience.core.policy import BreakerConfig, Policy
from resilience.core.state import Breaker
from resilience.core.window import Window
from resilience.livecopy import REAPPLY_LIMIT, LiveCopy
from resilience.state_thread import StateThread

logger = logging.getLogger(__name__)

GIVE_BACK = Failure(Kind.CANCELLED, "the claim was cancelled")

ClaimAnswer = tuple[Change, Refusal | None]


@dataclass(frozen=True, slots=True)
class Health:
    """How far this process can trust its copy; shown on the dashboard."""

    last_sync_at: datetime | None
    database_ok: bool
    backlog: int
    dropped: int
    permits: int  # given and not settled


class Registry(LiveCopy):
    """The live copy, and the permits given by it."""

    def __init__(self, thread: StateThread | None = None, chance: Callable[[], float] = random.random) -> None:
        super().__init__()
        self.version = 0
        self.last_sync_at: datetime | None = None
        self.thread = thread or StateThread()
        self.backlog = Backlog(self.thread, lambda changes: self.apply(*changes))
        self._chance = chance
        self._claiming: dict[str, int] = {}
        self._permits: set[str] = set()
        self._permit_ids = map(f"{uuid.uuid4().hex[:12]}-{{:x}}".format, itertools.count(1))

    @property
    def health(self) -> Health:
        """What an operator should know of this copy."""
        backlog = self.backlog
        return Health(self.last_sync_at, backlog.database_ok, len(backlog), backlog.dropped, len(self._permits))

    def check_breaker(self, provider: str, policy: Policy, now: datetime) -> Refusal | NeedsLease | None:
        """The first gate alone. Claims under way hold the places they ask for."""
        answer = super().check_breaker(provider, policy, now)
        if answer is NEEDS_LEASE and not self._has_room(provider, policy.breaker, now):
            return Refusal(RefusalReason.BREAKER_HALF_OPEN, None)
        return answer

    def permit(self, pair: Pair, now: datetime) -> Permit:
        """The right to one attempt, after `check` returned None."""
        breaker = self.breakers.get(pair.provider)
        return self._permit(pair, 0 if breaker is None else forced.generation_at(breaker, now), None, now)

    async def claim(self, pair: Pair, policy: Policy, now: datetime) -> Permit | Refusal:
        """The right to one probe, after `check` returned NEEDS_LEASE: decided by the database, for all processes.

        Whoever finds all places claimed is refused at once. If the caller is cancelled, a lease won is given back.
        """
        provider = pair.provider
        if not self._has_room(provider, policy.breaker, now):
            return Refusal(RefusalReason.BREAKER_HALF_OPEN, None)
        self._claiming[provider] = self._claiming.get(provider, 0) + 1
        claim = asyncio.create_task(self._claim(pair, policy, now), name="resilience-claim")
        claim.add_done_callback(lambda _: self._claim_ended(provider))
        try:
            return await asyncio.shield(claim)
        except asyncio.CancelledError:
            claim.add_done_callback(partial(self._give_back, policy=policy, now=now))
            raise

    async def settle(
        self, permit: Permit, policy: Policy, outcome: Outcome, *, now: datetime, sibling_usable: bool, request_id: str
    ) -> None:
        """Apply the outcome of an attempt, once: raises RuntimeError for a permit settled before.

        A success on clean layers costs no I/O. Otherwise returns when the database has it, and what made it count
        for nothing; after a second at most: database trouble is never the caller's. If the caller is cancelled the
        write still happens.
        """
        try:
            self._permits.remove(permit.id)
        except KeyError:
            raise RuntimeError(f"permit {permit.id} was settled before, or is not of this process") from None
        layers = self.layers(permit.provider, permit.connection, permit.model)
        unwritten = self.unwritten.get(permit.provider, Window.EMPTY)
        if settlement.changes_nothing(layers, policy, permit, outcome, now, unwritten):
            if settlement.grows_window(layers.breaker, permit, outcome):
                self.unwritten[permit.provider] = unwritten.add(now, policy.breaker.window)
            await self.backlog.written(permit.provider)
            return
        self.unwritten.pop(permit.provider, None)
        await self.backlog.wait_for(
            self._owe(jobs.Settle(permit, policy, outcome, now, self._chance(), sibling_usable, unwritten, request_id))
        )

    def apply(self, *changes: Change, everything: bool = False) -> None:
        """Take over rows as the database has them; `everything`: forget what it does not have."""
        unseen = self.backlog.jobs() if len(self.backlog) <= REAPPLY_LIMIT else ()
        self.take_over(changes, unseen, everything=everything)

    def flush(self, policy_of: Mapping[str, Policy], now: datetime) -> None:
        """Queue the successes that other processes need."""
        self.due_windows(policy_of, now, self.backlog.put)

    def _owe(self, job: jobs.Job) -> "asyncio.Future[None]":
        """Apply a job to the copy and queue it for the database."""
        self.do(job)
        return self.backlog.put(job)

    def _permit(self, pair: Pair, generation: int, lease_id: str | None, now: datetime) -> Permit:
        permit = Permit(pair.provider, pair.connection, pair.model, generation, lease_id, now, next(self._permit_ids))
        self._permits.add(permit.id)
        return permit

    def _has_room(self, provider: str, config: BreakerConfig, now: datetime) -> bool:
        """Whether claims under way leave a place for one more."""
        claiming = self._claiming.get(provider, 0)
        if not claiming:
            return True
        breaker = self.breakers.get(provider) or Breaker(provider)
        return claiming + len(breaker.live_leases(now)) < max(1, config.half_open_requests)

    async def _claim(self, pair: Pair, policy: Policy, now: datetime) -> Permit | Refusal:
        lease_id = uuid.uuid4().hex
        if self.backlog.may_try():
            asked = asyncio.ensure_future(self.thread.run(partial(store.claim, pair.provider, policy, now, lease_id)))
            await asyncio.wait((asked,), timeout=PATIENCE)
            if not asked.done():
                self.backlog.unanswered()
                asked.add_done_callback(self._late_answer)
            elif (error := asked.exception()) is None:
                return self._claim_answered(pair, now, lease_id, asked.result())
            elif is_away(error):
                self.backlog.failed(error)
            else:  # a mistake of ours: not a reason to fail a request
                logger.error("state.claim_failed", exc_info=error, extra={"provider": pair.provider})
        return self._claim_locally(pair, policy, now, lease_id)

    def _claim_answered(self, pair: Pair, now: datetime, lease_id: str, answer: ClaimAnswer) -> Permit | Refusal:
        change, refusal = answer
        self.backlog.answered()
        self.apply(change)
        if refusal is not None:
            return refusal
        breaker = change.breakers[0]
        return self._permit(pair, breaker.generation, lease_id if breaker.holds(lease_id, now) else None, now)

    def _claim_locally(self, pair: Pair, policy: Policy, now: datetime, lease_id: str) -> Permit | Refusal:
        """The database is away: better one probe too many, in another process, than a provider shut out for ever."""
        before = self.layers(*pair).breaker
        breaker, refusal, _ = breakers.claim(before, policy.breaker, now, lease_id)
        if refusal is not None:
            return refusal
        permit = self._permit(pair, breaker.generation, lease_id if breaker.holds(lease_id, now) else None, now)
        self._owe(jobs.Claim(permit, policy, lease_id))
        return permit

    def _late_answer(self, asked: "asyncio.Future[ClaimAnswer]") -> None:
        """A claim that was decided from the copy is answered after all; the lease it may have won is the same one."""
        if not asked.cancelled() and asked.exception() is None:
            self.apply(asked.result()[0])

    def _claim_ended(self, provider: str) -> None:
        left = self._claiming.get(provider, 1) - 1
        if left > 0:
            self._claiming[provider] = left
        else:
            self._claiming.pop(provider, None)

    def _give_back(self, claim: "asyncio.Task[Permit | Refusal]", *, policy: Policy, now: datetime) -> None:
        if claim.cancelled() or claim.exception() is not None:
            return
        permit = claim.result()
        if isinstance(permit, Permit):
            self._permits.discard(permit.id)
            self._owe(jobs.Settle(permit, policy, GIVE_BACK, now, 0.0, True, Window.EMPTY, ""))  # noqa: FBT003


_registry: Registry | None = None


def get_registry() -> Registry:
    """The process's registry."""
    global _registry  # noqa: PLW0603 (one per process)
    if _registry is None:
        _registry = Registry()
    return _registry
