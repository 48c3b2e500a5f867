"""What a client is told of a gate that is shut is what the database knows, not what this process only believes."""

from datetime import UTC, datetime, timedelta

import pytest
from asgiref.sync import sync_to_async

from resilience.core.policy import BreakerConfig, Policy
from resilience.core.state import Breaker, State
from tests import state
from tests.resilience.examples import held_up
from tests.waiting import until

from .harness import Gateway, failing

FRAGILE = Policy(breaker=BreakerConfig(failure_threshold=1, jitter=0.0))  # open for 30 s


async def test_a_client_is_told_the_wait_that_another_process_set_first(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = held_up(monkeypatch)
    gateway.provider("a", failing(500), policy=FRAGILE)
    opening = gateway.begin()
    await until(lambda: gateway.breaker("a") is not None and gateway.breaker("a").state is State.OPEN)
    refused = gateway.begin()
    now = datetime.now(UTC)
    theirs = Breaker("a", State.OPEN, opened_at=now, retry_at=now + timedelta(seconds=300), generation=7)
    await sync_to_async(state.write)(breakers=[theirs])

    go_on.set()
    await opening.answer()

    (target,) = (await refused.answer()).error["omniroute"]["targets"]
    assert target["reason"] == "breaker_open"
    assert 250 < target["retry_after"] <= 300
