"""Chat completions to a provider of another format: what all translations have in common.

    request   build()                     the client's body in the target's words
    unary     JSON ─► error? ─► read()    the answer in the client's
    feed      JSON ─► error? ─► take()    an event as chunks, maybe none

An answer or event whose members are not what its format says is as good as undecodable.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import orjson

from resilience.core.classify import find_error
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters import chat_answer
from routing.adapters.base import Answer, Exchange, decode, encode
from routing.sse import Event
from routing.upstream import UpstreamRequest

NOT_AS_DESCRIBED = (LookupError, TypeError, AttributeError, ValueError)


class TranslatedExchange(Exchange):
    """One attempt in another format than the client's."""

    _writer: chat_answer.ChunkWriter | None = None

    @abstractmethod
    def url(self) -> str:
        """Where to send it; never with a key in it."""

    @abstractmethod
    def own_headers(self) -> list[tuple[bytes, bytes]]:
        """Our key, never the client's, and what else the format wants."""

    @abstractmethod
    def build(self) -> tuple[dict[str, Any], list[str]]:
        """The body to send, and the parameters that are not in it. Raises GatewayError 400."""

    @abstractmethod
    def read(self, document: Any) -> Answer | Failure:
        """Translate an answer that is no error envelope. Raises one of NOT_AS_DESCRIBED if it is no answer either."""

    @abstractmethod
    def take(self, event: dict[str, Any]) -> bytes:
        """Translate an event that is no error envelope. Raises one of NOT_AS_DESCRIBED."""

    def request(self) -> UpstreamRequest:
        """The call to make, with nothing of the client's but what the target's format has a word for."""
        document, dropped = self.build()
        self.dropped_params = tuple(dropped)
        return UpstreamRequest(self.url(), self.headers(*self.own_headers()), encode(document))

    def unary(self, body: bytes, headers: Mapping[str, str]) -> Answer | Failure:
        """The answer in the client's format, unless the body is an error or nothing of the kind."""
        document = self.decoded(body, headers)
        if isinstance(document, Failure):
            return document
        try:
            return self.read(document)
        except NOT_AS_DESCRIBED:
            return Failure(kind=Kind.TRANSIENT, message=f"status 200, but the body is no {self.error_format} answer")

    def feed(self, event: Event) -> bytes:
        """Chunks for one event."""
        if event.data is None or event.data.strip() == b"[DONE]":
            return b""  # comments; and a sentinel that some add, which says nothing in these formats
        try:
            document = decode(event.data)
        except orjson.JSONDecodeError:
            self.dropped += 1
            return b""
        if (error := find_error(self.error_format, document)) is not None:
            self.error = self.classify(error, {})
            return b""
        try:
            return self.take(document)
        except NOT_AS_DESCRIBED:
            self.dropped += 1
            return b""

    def replay(self, answer: Answer) -> bytes:
        """One chunk with everything in it."""
        return chat_answer.replay(answer.body, wants_usage=self.client.wants_usage)

    def end(self) -> bytes:
        """The usage, if the client asked and the provider counted, and OpenAI's sentinel."""
        if self._writer is None or not self.client.wants_usage or not self.usage.known:
            return chat_answer.DONE
        return self._writer.usage(self.usage) + chat_answer.DONE

    def begin(self, answer_id: object, model: object) -> chat_answer.ChunkWriter:
        """The stream's writer; the first call decides id and model."""
        if self._writer is None:
            self._writer = chat_answer.ChunkWriter(
                answer_id, model, self.target.model, usage_follows=self.client.wants_usage, sent=self.sent
            )
        return self._writer

    def continuation(self) -> chat_answer.ChunkContinuation | None:
        """More chunks."""
        if self._writer is None:
            return None
        return chat_answer.ChunkContinuation(self._writer.first, wants_usage=self.client.wants_usage)
