"""Streams: hold-back, deadlines, ends, and clients that leave."""

import pytest

from resilience.core.state import State
from routing import streaming
from routing.table import Timeouts

from .harness import DONE, HELLO, ROLE, Break, Gateway, Hang, Reply, chat, chunk, completion, event, failing
from .harness import streaming as stream_of

STREAM = chat(stream=True)


async def test_a_stream_is_relayed_and_ended(gateway: Gateway) -> None:
    provider = gateway.provider("a", stream_of())
    answer = await gateway.ask(STREAM)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert (answer.text, answer.events[-1], answer.complete) == ("Hello", b"[DONE]", True)
    assert provider.bodies()[0]["stream_options"] == {"include_usage": True}
    assert gateway.records[0].outcome == "answered"
    assert gateway.records[0].first_token is not None


async def test_a_failure_before_the_first_content_is_invisible(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE, Break()))
    gateway.provider("b", stream_of())
    answer = await gateway.ask(STREAM)
    assert (answer.served_by, answer.text) == ("b", "Hello")
    assert gateway.breaker("a").failure_count == 1


async def test_an_error_event_before_the_first_content_is_invisible(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE, event({"error": {"message": "overloaded", "type": "server_error"}})))
    gateway.provider("b", stream_of())
    assert (await gateway.ask(STREAM)).served_by == "b"


async def test_silence_before_the_first_token_moves_on(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(b": ping\n\n", ROLE, Hang()), timeouts=Timeouts(first_token=0.05))
    gateway.provider("b", stream_of())
    assert (await gateway.ask(STREAM)).served_by == "b"
    assert gateway.breaker("a").last_failure_kind == "timeout"
    assert gateway.providers["a"].closed == 1


