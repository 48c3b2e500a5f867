"""What must not last for ever or grow without end: waiting, memory, permits of clients that left."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from resilience.core.policy import BreakerConfig, CooldownConfig, Policy
from routing import http_body, proxy
from routing import live as live_module
from routing.table import Timeouts
from routing.upstream import calls
from tests.resilience.examples import held_up

from .harness import ROLE, Gateway, Hang, Reply, chat, chunk, failing
from .harness import streaming as stream_of

STREAM = chat(stream=True)


async def test_nobody_is_asked_once_the_total_deadline_has_passed(gateway: Gateway) -> None:
    gateway.provider("a", Reply(hangs=True), timeouts=Timeouts(total=0.05))
    second = gateway.provider("b", timeouts=Timeouts(total=0.05))
    answer = await gateway.ask()
    assert (answer.status, answer.error["code"]) == (504, "upstream_timeout")
    assert not second.calls
    assert gateway.breaker("b") is None or gateway.breaker("b").failure_count == 0


async def test_a_provider_that_allows_more_time_is_still_asked(gateway: Gateway) -> None:
    gateway.provider("a", Reply(hangs=True), timeouts=Timeouts(total=0.05))
    gateway.provider("b")
    assert (await gateway.ask()).served_by == "b"


async def test_a_cooldown_is_not_waited_for_beyond_the_total_deadline(gateway: Gateway) -> None:
    gateway.settings = replace(gateway.settings, max_cooldown_wait=60)
    gateway.provider("a", failing(429, retry_after="30"), timeouts=Timeouts(total=5))
    await gateway.ask()
    answer = await gateway.ask()
    assert (answer.status, answer.error["code"]) == (429, "all_targets_cooling")


async def test_a_hint_is_waited_out_also_after_a_retry_of_another_kind(gateway: Gateway) -> None:
    gateway.settings = replace(gateway.settings, wait_for_retry_after=3)
    provider = gateway.provider("a", failing(500), failing(429, retry_after="1"), Reply(), retries=1)
    answer = await gateway.ask()
    assert (answer.status, len(provider.calls)) == (200, 3)


async def test_made_up_model_names_are_forgotten(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "MODELS", 5)
    gateway.provider("a")
    for number in range(20):
        await gateway.ask(chat(model=f"a/made-up-{number}"))
    traffic = proxy.live
    assert (len(traffic._used), len(traffic._speed), traffic.in_flight) == (5, 5, {})
    assert traffic.used("a", "made-up-19", asyncio.get_running_loop().time()) > 0.9


async def test_a_body_that_stops_coming_is_408(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_body, "IDLE_SECONDS", 0.05)
    gateway.provider("a")
    answer = await gateway.begin(b'{"model": ', more_body=True).answer()
    assert (answer.status, answer.error["code"]) == (408, "request_timeout")
    assert answer.headers["connection"] == "close"


async def test_a_disabled_target_does_not_hide_that_all_others_overflowed(gateway: Gateway) -> None:
    gateway.provider("a", failing(400, "context_length_exceeded"))
    gateway.provider("b", enabled=False)
    answer = await gateway.ask()
    assert (answer.status, answer.error["code"]) == (400, "context_length_exceeded")


async def test_retry_after_is_each_targets_last_word(gateway: Gateway) -> None:
    gateway.settings = replace(gateway.settings, max_cooldown_wait=5)
    gateway.provider("a", failing(429, retry_after="1"), failing(429, retry_after="40"))
    await gateway.ask()
    answer = await gateway.ask()
    assert answer.status == 429
    assert 38 <= int(answer.headers["retry-after"]) <= 40


async def test_a_client_that_leaves_during_a_settlement_still_leaves_a_complete_row(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway.provider("a", failing(500))
    call = gateway.begin()
    settle = gateway.registry.settle

    async def leave_meanwhile(*args: Any, **options: Any) -> None:
        await settle(*args, **options)
        call.hang_up()
        await asyncio.Event().wait()

    monkeypatch.setattr(gateway.registry, "settle", leave_meanwhile)
    await call.task
    [record] = gateway.records
    assert (record.outcome, record.targets[0]["decision"]) == ("client_closed", "failed")
    assert gateway.permits == 0


async def test_an_error_whose_body_does_not_end_is_what_its_status_says(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "ERROR_PATIENCE", 0.05)
    reply = Reply(429, headers={"retry-after": "30"}, stream=[b'{"error": ', Hang()])
    gateway.provider("a", reply, timeouts=Timeouts(response=0.05))
    answer = await gateway.ask()
    assert (answer.status, answer.error["code"]) == (429, "rate_limit_exceeded")
    assert gateway.breaker("a").last_failure_kind == "rate_limit"
    assert gateway.providers["a"].closed == 1


async def test_a_client_is_told_of_a_shut_gate_when_the_database_knows_it(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else `kill -9` would undo what somebody has seen."""
    gateway.provider("a", failing(500), policy=Policy(BreakerConfig(failure_threshold=1), CooldownConfig()))
    go_on = held_up(monkeypatch)
    first = gateway.begin()
    while gateway.breaker("a") is None or gateway.breaker("a").state != "OPEN":  # noqa: ASYNC110 (no event for it)
        await asyncio.sleep(0)
    second = gateway.begin()
    for _ in range(20):  # as far as it gets by itself
        await asyncio.sleep(0)
    assert not second.messages

    go_on.set()
    assert [(await call.answer()).status for call in (first, second)] == [502, 503]


SHY = Policy(BreakerConfig(jitter=0, failure_threshold=1, reset_timeout=timedelta(milliseconds=1)), CooldownConfig())


@pytest.mark.parametrize(
    ("replies", "row", "calls"),
    [
        ([Reply(hangs=True)], {}, [1]),
        ([stream_of(ROLE, Hang())], {}, [1]),
        ([stream_of(ROLE, chunk("Hel"), Hang())], {}, [1]),
        ([failing(500)], {"retries": 1, "retry_backoff": 600}, [1]),
        ([failing(429, retry_after="30")], {}, [1, 1]),
        ([failing(500), Reply(hangs=True)], {"policy": SHY}, [1, 2]),
    ],
    ids=["headers", "preamble", "content", "retry pause", "cooldown wait", "probe"],
)
async def test_a_client_that_leaves_gives_everything_back(
    gateway: Gateway, replies: list[Reply], row: dict[str, Any], calls: list[int]
) -> None:
    """calls: made after each request; the last one's client leaves."""
    gateway.settings = replace(gateway.settings, max_cooldown_wait=600)
    provider = gateway.provider("a", *replies, **row)
    for _ in calls[:-1]:
        await gateway.ask()
    provider.called.clear()
    call = gateway.begin(STREAM if replies[-1].stream else chat())
    if len(provider.calls) < calls[-1]:
        await provider.called.wait()
    for _ in range(20):  # as far as it gets by itself
        await asyncio.sleep(0)
    call.hang_up()
    async with asyncio.timeout(5):
        await call.task
    assert (gateway.records[-1].outcome, gateway.permits, len(provider.calls)) == ("client_closed", 0, calls[-1])
    assert provider.closed == len(provider.calls) - sum(reply.hangs for reply in replies)
    assert gateway.breaker("a") is None or not gateway.breaker("a").leases
    running = {task.get_coro().__qualname__ for task in asyncio.all_tasks()}  # type: ignore[union-attr]
    assert not running & {"Exchange._watch", "application", "_read_to_end"}
