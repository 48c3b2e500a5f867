"""Values used all over these tests, and short ways to make a failure happen."""

import threading
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest

from resilience import store
from resilience.change import Change
from resilience.core.forced import generation_at
from resilience.core.kinds import Kind
from resilience.core.outcome import SUCCESS, Failure, Hint, Outcome
from resilience.core.permit import Pair, Permit
from resilience.core.policy import BreakerConfig, Policy
from resilience.reading import read_breaker

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
POLICY = Policy(breaker=BreakerConfig(jitter=0.0))
PAIR = Pair("openai", "main", "gpt-4o")
BROKEN = Failure(Kind.TRANSIENT, "503 from upstream", status=503)
LIMITED = Failure(Kind.RATE_LIMIT, "slow down", status=429, hint=Hint(timedelta(seconds=7), "retry-after header"))
GONE = Failure(Kind.MODEL_UNAVAILABLE, "no such model", status=404)
__all__ = [
    "BROKEN",
    "GONE",
    "LIMITED",
    "NOW",
    "PAIR",
    "POLICY",
    "SUCCESS",
    "after",
    "held_up",
    "open_breaker",
    "permit",
    "settle",
]

_ids = count(1)


def held_up(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Settlements reach the database only when this is set."""
    go_on, write = threading.Event(), store.settle

    def slow_settle(*args: Any, **details: Any) -> Change:
        go_on.wait(timeout=10)
        return write(*args, **details)

    monkeypatch.setattr(store, "settle", slow_settle)
    return go_on


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def permit(
    pair: Pair = PAIR, *, generation: int | None = None, lease_id: str | None = None, now: datetime = NOW
) -> Permit:
    """A permit of the breaker's present generation, as the database has it."""
    if generation is None:
        generation = generation_at(read_breaker(pair.provider), now)
    return Permit(*pair, generation=generation, lease_id=lease_id, admitted_at=now, id=f"p{next(_ids)}")


def settle(
    outcome: Outcome,
    pair: Pair = PAIR,
    *,
    policy: Policy = POLICY,
    now: datetime = NOW,
    lease_id: str | None = None,
    request_id: str = "",
    sibling_usable: bool = True,
) -> Change:
    return store.settle(
        permit(pair, now=now, lease_id=lease_id),
        policy,
        outcome,
        now,
        0.0,
        sibling_usable=sibling_usable,
        request_id=request_id,
    )


def open_breaker(provider: str = "openai", *, now: datetime = NOW, policy: Policy = POLICY) -> Change:
    """Fail until the breaker opens, on a different model each time so that none is locked."""
    change = Change()
    for number in range(policy.breaker.failure_threshold):
        change = settle(BROKEN, Pair(provider, "main", f"model-{number}"), now=now, policy=policy)
    return change
