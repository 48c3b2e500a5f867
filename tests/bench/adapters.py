"""What a translation costs over passing on: CPU of the adapters alone, without sockets, as JSON on stdout.

A pairing and its client's own format do the same work on the same conversation, in turns, and the best of several rounds
counts for each. A request is parsed, written for the target, and its answer is written for the client; an event of a
stream is cut from the bytes, and its piece is written for the client. Answers come from the simulated providers.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from timeit import Timer

import orjson

from routing.adapters.base import Answer, Exchange
from routing.chains import Target
from routing.dialects import DIALECTS
from routing.simulator import wire
from routing.simulator.anthropic import Anthropic
from routing.simulator.behaviour import Behaviour
from routing.simulator.gemini import Gemini
from routing.simulator.http import Request
from routing.simulator.openai import OpenAI
from routing.sse import EventReader
from routing.table import Connection, ModelFacts, Provider
from tests.bench.conversation import BODIES
from tests.bench.translation import Cost, Translation

WORDS = 497  # of a stream: 500 events with its beginning and end, more or less by format
BASE = "http://provider.invalid/v1"

PROVIDERS: Mapping[str, wire.Format] = {
    "openai": OpenAI(),
    "azure": OpenAI(),  # the same, where the base URL ends in /v1
    "anthropic": Anthropic(),
    "gemini": Gemini(),
}
MODELS = {"openai": "gpt-4o", "azure": "gpt-4o", "anthropic": "claude-sonnet-4-5", "gemini": "gemini-2.5-pro"}
PASSED_ON = {  # the target's format that is the client's
    "/v1/chat/completions": "openai",
    "/v1/messages": "anthropic",
    "/v1/responses": "azure",
}
PAIRINGS: Sequence[tuple[str, str]] = (  # what is translated: the client's endpoint, the target's format
    ("/v1/chat/completions", "anthropic"),
    ("/v1/chat/completions", "gemini"),
    ("/v1/messages", "openai"),
    ("/v1/messages", "gemini"),
    ("/v1/responses", "openai"),
    ("/v1/responses", "anthropic"),
    ("/v1/responses", "gemini"),
)


class Work:
    """The adapters' share of a request, and of a stream, of one endpoint to one format."""

    def __init__(self, path: str, format_: str) -> None:
        self._dialect = DIALECTS[path]
        connection = Connection("p", "main", BASE, api_key="sk-bench")
        provider = Provider("p", "P", format_, BASE, connections=(connection,))
        self._target = Target(provider, connection, MODELS[format_], ModelFacts())
        body = {"model": "chain", **BODIES[path]()}
        self._body, self._stream_body = orjson.dumps(body), orjson.dumps({**body, "stream": True})
        self._whole = orjson.dumps(self._answer(self._body, words=100).document)
        self._events = self._answer(self._stream_body, words=WORDS).events

    @property
    def events(self) -> int:
        """How many a stream has."""
        return len(self._events)

    def request(self) -> None:
        """One unstreamed request."""
        exchange = self._asked(self._body)
        exchange.request()
        if not isinstance(exchange.unary(self._whole, {}), Answer):
            raise TypeError("the simulated answer was not understood")

    def stream(self) -> None:
        """One stream; its request is not in it."""
        exchange, reader = self._asked(self._stream_body), EventReader()
        exchange.request()
        for piece in self._events:
            for event in reader.feed(piece):
                exchange.feed(event)
        exchange.end()
        if exchange.error is not None or exchange.dropped or not exchange.finished:
            raise TypeError("the simulated stream was not understood")

    def stream_request(self) -> None:
        """The part of `stream` that is not the stream."""
        self._asked(self._stream_body).request()

    def _asked(self, body: bytes) -> Exchange:
        return self._dialect.pair(self._dialect.parse(body, {}), self._target, None)

    def _answer(self, body: bytes, *, words: int) -> wire.Answer:
        call = self._asked(body).request()
        if isinstance(call, Answer):
            raise TypeError("this endpoint asks nobody")
        path, _, query = call.url.removeprefix(BASE).partition("?")
        headers = {name.decode(): value.decode() for name, value in call.headers}
        request = Request("POST", path, {"alt": "sse"} if query else {}, headers, call.body)
        return PROVIDERS[self._target.provider.format].answer(request, path, Behaviour(words=words))


def measure(rounds: int, number: int) -> list[Translation]:
    """Every pairing beside passing on."""
    rows = [*dict.fromkeys((path, PASSED_ON[path]) for path, _ in PAIRINGS), *PAIRINGS]
    works = {row: Work(*row) for row in rows}
    best = {row: _Best() for row in rows}
    for _ in range(rounds):
        for row, work in works.items():
            best[row].take(work, number)
    costs = {row: best[row].cost(work) for row, work in works.items()}
    return [Translation(*row, costs[row], costs[row[0], PASSED_ON[row[0]]]) for row in PAIRINGS]


class _Best:
    """The least time of each kind of work, in seconds."""

    def __init__(self) -> None:
        self._request = self._stream = self._stream_request = float("inf")

    def take(self, work: Work, number: int) -> None:
        self._request = min(self._request, cpu_of(work.request, number))
        self._stream = min(self._stream, cpu_of(work.stream, 1))
        self._stream_request = min(self._stream_request, cpu_of(work.stream_request, number))

    def cost(self, work: Work) -> Cost:
        return Cost(self._request * 1e6, (self._stream - self._stream_request) / work.events * 1e6)


def cpu_of(call: Callable[[], None], number: int) -> float:
    """Seconds of CPU for one call, of `number` in a row."""
    return Timer(call, timer=time.process_time).timeit(number) / number


def main(rounds: int, number: int) -> None:
    """Say what `measure` found."""
    json.dump([asdict(translation) for translation in measure(rounds, number)], sys.stdout)
