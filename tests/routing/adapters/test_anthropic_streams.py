"""Anthropic's events as chat completion chunks."""

from typing import Any

import pytest
from openai.types.chat import ChatCompletionChunk

from resilience.core.kinds import Kind
from tests.routing.adapters.exchanges import Json, events, exchange, fed, hear, streamed

START: Json = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [],
        "usage": {"input_tokens": 25, "cache_read_input_tokens": 5, "output_tokens": 1},
    },
}
PING: Json = {"type": "ping"}
STOP: Json = {"type": "message_stop"}
OVERLOADED: Json = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def block(index: int, kind: str, **members: Any) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **members}}


def delta(index: int, kind: str, **members: Any) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **members}}


def close(index: int) -> Json:
    return {"type": "content_block_stop", "index": index}


def end(reason: str | None = "end_turn", **usage: int) -> Json:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 15, **usage},
    }


HELLO = (
    START,
    block(0, "text", text=""),
    PING,
    delta(0, "text_delta", text="Hel"),
    delta(0, "text_delta", text="lo"),
    close(0),
    end(),
    STOP,
)


def test_words_come_as_chunks_that_belong_together() -> None:
    heard = streamed("anthropic", *HELLO)
    assert heard.done
    assert heard.deltas == [{"role": "assistant", "content": ""}, {"content": "Hel"}, {"content": "lo"}, {}]
    assert heard.finish_reasons == [(0, "stop")]
    assert {(chunk["id"], chunk["model"], chunk["object"]) for chunk in heard.chunks} == {
        ("msg_1", "claude-x", "chat.completion.chunk")
    }
    assert len({chunk["created"] for chunk in heard.chunks}) == 1
    for chunk in heard.chunks:
        ChatCompletionChunk.model_validate(chunk)


def test_event_lines_are_not_needed() -> None:
    asked = exchange("anthropic", stream=True)
    assert hear(fed(asked, events(*HELLO, named=False))).text() == "Hello"
    assert asked.finished
    assert asked.closed


def test_tools_are_counted_and_their_arguments_come_once() -> None:
    heard = streamed(
        "anthropic",
        START,
        block(0, "text", text=""),
        delta(0, "text_delta", text="Let me look."),
        close(0),
        block(1, "tool_use", id="toolu_A", name="ls", input={}),
        delta(1, "input_json_delta", partial_json=""),
        delta(1, "input_json_delta", partial_json='{"path": "/a'),
        delta(1, "input_json_delta", partial_json='"}'),
        close(1),
        block(2, "tool_use", id="toolu_B", name="cat", input={}),
        delta(2, "input_json_delta", partial_json='{"f":1}'),
        close(2),
        end("tool_use"),
        STOP,
    )
    assert heard.text() == "Let me look."
    assert heard.tool_calls == [
        {"id": "toolu_A", "name": "ls", "arguments": '{"path": "/a"}'},
        {"id": "toolu_B", "name": "cat", "arguments": '{"f":1}'},
    ]
    assert heard.finish_reasons == [(0, "tool_calls")]


def test_arguments_that_come_with_the_start_or_not_at_all_are_an_object_all_the_same() -> None:
    heard = streamed(
        "anthropic",
        START,
        block(0, "tool_use", id="a", name="ls", input={"path": "/a"}),
        close(0),
        block(1, "tool_use", id="b", name="clock", input={}),
        close(1),
        block(2, "tool_use", id="c", name="clock"),  # never closed
        end("tool_use"),
        STOP,
    )
    assert [one["arguments"] for one in heard.tool_calls] == ['{"path":"/a"}', "{}", "{}"]


def test_what_anthropic_s_own_tools_do_stays_there() -> None:
    heard = streamed(
        "anthropic",
        START,
        block(0, "server_tool_use", id="s", name="web_search", input={}),
        delta(0, "input_json_delta", partial_json='{"q":1}'),
        close(0),
        block(1, "web_search_tool_result", tool_use_id="s", content=[]),
        close(1),
        block(2, "text", text=""),
        delta(2, "text_delta", text="found"),
        delta(2, "citations_delta", citation={}),
        end(),
        STOP,
    )
    assert heard.tool_calls == []
    assert heard.text() == "found"
    assert heard.finish_reasons == [(0, "stop")]


def test_thoughts_are_reasoning_content() -> None:
    heard = streamed(
        "anthropic",
        START,
        block(0, "thinking", thinking=""),
        delta(0, "thinking_delta", thinking="h"),
        delta(0, "thinking_delta", thinking="m"),
        delta(0, "signature_delta", signature="s"),
        close(0),
        block(1, "text", text="hi"),
        end(),
        STOP,
    )
    assert heard.text(member="reasoning_content") == "hm"
    assert heard.text() == "hi"


