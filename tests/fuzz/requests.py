"""Clients' requests in every dialect, read and then translated for a provider of every format."""

import contextlib
from collections.abc import Mapping
from random import Random
from typing import NamedTuple

import orjson

from routing.adapters.base import Answer
from routing.chains import Target
from routing.dialects import DIALECTS, Dialect
from routing.errors import GatewayError
from routing.table import Connection, ModelFacts, Provider
from tests.fuzz.spoil import BYTES, cut, spoiled, written
from tests.routing.adapters.conversations import GOLDENS, WEATHER
from tests.routing.adapters.exchanges import BASES, MODELS

_TOOL = {
    "name": "get_weather",
    "description": "Weather",
    "input_schema": {"type": "object", "properties": {"city": {}}},
}
_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
_CALL = {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Paris"}}
_RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "12"}, _IMAGE]}
_SETTINGS = {"temperature": 0.5, "top_p": 0.9, "stream": True, "metadata": {"user_id": "u"}, "user": "u"}
_CHAT = {
    **_SETTINGS,
    "max_tokens": 50,
    "stop": ["a"],
    "n": 1,
    "tools": [WEATHER],
    "tool_choice": "auto",
    "reasoning_effort": "low",
    "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}},
    "stream_options": {"include_usage": True},
}
_MESSAGES = {
    **_SETTINGS,
    "max_tokens": 2000,
    "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, _CALL]},
        {"role": "user", "content": [_RESULT, _IMAGE, {"type": "text", "text": "so?"}]},
    ],
    "tools": [_TOOL],
    "tool_choice": {"type": "any"},
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "stop_sequences": ["x"],
    "top_k": 5,
}
_RESPONSES = {
    **_SETTINGS,
    "instructions": "be brief",
    "input": [
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "hi"}, {"type": "input_image", "image_url": "https://x/y"}],
        },
        {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city":"Paris"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "12"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok", "annotations": []}]},
    ],
    "tools": [{"type": "function", "name": "get_weather", "parameters": {"type": "object"}}],
    "tool_choice": "auto",
    "max_output_tokens": 50,
    "reasoning": {"effort": "low"},
    "text": {"format": {"type": "json_object"}},
    "previous_response_id": None,
    "store": False,
}
BODIES = tuple(
    orjson.dumps({"model": "chain", **body})
    for body in (
        *({"messages": golden.messages, **_CHAT} for golden in GOLDENS.values()),
        *({"messages": [{"role": "user", "content": "hi"}]}, _MESSAGES, _RESPONSES, {"input": ["hi", [1, 2]]}),
    )
)
NAMES = tuple(
    sorted({*_CHAT, *_MESSAGES, *_RESPONSES, "role", "content", "type", "text", "name", "id", "function", "model"})
)
HEADERS: tuple[Mapping[bytes, bytes], ...] = (
    {},
    {b"anthropic-version": b"2023-06-01", b"anthropic-beta": b"x", b"traceparent": b"\xff"},
)


def _target(format_: str) -> Target:
    connection = Connection("p", "main", BASES[format_], api_key="k")
    return Target(
        Provider("p", "P", format_, BASES[format_], connections=(connection,)),
        connection,
        MODELS[format_],
        ModelFacts(),
    )


TARGETS = tuple(map(_target, BASES))


def _understood(dialect: Dialect) -> tuple[bytes, ...]:
    """The bodies that a dialect takes."""
    taken = []
    for body in BODIES:
        with contextlib.suppress(GatewayError):
            dialect.parse(body, {})
            taken.append(body)
    return tuple(taken)


OWN = {path: _understood(dialect) for path, dialect in DIALECTS.items()}
FOREIGN = 0.15
"""The share of bodies that were written for another dialect."""


class Request(NamedTuple):
    """One input."""

    path: str
    body: bytes
    headers: Mapping[bytes, bytes]
    target: Target


def make(chance: Random) -> Request:
    path = chance.choice(tuple(DIALECTS))
    return Request(path, _body(chance, path), chance.choice(HEADERS), chance.choice(TARGETS))


def check(request: Request) -> None:
    dialect = DIALECTS[request.path]
    refusal: GatewayError | None = None
    try:
        sent = dialect.pair(dialect.parse(request.body, request.headers), request.target, None).request()
        assert isinstance(sent, Answer) or sent.body
    except GatewayError as error:
        refusal = error
    if refusal is not None:
        assert 400 <= refusal.status < 500
        assert refusal.code
        body = dialect.error_body(refusal, "id", "", [])
        assert orjson.dumps(body)
        assert dialect.error_event(body, 0)


def _body(chance: Random, path: str) -> bytes:
    kind = chance.random()
    if kind < 0.02:
        return chance.randbytes(chance.randint(0, 80))
    body = chance.choice(BODIES if chance.random() < FOREIGN else OWN[path])
    if kind < 0.12:
        return cut(chance, body, BYTES)
    return written(spoiled(chance, body, NAMES))
