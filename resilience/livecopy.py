"""State as values in memory: what one process believes, and how it takes over what the database has.

Jobs that the database has not seen yet are applied on top of what it answers, so that this process decides rightly
between an outcome and its commit.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from resilience.change import Change
from resilience.core import breaker as breakers
from resilience.core.cooldown import Cooldown
from resilience.core.lockout import Lockout
from resilience.core.permit import NeedsLease, Pair, Refusal, RefusalReason
from resilience.core.policy import DEFAULT_POLICY, Policy
from resilience.core.settlement import Layers
from resilience.core.state import Breaker, State
from resilience.core.window import Window
from resilience.jobs import Flush, Job

Key = str | tuple[str, str] | tuple[str, str, str]

REAPPLY_LIMIT = 500  # jobs; beyond it the database was away for long, and the answer to each job comes soon


@dataclass(slots=True)
class _Rows:
    """Rows as the database answered them, without what it has not seen."""

    breakers: dict[str, Breaker] = field(default_factory=dict)
    cooldowns: dict[tuple[str, str], Cooldown] = field(default_factory=dict)
    lockouts: dict[tuple[str, str, str], Lockout] = field(default_factory=dict)


class LiveCopy:
    """Breakers by provider, cooldowns by (provider, connection), lockouts by pair. Used from one event loop.

    `unwritten` are successes that changed nothing else: kept here until another process needs them.
    """

    def __init__(self) -> None:
        self.breakers: dict[str, Breaker] = {}
        self.cooldowns: dict[tuple[str, str], Cooldown] = {}
        self.lockouts: dict[tuple[str, str, str], Lockout] = {}
        self.unwritten: dict[str, Window] = {}
        self._taken_over: dict[Key, int] = {}
        self._as_stored = _Rows()

    def check(self, pair: Pair, policy: Policy, now: datetime) -> Refusal | NeedsLease | None:
        """Breaker, cooldown and lockout: None to go ahead with a permit, NEEDS_LEASE to claim one, else why not."""
        answer = self.check_breaker(pair.provider, policy, now)
        if isinstance(answer, Refusal):
            return answer
        cooldown = self.cooldowns.get((pair.provider, pair.connection))
        if cooldown is not None and cooldown.until is not None and now < cooldown.until:
            return Refusal(RefusalReason.COOLING, cooldown.until)
        lockout = self.lockouts.get(pair)
        if lockout is not None and lockout.until is not None and now < lockout.until:
            return Refusal(RefusalReason.LOCKED, lockout.until)
        return answer

    def check_breaker(self, provider: str, policy: Policy, now: datetime) -> Refusal | NeedsLease | None:
        """The first gate alone."""
        breaker = self.breakers.get(provider)
        return None if breaker is None else breakers.check(breaker, policy.breaker, now)

    def cooling(self, provider: str, connection: str, now: datetime) -> datetime | None:
        """Until when the connection cools down; None if it does not."""
        cooldown = self.cooldowns.get((provider, connection))
        return cooldown.until if cooldown is not None and cooldown.in_force(now) else None

    def layers(self, provider: str, connection: str, model: str) -> Layers:
        """The three values that one attempt touches; blank ones are kept, as the next request asks for them again."""
        breaker = self.breakers.get(provider)
        if breaker is None:
            breaker = self.breakers[provider] = Breaker(provider)
        cooldown = self.cooldowns.get((provider, connection))
        if cooldown is None:
            cooldown = self.cooldowns[provider, connection] = Cooldown(provider, connection)
        lockout = self.lockouts.get((provider, connection, model))
        if lockout is None:
            lockout = self.lockouts[provider, connection, model] = Lockout(provider, connection, model)
        return Layers(breaker, cooldown, lockout)

    def do(self, job: Job) -> None:
        """Apply a job that the database has not seen."""
        pair = Pair(*job.target)
        self.keep(pair, job.local(self.layers(*pair)))

    def keep(self, pair: Pair, layers: Layers) -> None:
        """Take the three values that one attempt left behind."""
        self.breakers[pair.provider] = layers.breaker
        self.cooldowns[pair.provider, pair.connection] = layers.cooldown
        self.lockouts[pair] = layers.lockout

    def copied(self) -> "LiveCopy":
        """What is believed now, to play with: nothing done to it reaches this copy, a request or the database."""
        other = LiveCopy()
        other.breakers = dict(self.breakers)
        for provider, window in self.unwritten.items():
            breaker = self.breakers.get(provider) or Breaker(provider)
            other.breakers[provider] = replace(breaker, window=breaker.window.merge(window))
        other.cooldowns = dict(self.cooldowns)
        other.lockouts = dict(self.lockouts)
        return other

    def stored(self) -> "LiveCopy":
        """What the database has, as far as is known, to read: so much outlives this process."""
        other = LiveCopy()
        rows = self._as_stored
        other.breakers, other.cooldowns, other.lockouts = rows.breakers, rows.cooldowns, rows.lockouts
        return other

    def take_over(self, changes: Iterable[Change], unseen: Iterable[Job], *, everything: bool = False) -> None:
        """Believe the database; `everything`: also forget what it does not have. Then do what it has not seen."""
        if everything:
            self.breakers.clear()
            self.cooldowns.clear()
            self.lockouts.clear()
            self._taken_over.clear()
            self._as_stored = _Rows()
        for change in changes:
            self._believe(change)
        jobs = list(unseen)
        for pair in {Pair(*job.target) for job in jobs}:
            self._put_back(pair)  # the answer may be about other rows, and these have the jobs done to them already
        for job in jobs:
            self.do(job)

    def _put_back(self, pair: Pair) -> None:
        """What the database has of three values, as far as is known."""
        rows, connection = self._as_stored, (pair.provider, pair.connection)
        self.breakers[pair.provider] = rows.breakers.get(pair.provider) or Breaker(pair.provider)
        self.cooldowns[connection] = rows.cooldowns.get(connection) or Cooldown(*connection)
        self.lockouts[pair] = rows.lockouts.get(pair) or Lockout(*pair)

    def _believe(self, change: Change) -> None:
        for breaker in change.breakers:
            if self._is_newer(breaker.provider, change.version):
                self.breakers[breaker.provider] = self._as_stored.breakers[breaker.provider] = breaker
        for cooldown in change.cooldowns:
            connection = cooldown.provider, cooldown.connection
            if self._is_newer(connection, change.version):
                self.cooldowns[connection] = self._as_stored.cooldowns[connection] = cooldown
        for lockout in change.lockouts:
            pair = (lockout.provider, lockout.connection, lockout.model)
            if self._is_newer(pair, change.version):
                self.lockouts[pair] = self._as_stored.lockouts[pair] = lockout

    def due_windows(self, policy_of: Mapping[str, Policy], now: datetime, queue: Callable[[Flush], object]) -> None:
        """Queue the successes that other processes need: those of providers that fail at times, or are not closed.

        The others stay here until they leave the window, which costs nobody anything.
        """
        for provider, window in list(self.unwritten.items()):
            length = policy_of.get(provider, DEFAULT_POLICY).breaker.window
            oldest = (now - length).timestamp()
            recent = Window(tuple(bucket for bucket in window.buckets if bucket[0] > oldest))
            if not recent.buckets:
                del self.unwritten[provider]
            elif _needs_calls(self.breakers.get(provider), now, length):
                del self.unwritten[provider]
                job = Flush(provider, recent, now)
                self.do(job)
                queue(job)
            else:
                self.unwritten[provider] = recent

    def _is_newer(self, key: Key, version: int) -> bool:
        """Whether a row is news: answers of the database may reach the event loop in another order than it gave them."""
        if version < self._taken_over.get(key, 0):
            return False
        self._taken_over[key] = version
        return True


def _needs_calls(breaker: Breaker | None, now: datetime, length: timedelta) -> bool:
    if breaker is None:
        return False
    return breaker.state is not State.CLOSED or breaker.window.totals(now, length)[1] > 0