def test_thoughts_end_the_hold_back() -> None:
    asked = exchange("anthropic", stream=True)
    fed(asked, events(START, PING, block(0, "thinking", thinking="")))
    assert not asked.has_content
    fed(asked, events(delta(0, "thinking_delta", thinking="hm")))
    assert asked.has_content


def test_usage_is_counted_always_and_told_to_the_client_that_asked() -> None:
    asked = exchange("anthropic", stream=True)
    raw = fed(asked, events(*HELLO))
    assert (asked.usage.input_tokens, asked.usage.cached_tokens, asked.usage.output_tokens) == (30, 5, 15)
    assert b"usage" not in raw + asked.end()

    heard = streamed("anthropic", *HELLO, stream_options={"include_usage": True})
    assert [chunk["usage"] for chunk in heard.chunks[:-1]] == [None] * 4
    assert heard.chunks[-1]["choices"] == []
    assert heard.chunks[-1]["usage"] == {
        "prompt_tokens": 30,
        "completion_tokens": 15,
        "total_tokens": 45,
        "prompt_tokens_details": {"cached_tokens": 5},
    }


def test_counts_at_the_end_replace_those_of_the_beginning() -> None:
    asked = exchange("anthropic", stream=True)
    fed(asked, events(START, block(0, "text", text="hi"), end(input_tokens=40, cache_read_input_tokens=0), STOP))
    assert (asked.usage.input_tokens, asked.usage.cached_tokens) == (40, 0)


@pytest.mark.parametrize("before", [(), (START, PING)])
def test_an_error_before_any_content_is_the_attempt_s_failure(before: tuple[Json, ...]) -> None:
    asked = exchange("anthropic", stream=True)
    fed(asked, events(*before, OVERLOADED))
    assert asked.error is not None
    assert asked.error.kind is Kind.OVERLOADED
    assert not asked.has_content


def test_an_error_after_content_leaves_no_finish_reason() -> None:
    asked = exchange("anthropic", stream=True)
    heard = hear(fed(asked, events(*HELLO[:5], OVERLOADED)))
    assert heard.text() == "Hello"
    assert heard.finish_reasons == []
    assert asked.error is not None
    assert not asked.finished


def test_an_end_without_content_is_proper() -> None:
    heard = streamed("anthropic", START, end(), STOP)
    assert heard.finish_reasons == [(0, "stop")]
    assert heard.done


def test_a_refusal_before_any_content_is_a_content_filter() -> None:
    asked = exchange("anthropic", stream=True)
    fed(asked, events(START, end("refusal")))
    assert asked.error is not None
    assert asked.error.kind is Kind.CONTENT_FILTER
    assert not asked.finished


def test_a_refusal_after_content_is_a_finish_reason() -> None:
    assert streamed("anthropic", *HELLO[:5], end("refusal"), STOP).finish_reasons == [(0, "content_filter")]


def test_a_stream_without_its_beginning_begins_with_a_role_all_the_same() -> None:
    heard = streamed("anthropic", *HELLO[1:])
    assert heard.deltas[0] == {"role": "assistant", "content": ""}
    assert heard.chunks[0]["model"] == "claude-sonnet-4-5"
    assert len({chunk["id"] for chunk in heard.chunks}) == 1


def test_the_last_event_finishes_what_no_event_before_it_did() -> None:
    asked = exchange("anthropic", stream=True)
    heard = hear(fed(asked, events(*HELLO[:6], STOP)))
    assert heard.finish_reasons == [(0, "stop")]
    assert asked.finished


def test_a_last_event_alone_is_no_answer() -> None:
    asked = exchange("anthropic", stream=True)
    fed(asked, events(START, STOP))
    assert asked.closed
    assert not asked.finished


def test_what_cannot_be_decoded_is_dropped_and_counted() -> None:
    asked = exchange("anthropic", stream=True)
    broken = [
        b"data: {nope\n\n",
        b"data: [1]\n\n",
        b'data: {"type":"content_block_delta","index":0}\n\n',
        b'data: {"type":"content_block_start","index":0,"content_block":null}\n\n',
        b"data: [DONE]\n\n",
        b": a comment\n\n",
        b"event: ping\n\n",
    ]
    raw = fed(asked, [*broken, events(*HELLO)])
    assert hear(raw).text() == "Hello"
    assert asked.dropped == 4


def test_events_may_be_cut_anywhere() -> None:
    whole = events(*HELLO).replace(b"Hel", "Hé ".encode())
    asked = exchange("anthropic", stream=True)
    raw = fed(asked, [whole[position : position + 1] for position in range(len(whole))])
    assert hear(raw).text() == "Hé lo"


def test_any_text_survives() -> None:
    said = 'line\nbreak "quoted" \u2028 \U0001f680'
    heard = streamed("anthropic", START, block(0, "text", text=""), delta(0, "text_delta", text=said), end(), STOP)
    assert heard.text() == said
