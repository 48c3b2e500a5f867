"""A target that speaks the client's own format of typed events: what came is passed on as it came, once judged."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import orjson

from resilience.core.classify import find_error
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.base import Answer, Exchange, Usage, decode
from routing.sse import Event

Json = dict[str, Any]


class NativeExchange(Exchange):
    """The same format on both sides, whose events say their `type` in the data."""

    @abstractmethod
    def is_answer(self, document: Any) -> bool:
        """Whether a 200's body is what was asked for, and says something or why not."""

    @abstractmethod
    def usage_of(self, document: Json) -> Usage:
        """The usage in an answer."""

    @abstractmethod
    def pass_on(self, document: Json, raw: bytes) -> bytes:
        """Note what an event means; what the client is to get for it. By its data: not every server names its events."""

    def error_in(self, document: Json) -> object | None:
        """The error envelope that an event is, if it is one."""
        return find_error(self.error_format, document)

    def unary(self, body: bytes, headers: Mapping[str, str]) -> Answer | Failure:
        """The body as it came, if it is an answer at all."""
        document = self.decoded(body, headers)
        if isinstance(document, Failure):
            return document
        if not self.is_answer(document):
            return Failure(kind=Kind.TRANSIENT, message="status 200, but the body is not what was asked for")
        return Answer(body, self.usage_of(document))

    def feed(self, event: Event) -> bytes:
        """Pass the event on as it came, keeping count of what was finished."""
        if event.data is None:
            return b""
        try:
            document = decode(event.data)
        except orjson.JSONDecodeError:
            document = None
        if not isinstance(document, dict):
            self.dropped += 1
            return b""
        envelope = self.error_in(document)
        if envelope is not None:
            self.error = self.classify(envelope, {})
            return b""
        return self.pass_on(document, event.raw + b"\n\n")
