"""Chat completions as Anthropic clients get them, whole and streamed: the same message, valid to their SDK."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from anthropic.lib.streaming._messages import accumulate_event  # what its `messages.stream` puts events together with
from anthropic.types import Message, RawMessageStreamEvent
from pydantic import TypeAdapter

from resilience.core.outcome import Failure
from routing.adapters.base import Answer
from routing.adapters.composed import TANGLED
from routing.sse import EventReader
from tests.routing.adapters.conversations import Json, call
from tests.routing.adapters.exchanges import MESSAGES, events, exchange, fed
from tests.routing.adapters.test_openai import chunk

EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
THINKING: Json = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
USAGE: Json = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
COUNTED: Json = {
    "input_tokens": 9,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 3,
}


def completion(finish: str | None, usage: Json = USAGE, **message: Any) -> Json:
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        "choices": [choice],
        "usage": usage,
    }


def text(value: str) -> Json:
    return {"type": "text", "text": value}


def thought(value: str) -> Json:
    return {"type": "thinking", "thinking": value, "signature": "omniroute"}


def use(call_id: str, name: str, arguments: Json) -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


TWO_CALLS = [call("call_1", "clock", "{}"), call("call_2", "get_weather", '{"city":"Oslo"}')]
TWO_USES = [use("call_1", "clock", {}), use("call_2", "get_weather", {"city": "Oslo"})]
CACHED = {**USAGE, "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2}}

# a completion: content and stop reason of the message, and its usage where it is not COUNTED
GOLDENS: dict[str, tuple[Json, list[Json], str, Json]] = {
    "text": (completion("stop", content="hello"), [text("hello")], "end_turn", {}),
    "text cut short": (completion("length", content="hel"), [text("hel")], "max_tokens", {}),
    "parallel calls": (completion("tool_calls", tool_calls=TWO_CALLS), TWO_USES, "tool_use", {}),
    "text before a call": (
        completion("tool_calls", content="wait", tool_calls=TWO_CALLS[:1]),
        [text("wait"), TWO_USES[0]],
        "tool_use",
        {},
    ),
    "a call that ends with stop": (completion("stop", tool_calls=TWO_CALLS[:1]), TWO_USES[:1], "tool_use", {}),
    "a call whose id Anthropic would not take": (
        completion("tool_calls", tool_calls=[call("call:1", "clock", "{}")]),
        [use("toolu_0af6315558b41599b4a0fbfa", "clock", {})],
        "tool_use",
        {},
    ),
    "thoughts": (
        completion("stop", content="hello", reasoning_content="hm"),
        [thought("hm"), text("hello")],
        "end_turn",
        {},
    ),
    "a refusal": (completion("stop", refusal="I will not"), [text("I will not")], "end_turn", {}),
    "a filtered answer": (completion("content_filter", content="he"), [text("he")], "refusal", {}),
    "tokens from the cache": (
        completion("stop", CACHED, content="hello"),
        [text("hello")],
        "end_turn",
        {"input_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2},
    ),
}


def chunks(whole: Json, *, size: int = 4) -> list[Json]:
    """A completion as a stream of small pieces."""
    head = {name: whole[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    [chosen] = whole["choices"]
    said = chosen["message"]
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    for member in ("reasoning_content", "content", "refusal"):
        value = said.get(member) or ""
        deltas += [{member: value[place : place + size]} for place in range(0, len(value), size)]
    for index, one in enumerate(said.get("tool_calls") or ()):
        arguments = one["function"]["arguments"]
        deltas.append({"tool_calls": [{**one, "index": index, "function": {**one["function"], "arguments": ""}}]})
        for place in range(0, len(arguments), size):
            piece = {"arguments": arguments[place : place + size]}
            deltas.append({"tool_calls": [{"index": index, "function": piece}]})
    documents = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    documents.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": chosen["finish_reason"]}]})
    return [*documents, {**head, "choices": [], "usage": whole["usage"]}]


def assembled(raw: bytes) -> Json:
    """The message that events make, each of them valid and named as its type."""
    message: Any = None
    buffers: dict[int, Any] = {}  # its own, for arguments in pieces
    for event in EventReader().feed(raw):
        assert event.data is not None
        document = json.loads(event.data)
        assert event.raw.startswith(f"event: {document['type']}\n".encode())
        checked = EVENT.validate_python(document)
        if checked.type != "message_stop":
            message = accumulate_event(event=checked, current_snapshot=message, json_bufs=buffers)
    document = json.loads(message.to_json())
    for block in document["content"]:
        block.pop("parsed_output", None)
    return document  # type: ignore[no-any-return]


def check_whole(message: Json, content: list[Json], reason: str, usage: Mapping[str, Any]) -> None:
    assert message["content"] == content
    assert message["stop_reason"] == reason
    assert {name: message["usage"][name] for name in COUNTED} == {**COUNTED, **usage}
    assert (message["id"], message["role"], message["model"]) == ("msg_chatcmpl-1", "assistant", "gpt-4o")


@pytest.mark.parametrize("name", GOLDENS)
def test_a_whole_answer(name: str) -> None:
    given, content, reason, usage = GOLDENS[name]
    asked = exchange("openai", dialect=MESSAGES, **THINKING)
    asked.request()
    answer = asked.unary(json.dumps(given).encode(), {})
    assert isinstance(answer, Answer), answer
    Message.model_validate_json(answer.body)
    check_whole(json.loads(answer.body), content, reason, usage)


@pytest.mark.parametrize("name", GOLDENS)
def test_a_stream_tells_the_same(name: str) -> None:
    given, content, reason, usage = GOLDENS[name]
    asked = exchange("openai", dialect=MESSAGES, stream=True, **THINKING)
    asked.request()
    raw = fed(asked, events(*chunks(given), named=False))
    assert asked.finished
    assert asked.has_content
    check_whole(assembled(raw + asked.end()), content, reason, usage)


@pytest.mark.parametrize("name", GOLDENS)
def test_a_whole_answer_to_a_stream_tells_the_same(name: str) -> None:
    given, content, reason, usage = GOLDENS[name]
    asked = exchange("openai", dialect=MESSAGES, stream=True, **THINKING)
    asked.request()
    answer = asked.unary(json.dumps(given).encode(), {})
    assert isinstance(answer, Answer)
    asked.usage = answer.usage  # as the engine does
    check_whole(assembled(asked.replay(answer)), content, reason, usage)


@pytest.mark.parametrize(
    ("told", "reason", "sequence"),
    [
        ({"stop_reason": "END"}, "stop_sequence", "END"),  # vLLM
        ({"matched_stop": "END"}, "stop_sequence", "END"),  # SGLang
        ({"stop_reason": "</s>"}, "end_turn", None),  # none of the client's
        ({"stop_reason": 128009}, "end_turn", None),
        ({}, "end_turn", None),
    ],
)
def test_the_stop_sequence_is_told_where_the_provider_tells_it(told: Json, reason: str, sequence: str | None) -> None:
    wanted: Json = {"dialect": MESSAGES, "stop_sequences": ["STOP", "END"]}
    given = completion("stop", content="hello")
    given["choices"][0] |= told
    whole = exchange("openai", **wanted)
    whole.request()
    answer = whole.unary(json.dumps(given).encode(), {})
    assert isinstance(answer, Answer)
    streamed = exchange("openai", stream=True, **wanted)
    streamed.request()
    *pieces, last, counted = chunks(given)
    last["choices"][0] |= told
    raw = fed(streamed, events(*pieces, last, counted, named=False))
    for message in (json.loads(answer.body), assembled(raw + streamed.end())):
        assert (message["stop_reason"], message["stop_sequence"]) == (reason, sequence)


@pytest.mark.parametrize(
    "order",
    [
        (0, 1, 2, 3, 4, 5),  # one after the other
        (0, 3, 1, 4, 2, 5),  # by turns
        (0, 3, 4, 5, 1, 2),  # the second is complete before the first
        (3, 0, 1, 2, 4, 5),
    ],
)
def test_parallel_calls_may_be_streamed_by_turns(order: tuple[int, ...]) -> None:
    def pieces(index: int, city: str) -> list[Json]:
        opening = {"index": index, "id": f"call_{index}", "function": {"name": "get_weather", "arguments": ""}}
        said = ({"index": index, "function": {"arguments": piece}} for piece in ('{"city":', f'"{city}"}}'))
        return [chunk(tool_calls=[call]) for call in (opening, *said)]

    both = pieces(0, "Oslo") + pieces(1, "Rome")
    asked = exchange("openai", dialect=MESSAGES, stream=True)
    asked.request()
    raw = fed(asked, events(*(both[place] for place in order), chunk("tool_calls"), named=False))
    assert asked.error is None
    uses = assembled(raw + asked.end())["content"]
    assert sorted(uses, key=lambda block: str(block["id"])) == [
        use("call_0", "get_weather", {"city": "Oslo"}),
        use("call_1", "get_weather", {"city": "Rome"}),
    ]


def test_a_call_that_goes_on_after_it_was_complete_is_an_error() -> None:
    calls = ((0, "f", "{}"), (1, "g", ""), (0, "f", "{}"))
    pieces = [
        chunk(tool_calls=[{"index": index, "id": f"c{index}", "function": {"name": name, "arguments": arguments}}])
        for index, name, arguments in calls
    ]
    asked = exchange("openai", dialect=MESSAGES, stream=True)
    asked.request()
    fed(asked, events(*pieces, named=False))
    assert asked.error is TANGLED


def test_thoughts_come_only_to_who_asked_for_them() -> None:
    given = completion("stop", content="hello", reasoning_content="hm")
    asked = exchange("openai", dialect=MESSAGES, stream=True)
    asked.request()
    raw = fed(asked, events(*chunks(given), named=False))
    assert assembled(raw + asked.end())["content"] == [text("hello")]


@pytest.mark.parametrize("arguments", ["{", "[1]", "x"])
def test_arguments_that_are_no_object_are_a_failure_unless_the_answer_was_cut(arguments: str) -> None:
    asked = exchange("openai", dialect=MESSAGES)
    asked.request()
    broken = completion("tool_calls", tool_calls=[call("call_1", "clock", arguments)])
    failure = asked.unary(json.dumps(broken).encode(), {})
    assert isinstance(failure, Failure)
    assert failure.kind == "transient"
    cut = completion("length", tool_calls=[call("call_1", "clock", "{")])
    answer = asked.unary(json.dumps(cut).encode(), {})
    assert isinstance(answer, Answer)
    assert json.loads(answer.body)["content"] == [use("call_1", "clock", {})]
