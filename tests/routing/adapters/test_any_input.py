"""Whatever a client or a provider sends, a translation refuses it or goes on; nothing else is ever raised."""

import contextlib
import copy
import json
import random
from typing import Any

import pytest

from routing.adapters.base import Answer
from routing.errors import GatewayError
from tests.routing.adapters.conversations import CLOCK, GOLDENS, WEATHER, Json
from tests.routing.adapters.exchanges import events, exchange, fed, hear
from tests.routing.adapters.test_answers import ANTHROPIC, GEMINI
from tests.routing.adapters.test_anthropic_streams import HELLO, START, block, delta, end
from tests.routing.adapters.test_gemini_streams import HELLO as GEMINI_HELLO
from tests.routing.adapters.test_gemini_streams import event, piece
from tests.routing.adapters.test_parameters import BY_SCHEMA
from tests.routing.adapters.test_schemas import GEMINI as SCHEMAS

JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    "",
    "x",
    "\u2028",
    [],
    [[]],
    [1],
    {},
    {"type": "x"},
    {"a": [{}]},
)
ROUNDS = 400


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, member in inside for place in places(member, (*path, key)))]


def spoiled(document: Any, chance: random.Random) -> Any:
    """The document with junk in one to three places."""
    document = copy.deepcopy(document)
    for _ in range(chance.randint(1, 3)):
        *path, last = chance.choice(places(document)[1:])
        holder = document
        with contextlib.suppress(LookupError, TypeError):  # an earlier spoiling took the place away
            for key in path:
                holder = holder[key]
            holder[last] = copy.deepcopy(chance.choice(JUNK))
    return document


def requests() -> list[Json]:
    """Requests with everything in them."""
    more: Json = {
        "tools": [
            WEATHER,
            CLOCK,
            *({"type": "function", "function": {"name": "f", "parameters": s[1]}} for s in SCHEMAS),
        ],
        "tool_choice": {"type": "function", "function": {"name": "clock"}},
        "response_format": BY_SCHEMA,
        "reasoning_effort": "high",
        "reasoning": {"effort": "low"},
        "stop": ["a"],
        "temperature": 0.5,
        "top_p": 0.5,
        "max_tokens": 5000,
        "user": "u",
    }
    return [{"messages": golden.messages, **more} for golden in GOLDENS.values()]


@pytest.mark.parametrize("format_", ["openai", "anthropic", "gemini"])
def test_spoiled_requests_are_sent_or_refused(format_: str) -> None:
    chance = random.Random(1)
    wanted = requests()
    sent = 0
    for _ in range(ROUNDS):
        with contextlib.suppress(GatewayError):
            assert json.loads(exchange(format_, **spoiled(chance.choice(wanted), chance)).request().body)
            sent += 1
    assert sent


@pytest.mark.parametrize(
    ("format_", "answers"), [("anthropic", [row[1] for row in ANTHROPIC]), ("gemini", [row[1] for row in GEMINI])]
)
def test_spoiled_answers_are_answers_or_failures(format_: str, answers: list[Json]) -> None:
    chance = random.Random(2)
    asked = exchange(format_, stream=True)
    answered = 0
    for _ in range(ROUNDS):
        result = asked.unary(json.dumps(spoiled(chance.choice(answers), chance)).encode(), {})
        if isinstance(result, Answer):
            answered += 1
            assert hear(asked.replay(result)).done
    assert answered


TOOL = (
    block(0, "tool_use", id="a", name="f", input={}),
    delta(0, "input_json_delta", partial_json="{}"),
    end("tool_use"),
)
CALL = event(piece({"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "s"}, finish="STOP", index=0))


@pytest.mark.parametrize(
    ("format_", "streams"), [("anthropic", [HELLO, (START, *TOOL)]), ("gemini", [GEMINI_HELLO, (CALL,)])]
)
def test_spoiled_events_are_taken_or_dropped(format_: str, streams: list[tuple[Json, ...]]) -> None:
    chance = random.Random(3)
    for _ in range(ROUNDS):
        asked = exchange(format_, stream=True, stream_options={"include_usage": True})
        documents = spoiled(list(chance.choice(streams)), chance)
        raw = fed(asked, b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in documents))
        assert hear(raw + asked.end()).done


def test_the_documents_used_here_are_sound_before_they_are_spoiled() -> None:
    for format_ in ("anthropic", "gemini"):
        for wanted in requests():
            assert exchange(format_, **wanted).request().body
    assert fed(exchange("gemini", stream=True), events(CALL, named=False))
