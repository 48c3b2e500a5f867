"""Whatever is in a Responses request, or in what a provider makes of it, it is sent, answered, refused or dropped."""

import contextlib
import json
import random

import pytest

from routing.adapters.base import Answer, Exchange, Usage
from routing.adapters.chat_answer import chunk_data
from routing.adapters.sent import Sent
from routing.adapters.translation import NOT_AS_DESCRIBED
from routing.errors import GatewayError
from tests.routing.adapters.conversations import Json
from tests.routing.adapters.exchanges import fed
from tests.routing.adapters.responses import asking
from tests.routing.adapters.test_any_input import ROUNDS, spoiled
from tests.routing.adapters.test_openai import chunk
from tests.routing.adapters.test_responses_answers import CALL, completion
from tests.routing.adapters.test_responses_native import FUNCTION, MESSAGE, SEARCH, THOUGHT, response
from tests.routing.adapters.test_responses_requests import INPUTS, TOOL
from tests.routing.engine.dying import THOUGHT as WORDLESS
from tests.routing.engine.dying import response_events

FORMATS = ["openai", "azure", "anthropic", "gemini"]
MORE: Json = {
    "tools": [TOOL],
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "get_weather"}]},
    "text": {"format": {"type": "json_object"}, "verbosity": "low"},
    "reasoning": {"effort": "high", "summary": "auto"},
    "include": ["reasoning.encrypted_content"],
    "metadata": {"a": "b"},
    "max_output_tokens": 500,
    "store": False,
    "stream": True,
}
REQUESTS = [{"input": golden.input, "instructions": "be brief", **MORE} for golden in INPUTS.values()]
OPENING = {"index": 0, "id": "call_1", "function": {"name": "f", "arguments": "{}"}}
CHUNKS = [
    chunk(role="assistant", reasoning_content="h"),
    chunk(content="a"),
    chunk(tool_calls=[OPENING]),
    chunk("stop"),
]
EVENTS: list[Json] = [
    {"type": "response.created", "sequence_number": 0, "response": response(status="in_progress")},
    {"type": "response.output_item.added", "sequence_number": 1, "item": MESSAGE},
    {"type": "response.output_text.delta", "sequence_number": 2, "delta": "a"},
    {"type": "response.completed", "sequence_number": 3, "response": response(MESSAGE)},
]


@pytest.mark.parametrize("format_", FORMATS)
def test_spoiled_requests_are_sent_or_refused(format_: str) -> None:
    chance = random.Random(1)
    sent = 0
    for _ in range(ROUNDS):
        with contextlib.suppress(GatewayError):
            assert asking(format_, **spoiled(chance.choice(REQUESTS), chance)).request()
            sent += 1
    assert sent


@pytest.mark.parametrize("format_", ["openai", "azure"])
def test_spoiled_answers_are_answers_or_failures(format_: str) -> None:
    chance = random.Random(2)
    said = completion("tool_calls", content="a", refusal="b", reasoning_content="c", tool_calls=[CALL])
    whole = said if format_ == "openai" else response(THOUGHT, SEARCH, MESSAGE, FUNCTION)
    answered = 0
    for _ in range(ROUNDS):
        asked = asking(format_, stream=True)
        asked.request()
        answer = asked.unary(json.dumps(spoiled(whole, chance)).encode(), {})
        with contextlib.suppress(*NOT_AS_DESCRIBED):  # which the engine takes for a failure
            assert not isinstance(answer, Answer) or asked.replay(answer)
            answered += 1
    assert answered


@pytest.mark.parametrize(("format_", "stream"), [("openai", CHUNKS), ("azure", EVENTS)])
def test_spoiled_events_are_taken_or_dropped(format_: str, stream: list[Json]) -> None:
    chance = random.Random(3)
    for _ in range(ROUNDS):
        asked = asking(format_, stream=True)
        asked.request()
        fed(asked, told(spoiled(stream, chance)))
        asked.end()


def told(documents: list[Json]) -> bytes:
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in documents)


def test_spoiled_streams_are_continued_or_not() -> None:
    chance = random.Random(4)
    continued = 0
    whole = [json.loads(event.partition(b"data: ")[2]) for event in response_events("a", "b", before=(WORDLESS,))]
    for _ in range(ROUNDS):
        begun, other = asking("azure", stream=True), asking("azure", stream=True).as_chat()
        begun.sent = Sent()
        fed(begun, told(spoiled(whole[: chance.randint(1, len(whole) - 1)], chance)))
        chunks = fed(other, told(spoiled(whole, chance)))
        if begun.sent.only_text:
            assert b"response.completed" in gone_on(begun, chunks)
            continued += 1
    assert continued


def gone_on(begun: Exchange, chunks: bytes) -> bytes:
    stream = begun.continuation()
    assert stream is not None
    for data in chunk_data(chunks):
        with contextlib.suppress(*NOT_AS_DESCRIBED):
            stream.take(json.loads(data))
    return stream.end(Usage())
