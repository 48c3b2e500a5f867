"""`/v1/messages/count_tokens`: the provider's count where it has one, else an estimate that says so."""

from collections.abc import Mapping
from typing import Any

import orjson

from resilience.core.classify import ErrorFormat
from resilience.core.outcome import Failure
from routing.adapters.base import Answer, Exchange, encode
from routing.adapters.messages_native import NativeMessages
from routing.sse import Event
from routing.upstream import UpstreamRequest

BYTES_PER_TOKEN = 4  # of English prose and JSON alike, give or take a third
COUNTED = ("system", "messages", "tools")
ESTIMATED = ((b"x-omniroute-estimate", b"true"),)


class NativeTokenCount(NativeMessages):
    """Asked of a target that speaks Messages."""

    path = "/messages/count_tokens"

    def is_answer(self, document: Any) -> bool:
        """Whether it counts."""
        return isinstance(document, dict) and type(document.get("input_tokens")) is int


class EstimatedTokenCount(Exchange):
    """Answered here, for a target whose format has no such call."""

    error_format = ErrorFormat.ANTHROPIC

    def request(self) -> UpstreamRequest | Answer:
        """The estimate; nobody is asked."""
        said = sum(len(encode(self.client.body[name])) for name in COUNTED if self.client.body.get(name))
        document = {"input_tokens": max(1, said // BYTES_PER_TOKEN), "omniroute": {"estimate": True}}
        return Answer(orjson.dumps(document), headers=ESTIMATED)

    def unary(self, body: bytes, headers: Mapping[str, str]) -> Answer | Failure:  # noqa: ARG002
        """Never reached: nothing was sent."""
        raise AssertionError("an estimate has no upstream answer")

    def feed(self, event: Event) -> bytes:  # noqa: ARG002
        """Never reached: nothing was sent."""
        raise AssertionError("an estimate has no stream")

    def replay(self, answer: Answer) -> bytes:
        """A count is not streamed."""
        return answer.body

    def end(self) -> bytes:
        """A count is not streamed."""
        return b""