async def test_a_break_after_content_is_an_error_event_and_no_done(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hel"), chunk("lo"), Break()), stream_rescue="off")
    second = gateway.provider("b", stream_of())
    answer = await gateway.ask(STREAM)
    assert (answer.status, answer.served_by, answer.text) == (200, "a", "Hello")
    assert answer.events[-1]["error"]["code"] == "stream_interrupted"
    assert b"[DONE]" not in answer.body
    assert answer.complete
    assert not second.calls
    assert gateway.breaker("a").failure_count == 1
    assert gateway.records[0].outcome == "interrupted"


async def test_an_end_without_a_finish_reason_is_a_truncation(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hel")))
    answer = await gateway.ask(STREAM)
    assert answer.events[-1]["error"]["code"] == "stream_interrupted"
    assert gateway.breaker("a").last_failure_kind == "transient"


async def test_silence_after_content_ends_at_the_idle_deadline(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hel"), Hang()), timeouts=Timeouts(idle=0.05))
    answer = await gateway.ask(STREAM)
    assert answer.events[-1]["error"]["code"] == "stream_interrupted"
    assert gateway.breaker("a").last_failure_kind == "timeout"
    assert gateway.providers["a"].closed == 1


async def test_comments_do_not_keep_a_silent_stream_alive(gateway: Gateway) -> None:
    silence = [ROLE, chunk("Hel"), *[b": keep-alive\n\n"] * 3, Hang()]
    gateway.provider("a", stream_of(*silence), timeouts=Timeouts(idle=0.05))
    answer = await gateway.ask(STREAM)
    assert answer.events[-1]["error"]["code"] == "stream_interrupted"
    assert b"keep-alive" not in answer.body


async def test_done_ends_the_stream_though_the_socket_stays_open(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(*HELLO, Hang()))
    answer = await gateway.ask(STREAM)
    assert (answer.text, answer.events[-1]) == ("Hello", b"[DONE]")


async def test_a_missing_done_is_supplied(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hello"), chunk(finish="stop")))
    answer = await gateway.ask(STREAM)
    assert answer.events[-1] == b"[DONE]"
    assert gateway.breaker("a").failure_count == 0


async def test_a_finished_stream_that_hangs_is_ended_for_the_client(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "TRAILING", 0.01)
    gateway.provider("a", stream_of(ROLE, chunk("Hello"), chunk(finish="stop"), Hang()))
    answer = await gateway.ask(STREAM)
    assert answer.events[-1] == b"[DONE]"
    assert gateway.records[0].outcome == "answered"


async def test_two_choices_end_only_when_both_have(gateway: Gateway) -> None:
    gateway.provider(
        "a", stream_of(chunk("A"), chunk("B", index=1), chunk(finish="stop"), chunk(finish="length", index=1))
    )
    answer = await gateway.ask(chat(stream=True, n=2))
    assert answer.events[-1] == b"[DONE]"
    gateway.providers["a"].replies = [stream_of(chunk("A"), chunk("B", index=1), chunk(finish="stop"))]
    assert (await gateway.ask(chat(stream=True, n=2))).events[-1]["error"]["code"] == "stream_interrupted"


async def test_usage_reaches_only_the_client_that_asked(gateway: Gateway) -> None:
    usage = event({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}})
    gateway.provider("a", stream_of(*HELLO[:-1], usage, DONE))
    assert b"prompt_tokens" not in (await gateway.ask(STREAM)).body
    asked = await gateway.ask(chat(stream=True, stream_options={"include_usage": True}))
    assert asked.body.count(b"prompt_tokens") == 1
    assert gateway.records[0].input_tokens == gateway.records[1].input_tokens == 5


async def test_only_done_is_no_answer(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(DONE))
    gateway.provider("b", stream_of())
    assert (await gateway.ask(STREAM)).served_by == "b"


async def test_an_undecodable_event_is_dropped_and_the_stream_goes_on(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hel"), b"data: {broken\n\n", *HELLO[2:]))
    answer = await gateway.ask(STREAM)
    assert answer.text == "Hello"
    assert b"broken" not in answer.body


async def test_a_whole_chain_that_fails_before_content_is_a_real_status(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE))
    gateway.provider("b", failing(503))
    answer = await gateway.ask(STREAM)
    assert (answer.status, answer.error["code"]) == (502, "upstream_error")
    assert answer.headers["content-type"] == "application/json"


async def test_an_unstreamed_answer_to_a_stream_request_is_given_as_a_stream(gateway: Gateway) -> None:
    gateway.provider("a", Reply(body=completion("whole")))
    answer = await gateway.ask(STREAM)
    assert (answer.text, answer.events[-1]) == ("whole", b"[DONE]")


async def test_an_unstreamed_answer_that_cannot_be_told_as_a_stream_is_a_failure(gateway: Gateway) -> None:
    broken = completion("hi")
    broken["choices"][0]["message"]["tool_calls"] = ["f"]
    gateway.provider("a", Reply(body=broken))
    gateway.provider("b")
    answer = await gateway.ask(STREAM)
    assert (answer.status, answer.served_by) == (200, "b")


async def test_success_is_settled_at_the_end_of_the_stream_not_at_its_headers(gateway: Gateway) -> None:
    broken = stream_of(ROLE, chunk("Hel"), Break())
    gateway.provider("a", *[broken] * 5)
    for _ in range(5):
        await gateway.ask(STREAM)
    assert gateway.breaker("a").state is State.OPEN


async def test_a_client_that_leaves_mid_stream_costs_the_provider_nothing(gateway: Gateway) -> None:
    gateway.provider("a", stream_of(ROLE, chunk("Hel"), Hang()))
    call = gateway.begin(STREAM)
    await call.wait_for(b"Hel")
    call.hang_up()
    await call.answer()
    assert gateway.providers["a"].closed == 1
    assert gateway.breaker("a") is None or gateway.breaker("a").failure_count == 0
    assert gateway.records[0].outcome == "client_closed"
    assert gateway.records[0].targets[0]["decision"] == "released"


async def test_a_client_that_leaves_before_the_first_byte_stops_the_walk(gateway: Gateway) -> None:
    gateway.provider("a", Reply(hangs=True))
    second = gateway.provider("b")
    call = gateway.begin()
    await gateway.providers["a"].called.wait()
    call.hang_up()
    await call.answer()
    assert not second.calls
    assert gateway.records[0].outcome == "client_closed"
    assert gateway.records[0].status == 499


async def test_content_and_an_error_in_one_piece_are_content_and_an_error(gateway: Gateway) -> None:
    error = event({"error": {"message": "overloaded", "type": "server_error"}})
    gateway.provider("a", stream_of(ROLE + chunk("Hello") + error), stream_rescue="off")
    second = gateway.provider("b", stream_of())
    answer = await gateway.ask(STREAM)
    assert (answer.served_by, answer.text) == ("a", "Hello")
    assert answer.events[-1]["error"]["code"] == "stream_interrupted"
    assert not second.calls
