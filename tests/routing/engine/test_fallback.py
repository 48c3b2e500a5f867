"""Walking the chain: who is asked after whom, and what the client is told."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from asgiref.sync import sync_to_async

from resilience.core.state import State
from resilience.models import BreakerState
from routing.errors import invalid_request
from routing.table import Connection, GatewaySettings, ModelFacts, Timeouts

from .harness import Gateway, Reply, chat, completion, failing


async def test_the_first_entry_answers_and_the_headers_say_so(gateway: Gateway) -> None:
    primary = gateway.provider("a")
    gateway.provider("b")
    answer = await gateway.ask(chat(temperature=0.5, custom={"kept": True}))
    assert (answer.status, answer.served_by) == (200, "a")
    assert answer.headers["x-omniroute-chain"] == "model"
    assert answer.headers["x-omniroute-connection"] == "main"
    assert answer.headers["x-omniroute-model"] == "m"
    assert answer.headers["x-omniroute-attempts"] == "1"
    assert answer.headers["x-omniroute-fallback"] == "false"
    assert "x-omniroute-emergency" not in answer.headers
    [sent] = primary.bodies()
    assert sent == chat(temperature=0.5, custom={"kept": True}) | {"model": "m"}
    assert primary.calls[0].headers["authorization"] == "Bearer key-a-main"


async def test_a_failure_is_answered_by_the_next_entry_and_counted_once(gateway: Gateway) -> None:
    gateway.provider("a", failing(500))
    gateway.provider("b")
    answer = await gateway.ask()
    assert (answer.status, answer.served_by) == (200, "b")
    assert answer.headers["x-omniroute-attempts"] == "2"
    assert answer.headers["x-omniroute-fallback"] == "true"
    assert gateway.breaker("a").failure_count == 1
    [record] = gateway.records
    assert record.outcome == "rescued"
    assert [line["decision"] for line in record.targets] == ["failed", "answered"]


async def test_after_five_failures_in_a_row_the_primary_is_left_alone(gateway: Gateway) -> None:
    primary = gateway.provider("a", failing(500))
    gateway.provider("b")
    for _ in range(7):
        assert (await gateway.ask()).served_by == "b"
    assert len(primary.calls) == 5
    assert gateway.breaker("a").state is State.OPEN
    assert gateway.records[-1].targets[0]["reason"] == "breaker_open"


async def test_a_network_failure_is_transient(gateway: Gateway) -> None:
    gateway.provider("a", Reply(raises=httpx.ConnectError("refused")))
    gateway.provider("b")
    assert (await gateway.ask()).served_by == "b"
    assert gateway.breaker("a").last_failure_kind == "transient"


async def test_a_retry_asks_the_same_target_again(gateway: Gateway) -> None:
    primary = gateway.provider("a", failing(503), Reply(), retries=1)
    answer = await gateway.ask()
    assert answer.served_by == "a"
    assert len(primary.calls) == 2
    assert answer.headers["x-omniroute-attempts"] == "2"
    assert gateway.breaker("a").failure_count == 0


async def test_a_timeout_is_not_retried_on_the_same_target(gateway: Gateway) -> None:
    primary = gateway.provider("a", Reply(hangs=True), retries=3, timeouts=Timeouts(response=0.05))
    gateway.provider("b")
    assert (await gateway.ask()).served_by == "b"
    assert len(primary.calls) == 1


async def test_no_more_than_max_attempts_calls_are_made(gateway: Gateway) -> None:
    primary = gateway.provider("a", failing(500), retries=5)
    second = gateway.provider("b", failing(500))
    gateway.settings = GatewaySettings(max_attempts=3)
    answer = await gateway.ask()
    assert answer.status == 502
    assert len(primary.calls) + len(second.calls) == 3


async def test_a_number_in_place_of_a_code_is_not_told_as_one(gateway: Gateway) -> None:
    said = {"code": 400, "message": "Invalid value at 'contents'", "status": "INVALID_ARGUMENT"}
    gateway.provider("a", Reply(400, {"error": said}), format="gemini")
    answer = await gateway.ask()
    assert (answer.status, answer.error["code"], answer.error["message"]) == (400, "invalid_request", said["message"])


async def test_the_callers_mistake_is_one_call_and_the_providers_words(gateway: Gateway) -> None:
    gateway.provider("a", failing(400, "invalid_value", "temperature must be at most 2"))
    second = gateway.provider("b")
    answer = await gateway.ask()
    assert answer.status == 400
    assert "temperature must be at most 2" in answer.error["message"]
    assert answer.headers["x-omniroute-attempts"] == "1"
    assert not second.calls
    assert gateway.breaker("a").failure_count == 0
    assert gateway.records[0].outcome == "rejected"


async def test_the_member_that_the_provider_blames_is_named(gateway: Gateway) -> None:
    blamed = {"message": "Unsupported value", "type": "invalid_request_error", "param": "temperature", "code": None}
    gateway.provider("a", Reply(400, {"error": blamed}))
    assert (await gateway.ask()).error["param"] == "temperature"


async def test_a_rejected_key_never_shows_as_401(gateway: Gateway) -> None:
    gateway.provider("a", failing(401, "invalid_api_key", "Incorrect API key provided: sk-abc123def456ghi789"))
    answer = await gateway.ask()
    assert (answer.status, answer.error["code"]) == (502, "upstream_error")
    assert b"sk-abc123" not in answer.body
    assert gateway.breaker("a").failure_count == 0


async def test_a_429_with_a_hint_cools_its_connection_and_the_sibling_answers(gateway: Gateway) -> None:
    provider = gateway.provider(
        "a", failing(429, "rate_limit_exceeded", retry_after="7"), Reply(), connections=("one", "two")
    )
    answer = await gateway.ask()
    assert (answer.status, answer.headers["x-omniroute-connection"]) == (200, "two")
    assert len(provider.calls) == 2
    cooldown = gateway.registry.cooldowns["a", "one"]
    assert cooldown.until - cooldown.failed_at == timedelta(seconds=7)
    assert gateway.breaker("a").state is State.CLOSED
    assert gateway.breaker("a").failure_count == 0


async def test_a_short_hint_is_waited_out_once_on_the_same_target(gateway: Gateway) -> None:
    primary = gateway.provider("a", failing(429, "rate_limit_exceeded", retry_after="1"), Reply())
    second = gateway.provider("b")
    gateway.settings = GatewaySettings(wait_for_retry_after=3)
    assert (await gateway.ask()).served_by == "a"
    assert (len(primary.calls), len(second.calls)) == (2, 0)


async def test_only_cooldowns_in_the_way_is_429_with_the_soonest(gateway: Gateway) -> None:
    gateway.provider("a", failing(429, retry_after="40"))
    gateway.provider("b", failing(429, retry_after="20"))
    first = await gateway.ask()
    assert (first.status, first.error["code"]) == (429, "rate_limit_exceeded")
    second = await gateway.ask()
    assert (second.status, second.error["code"]) == (429, "all_targets_cooling")
    assert 1 <= int(second.headers["retry-after"]) <= 20
    assert second.headers["x-omniroute-attempts"] == "0"
    assert [line["reason"] for line in second.error["omniroute"]["targets"]] == ["cooling", "cooling"]
    assert gateway.records[-1].outcome == "refused"


async def test_a_short_cooldown_is_waited_for_where_that_is_allowed(gateway: Gateway) -> None:
    gateway.provider("a", failing(429, retry_after="1"), Reply())
    await gateway.ask()
    gateway.settings = GatewaySettings(max_cooldown_wait=2)
    answer = await gateway.ask()
    assert (answer.status, answer.served_by) == (200, "a")


async def test_all_timeouts_are_504(gateway: Gateway) -> None:
    gateway.provider("a", Reply(hangs=True), timeouts=Timeouts(response=0.05))
    gateway.provider("b", Reply(hangs=True), timeouts=Timeouts(response=0.05))
    answer = await gateway.ask()
    assert (answer.status, answer.error["code"]) == (504, "upstream_timeout")


async def test_too_long_for_every_target_is_the_code_that_clients_compact_on(gateway: Gateway) -> None:
    gateway.provider("a", failing(400, "context_length_exceeded", "maximum context length is 8192 tokens"))
    gateway.provider("b", failing(400, "context_length_exceeded", "maximum context length is 16384 tokens"))
    answer = await gateway.ask()
    assert (answer.status, answer.error["code"]) == (400, "context_length_exceeded")
    assert gateway.breaker("a").failure_count == 0


async def test_a_content_filter_goes_on_only_where_the_operator_says_so(gateway: Gateway) -> None:
    gateway.provider("a", failing(400, "content_filter", "filtered"))
    second = gateway.provider("b")
    answer = await gateway.ask()
    assert (answer.status, answer.error["code"], len(second.calls)) == (400, "content_filter", 0)
    gateway.settings = GatewaySettings(on_content_filter="fallback")
    assert (await gateway.ask()).served_by == "b"


async def test_an_open_circuit_on_a_direct_call_is_said_as_such(gateway: Gateway) -> None:
    gateway.provider("a", failing(500))
    for _ in range(5):
        await gateway.ask(chat(model="a/m"))
    answer = await gateway.ask(chat(model="a/m"))
    assert (answer.status, answer.error["code"]) == (503, "provider_circuit_open")
    assert 1 <= int(answer.headers["retry-after"]) <= 30


async def test_a_direct_call_may_name_a_model_with_slashes(gateway: Gateway) -> None:
    provider = gateway.provider("a")
    answer = await gateway.ask(chat(model="a/meta/llama-3"))
    assert answer.headers["x-omniroute-model"] == "meta/llama-3"
    assert provider.bodies()[0]["model"] == "meta/llama-3"


async def test_the_emergency_target_is_asked_once_with_capped_output(gateway: Gateway) -> None:
    gateway.provider("a", failing(503))
    last = gateway.provider("free", Reply(body=completion("from free")), in_chain=False)
    gateway.emergency("free", max_output_tokens=256)
    answer = await gateway.ask(chat(max_tokens=4000))
    assert (answer.status, answer.served_by) == (200, "free")
    assert answer.headers["x-omniroute-emergency"] == "true"
    assert last.bodies()[0]["max_tokens"] == 256
    assert gateway.records[0].emergency


async def test_a_failing_emergency_returns_the_original_error(gateway: Gateway) -> None:
    gateway.provider("a", Reply(hangs=True), timeouts=Timeouts(response=0.05))
    last = gateway.provider("free", failing(500), in_chain=False)
    gateway.emergency("free")
    answer = await gateway.ask()
    assert (answer.status, answer.error["code"]) == (504, "upstream_timeout")
    assert len(last.calls) == 1


async def test_no_emergency_for_tools_direct_calls_or_the_callers_mistake(gateway: Gateway) -> None:
    gateway.provider("a", failing(503))
    last = gateway.provider("free", in_chain=False)
    gateway.emergency("free")
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    assert (await gateway.ask(chat(tools=tools))).status == 502
    assert (await gateway.ask(chat(model="a/m"))).status == 502
    gateway.providers["a"].replies = [failing(400)]
    assert (await gateway.ask()).status == 400
    assert not last.calls


async def test_one_model_that_fails_alone_is_locked_alone(gateway: Gateway) -> None:
    gateway.provider("a", *[failing(500), Reply()] * 5, Reply())
    gateway.provider("b")
    gateway.entry("a", "other")
    for _ in range(5):
        await gateway.ask()
        assert (await gateway.ask(chat(model="a/other"))).status == 200
    answer = await gateway.ask()
    assert answer.served_by == "b"
    assert gateway.records[-1].targets[0]["reason"] == "locked"
    assert gateway.breaker("a").state is not State.OPEN
    assert (await gateway.ask(chat(model="a/other"))).served_by == "a"


async def test_a_full_connection_is_passed_over_and_not_blamed(gateway: Gateway) -> None:
    release = asyncio.Event()
    narrow = Connection("a", "main", "http://a.invalid/v1", api_key="k", max_concurrency=1)
    gateway.provider("a", Reply(gate=release), connections=[narrow])
    gateway.provider("b")
    waiting = gateway.begin()
    await gateway.providers["a"].called.wait()
    assert (await gateway.ask()).served_by == "b"
    assert gateway.records[0].targets[0]["reason"] == "concurrency"
    release.set()
    assert (await waiting.answer()).served_by == "a"
    assert (await gateway.ask()).served_by == "a"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_is_told_when_a_full_connection_is_worth_another_try(gateway: Gateway, stream: bool) -> None:
    release = asyncio.Event()
    narrow = Connection("a", "main", "http://a.invalid/v1", api_key="k", max_concurrency=1)
    gateway.provider("a", Reply(gate=release), connections=[narrow])
    gateway.provider("b", failing(429, retry_after="60"))
    assert (await gateway.ask(chat(model="b/m"))).status == 429
    waiting = gateway.begin()
    await gateway.providers["a"].called.wait()
    answer = await gateway.ask(chat(stream=stream))
    assert (answer.status, answer.error["code"]) == (503, "no_target_available")
    assert answer.headers["retry-after"] == "1"
    release.set()
    await waiting.answer()


async def test_a_hundred_requests_at_retry_at_make_one_probe(gateway: Gateway) -> None:
    probe = asyncio.Event()
    primary = gateway.provider("a", *[failing(500)] * 5, Reply(gate=probe))
    gateway.provider("b")
    for _ in range(5):
        await gateway.ask()
    # the moment comes: stored and in memory alike
    past = datetime.now(UTC) - timedelta(seconds=1)
    await sync_to_async(BreakerState.objects.filter(provider="a").update)(retry_at=past)
    gateway.registry.breakers["a"] = replace(gateway.registry.breakers["a"], retry_at=past)
    calls = [gateway.begin() for _ in range(100)]
    answers = await asyncio.gather(*(call.answer() for call in calls[1:]), return_exceptions=False)
    assert [answer.served_by for answer in answers] == ["b"] * 99
    refused = await gateway.ask(chat(model="a/m"))
    assert (refused.status, refused.headers["retry-after"]) == (503, "1")  # not when the probe's lease runs out
    probe.set()
    assert (await calls[0].answer()).served_by == "a"
    assert len(primary.calls) == 6
    assert gateway.breaker("a").state is State.CLOSED


async def test_a_reasoning_model_is_not_told_how_to_sample(gateway: Gateway) -> None:
    provider = gateway.provider("a")
    gateway.facts["a", "m"] = ModelFacts(reasoning=True)
    await gateway.ask(chat(max_tokens=50, temperature=0.2))
    [sent] = provider.bodies()
    assert sent["max_completion_tokens"] == 50
    assert not {"max_tokens", "temperature"} & sent.keys()


async def test_an_emergency_that_refuses_the_request_returns_the_original_error(gateway: Gateway) -> None:
    gateway.provider("a", failing(503))
    gateway.provider("free", failing(400, "invalid_value"), in_chain=False)
    gateway.emergency("free")
    answer = await gateway.ask()
    assert (answer.status, answer.error["code"]) == (502, "upstream_error")


async def test_a_request_our_translation_cannot_express_makes_no_call_and_gives_the_permit_back(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise invalid_request("not expressible", "n")

    provider = gateway.provider("a")
    monkeypatch.setattr("routing.dialects.chat.ChatCompletions.pair", refuse)
    answer = await gateway.ask()
    assert (answer.status, answer.headers["x-omniroute-attempts"]) == (400, "0")
    assert not provider.calls
    assert not gateway.registry._permits
