"""A stream that dies after its first content goes on by the next target, or ends in the error event."""

import json
from dataclasses import replace

import pytest

from resilience.core.state import State
from routing.table import ModelFacts, Timeouts

from .dying import (
    DIES,
    OTHER,
    SAME,
    STREAM,
    TEXT,
    is_blamed,
    is_interrupted,
)
from .harness import DONE, ROLE, Break, Gateway, Hang, Reply, chat, chunk, completion, event, failing
from .harness import streaming as stream_of


async def test_a_target_that_says_the_same_is_heard_from_where_the_first_one_died(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    second = gateway.provider("b", SAME)
    answer = await gateway.ask(STREAM)
    assert (answer.text, answer.events[-1], answer.complete) == (TEXT, b"[DONE]", True)
    assert second.bodies() == gateway.providers["a"].bodies()
    assert (gateway.breaker("a").failure_count, is_blamed(gateway, "b")) == (1, False)
    [record] = gateway.records
    assert (record.outcome, record.provider, record.attempts, record.fallback) == ("rescued", "b", 2, True)
    first, then = record.targets
    assert (first["decision"], first["reason"], then["decision"], then["rescue"]) == (
        "failed", "transient", "answered", "replay",
    )  # fmt: skip
    assert first["started"] <= first["first_token"] <= then["started"] <= then["first_token"] <= then["ended"]


async def test_the_client_sees_one_stream(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    foreign = [
        json.loads(one[6:]) | {"id": "other", "model": "n", "created": 2} for one in SAME.stream or () if one != DONE
    ]
    gateway.provider("b", stream_of(*map(event, foreign), DONE))
    chunks = (await gateway.ask(STREAM)).events[:-1]
    assert {(one["id"], one["model"], one["created"]) for one in chunks} == {("c", "m", 1)}
    assert [one["choices"][0]["delta"].get("role") for one in chunks].count("assistant") == 1
    assert [one["choices"][0]["finish_reason"] for one in chunks if one["choices"][0]["finish_reason"]] == ["stop"]


async def test_a_target_that_says_something_else_is_left_without_blame(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    gateway.provider("b", OTHER, retries=3)
    assert is_interrupted(await gateway.ask(STREAM))
    assert (len(gateway.providers["b"].calls), gateway.providers["b"].closed) == (1, 1)
    assert (is_blamed(gateway, "b"), gateway.permits) == (False, 0)
    [record] = gateway.records
    assert (record.outcome, record.code, record.provider) == ("interrupted", "stream_interrupted", "")
    assert (record.targets[1]["decision"], record.targets[1]["reason"]) == ("released", "local")


@pytest.mark.parametrize("stops_short", [(ROLE, chunk("Hello "), chunk(finish="stop"), DONE), (chunk("Hello "), DONE)])
async def test_a_shorter_answer_is_something_else(gateway: Gateway, stops_short: tuple[bytes, ...]) -> None:
    gateway.provider("a", DIES)
    gateway.provider("b", stream_of(*stops_short))
    assert is_interrupted(await gateway.ask(STREAM))
    assert not is_blamed(gateway, "b")


async def test_the_target_after_one_that_says_something_else_is_asked(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    gateway.provider("b", OTHER)
    gateway.provider("c", failing(503))
    gateway.provider("d", SAME)
    answer = await gateway.ask(STREAM)
    assert (answer.text, answer.events[-1], gateway.records[0].provider) == (TEXT, b"[DONE]", "d")
    assert gateway.breaker("c").failure_count == 1


async def test_no_more_calls_than_allowed(gateway: Gateway) -> None:
    gateway.settings = replace(gateway.settings, max_attempts=2)
    gateway.provider("a", DIES)
    gateway.provider("b", OTHER)
    gateway.provider("c", SAME)
    assert is_interrupted(await gateway.ask(STREAM))
    assert not gateway.providers["c"].calls


async def test_the_one_that_goes_on_may_die_too(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    gateway.provider("b", stream_of(ROLE, chunk("Hello world, h"), Break()))
    gateway.provider("c", SAME)
    assert (await gateway.ask(STREAM)).text == TEXT
    assert (gateway.breaker("a").failure_count, gateway.breaker("b").failure_count) == (1, 1)


async def test_the_one_that_goes_on_may_fail_at_first_and_be_asked_again(gateway: Gateway) -> None:
    gateway.provider("a", DIES, retries=3)
    gateway.provider("b", failing(503), stream_of(ROLE, chunk("Hello "), Break()), SAME, retries=3)
    assert (await gateway.ask(STREAM)).text == TEXT
    assert (len(gateway.providers["a"].calls), len(gateway.providers["b"].calls)) == (1, 3)


async def test_a_provider_with_rescue_off_is_not_continued_but_may_continue(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    gateway.provider("b", stream_of(ROLE, chunk("Hello world, h"), Break()), stream_rescue="off")
    gateway.provider("c", SAME)
    assert is_interrupted(await gateway.ask(STREAM), "Hello world, h")
    assert not gateway.providers["c"].calls


CALL = chunk(tool_calls=[{"index": 0, "id": "x", "type": "function", "function": {"name": "f", "arguments": "{"}}])


@pytest.mark.parametrize("more", [CALL, chunk(reasoning_content="hm"), chunk(refusal="no"), chunk(audio={"id": "x"})])
async def test_an_answer_of_more_than_text_is_not_continued(gateway: Gateway, more: bytes) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hello wor"), more, Break()))
    gateway.provider("b", SAME)
    assert is_interrupted(await gateway.ask(STREAM))
    assert not gateway.providers["b"].calls


async def test_two_choices_are_not_continued(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    gateway.provider("b", SAME)
    assert is_interrupted(await gateway.ask(chat(stream=True, n=2)))
    assert not gateway.providers["b"].calls


async def test_a_content_filter_in_the_middle_is_the_last_word(gateway: Gateway) -> None:
    filtered = event({"error": {"message": "no", "code": "content_filter", "type": "invalid_request_error"}})
    gateway.provider("a", stream_of(ROLE, chunk("Hello wor"), filtered))
    gateway.provider("b", SAME)
    assert is_interrupted(await gateway.ask(STREAM))
    assert not gateway.providers["b"].calls


async def test_a_silent_stream_and_one_that_says_that_it_failed_are_continued_too(gateway: Gateway) -> None:
    overloaded = event({"error": {"message": "busy", "type": "overloaded_error", "code": 529}})
    gateway.provider("a", stream_of(ROLE, chunk("Hel"), Hang()), timeouts=Timeouts(idle=0.05))
    gateway.provider("b", stream_of(ROLE + chunk("Hello") + overloaded))
    gateway.provider("c", SAME)
    assert (await gateway.ask(STREAM)).text == TEXT
    assert gateway.breaker("a").last_failure_kind == "timeout"
    assert gateway.breaker("b").failure_count == 1


async def test_thoughts_of_the_one_that_goes_on_are_not_shown_and_its_tool_calls_are(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    thought = chunk(reasoning_content="hm")
    gateway.provider(
        "b", stream_of(ROLE, thought, chunk("Hello world"), thought, CALL, chunk(finish="tool_calls"), DONE)
    )
    answer = await gateway.ask(STREAM)
    assert answer.text == "Hello world"
    assert b"hm" not in answer.body
    assert answer.events[-3]["choices"][0]["delta"]["tool_calls"][0]["function"]["name"] == "f"


async def test_an_unstreamed_answer_is_compared_as_a_whole(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    gateway.provider("b", Reply(body=completion("no")))
    gateway.provider("c", Reply(body=completion(TEXT)))
    answer = await gateway.ask(STREAM)
    assert (answer.text, answer.events[-1]) == (TEXT, b"[DONE]")
    assert not is_blamed(gateway, "b")


async def test_a_request_that_a_target_cannot_be_sent_goes_to_the_one_after_it(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    gateway.provider("b", SAME, format="anthropic")
    gateway.provider("c", SAME)
    assert (await gateway.ask(chat(stream=True, logit_bias={"5": 1}))).text == TEXT
    assert not gateway.providers["b"].calls
    assert gateway.permits == 0


async def test_usage_is_what_all_counted_and_each_attempt_has_its_own(gateway: Gateway) -> None:
    def usage(prompt: int, output: int) -> bytes:
        return event({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": output}})

    gateway.provider("a", stream_of(ROLE, chunk("Hello wor"), usage(9, 2), Break()))
    gateway.provider("b", stream_of(*[one for one in SAME.stream or () if one != DONE], usage(10, 5), DONE))
    gateway.facts = {
        ("a", "m"): ModelFacts(input_price=1, output_price=1),
        ("b", "m"): ModelFacts(input_price=2, output_price=2),
    }
    assert b"prompt_tokens" not in (await gateway.ask(STREAM)).body.partition(b"world")[2]
    answer = await gateway.ask(chat(stream=True, stream_options={"include_usage": True}))
    last = answer.events[-2]
    assert (last["choices"], last["usage"]) == (
        [], {"prompt_tokens": 19, "completion_tokens": 7, "total_tokens": 26},
    )  # fmt: skip
    record = gateway.records[1]
    assert (record.input_tokens, record.output_tokens) == (19, 7)
    assert [(line["usage"]["input_tokens"], line["usage"]["output_tokens"]) for line in record.targets] == [
        (9, 2),
        (10, 5),
    ]
    assert float(record.cost) == pytest.approx((11 * 1 + 15 * 2) / 1e6)


async def test_the_emergency_target_continues_nothing(gateway: Gateway) -> None:
    """Nobody could be told: the headers, which mark its answers, are long gone."""
    gateway.provider("a", DIES)
    gateway.provider("b", OTHER)
    free = gateway.provider("free", SAME, in_chain=False)
    gateway.emergency("free")
    assert is_interrupted(await gateway.ask(STREAM))
    assert not free.calls


async def test_a_client_that_leaves_meanwhile_stops_everything(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    second = gateway.provider("b", stream_of(ROLE, chunk("Hello "), Hang()))
    third = gateway.provider("c", SAME)
    call = gateway.begin(STREAM)
    await second.called.wait()
    call.hang_up()
    await call.answer()
    assert (second.closed, len(third.calls), gateway.permits) == (1, 0, 0)
    assert gateway.records[0].outcome == "client_closed"
    assert not is_blamed(gateway, "b")


async def test_the_one_that_goes_on_has_its_own_deadlines(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    gateway.provider("b", stream_of(ROLE, Hang()), timeouts=Timeouts(first_token=0.05, idle=60))
    gateway.provider("c", stream_of(ROLE, chunk("Hel"), Hang()), timeouts=Timeouts(first_token=60, idle=0.05))
    gateway.provider("d", SAME)
    assert (await gateway.ask(STREAM)).text == TEXT
    messages = [line["message"] for line in gateway.records[0].targets[1:3]]
    assert messages == ["no first token in time", "no data in the stream in time"]


async def test_an_open_target_is_skipped_as_ever(gateway: Gateway) -> None:
    gateway.provider("a", DIES)
    gateway.provider("b", *[failing(500)] * 5)
    gateway.provider("c", SAME)
    for _ in range(5):
        gateway.providers["a"].calls.clear()
        assert (await gateway.ask(STREAM)).text == TEXT
        gateway.registry.breakers.pop("a", None)
    assert gateway.breaker("b").state is State.OPEN
    await gateway.ask(STREAM)
    assert gateway.records[-1].targets[1]["reason"] == "breaker_open"
    assert gateway.records[-1].outcome == "rescued"


async def test_another_connection_of_the_same_provider_rescues_too(gateway: Gateway) -> None:
    gateway.provider("a", DIES, SAME, connections=("one", "two"))
    assert (await gateway.ask(STREAM)).text == TEXT
    assert (gateway.records[0].outcome, gateway.records[0].fallback) == ("rescued", False)


async def test_the_last_target_is_not_continued(gateway: Gateway) -> None:
    gateway.provider("a", DIES, SAME, retries=2)
    assert is_interrupted(await gateway.ask(STREAM))
    assert len(gateway.providers["a"].calls) == 1
