"""A client's format over chat completions: translated there, through the target's own chat exchange, and back.

    client ──to_chat──► chat completions ──inner──► provider
    client ◄──read, BlockStream── chat completions ◄──inner── provider

So that every client format needs one translation, not one per provider.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import orjson

from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.base import Answer, ClientRequest, Continuation, Exchange, Usage, decode
from routing.adapters.chat_answer import chunk_data
from routing.adapters.chat_blocks import THOUGHTS, BlockStream
from routing.adapters.parameters import Sifted
from routing.adapters.translation import NOT_AS_DESCRIBED
from routing.chains import Target
from routing.errors import GatewayError
from routing.sse import Event
from routing.upstream import UpstreamRequest

TANGLED = Failure(kind=Kind.TRANSIENT, message="the stream went back to a tool call it had left")


@dataclass(slots=True)
class ChatBody(Sifted):
    """A request as chat completions."""

    body: dict[str, Any]
    dropped: list[str] = field(default_factory=list)


class ComposedExchange(Exchange):
    """One attempt of a client that does not speak chat completions at a target that does, or is translated to."""

    params: ClassVar[Mapping[str, str]] = {}  # chat completions' names of what the client calls otherwise

    def __init__(self, request: ClientRequest, target: Target, output_cap: int | None, inner: type[Exchange]) -> None:
        """inner: the target's exchange for chat completions."""
        super().__init__(request, target, output_cap)
        self.error_format = inner.error_format
        self._inner_type = inner
        self._chat: Exchange | None = None
        self._whole: Answer | None = None
        self._stream: BlockStream | None = None
        self._prefill = ""

    @abstractmethod
    def to_chat(self) -> ChatBody:
        """The request as chat completions. Raises GatewayError 400 for what they cannot express."""

    @abstractmethod
    def read(self, completion: dict[str, Any], usage: Usage) -> dict[str, Any] | Failure:
        """A completion as the client's answer. Raises one of NOT_AS_DESCRIBED if it is none."""

    @abstractmethod
    def stream(self) -> BlockStream:
        """What writes the client's events."""

    def shows_thoughts(self) -> bool:
        """Whether the client gets to see what the model thought."""
        return True

    @property
    def chat(self) -> Exchange:
        """The target's exchange, once there is a request for it."""
        if self._chat is None:
            raise RuntimeError("`request` comes first")
        return self._chat

    def continue_from(self, text: str) -> bool:
        """See Exchange; it is said in chat completions, whatever the client speaks."""
        self._prefill = text
        return True

    def as_chat(self) -> Exchange:
        """The target's own exchange."""
        return self.chat

    def continuation(self) -> Continuation | None:
        """The stream that writes the client's events."""
        return self._stream

    def request(self) -> UpstreamRequest | Answer:
        """The target's call for the translated request."""
        translated = self.to_chat()
        body = translated.body
        plain = ClientRequest(
            body=body,
            model=self.client.model,
            stream=self.client.stream,
            wants_usage=True,
            wants_reasoning=self.client.wants_reasoning,
            has_tools=self.client.has_tools,
            headers=self.client.headers,
        )
        self._chat = self._inner_type(plain, self.target, self.output_cap)
        self._chat.sent = self.sent
        if self.sent is not None and not self.shows_thoughts():
            self.sent.unseen = THOUGHTS
        if self._prefill:
            self._chat.continue_from(self._prefill)
        try:
            call = self._chat.request()
        except GatewayError as error:
            self._blame(error)
            raise
        self.dropped_params = (*translated.dropped, *map(self.clients_name, self._chat.dropped_params))
        return call

    def _blame(self, error: GatewayError) -> None:
        """Say what is wrong by the client's name, in the message too."""
        if error.param is None:
            return
        name = self.clients_name(error.param)
        if name != error.param:
            error.message = re.sub(f"`{re.escape(error.param)}[^`]*`", f"`{name}`", error.message)
            error.param = name

    def clients_name(self, name: str) -> str:
        """What the client calls a member; places inside it would be those of the translation."""
        return self.params.get(name.partition(".")[0].partition("[")[0], name)

    def unary(self, body: bytes, headers: Mapping[str, str]) -> Answer | Failure:
        """The target's answer in the client's format."""
        result = self.chat.unary(body, headers)
        if isinstance(result, Failure):
            return result
        self._whole = result
        try:
            document = self.read(decode(result.body), result.usage)
        except NOT_AS_DESCRIBED:
            return Failure(kind=Kind.TRANSIENT, message="status 200, but the body is no chat completion")
        return document if isinstance(document, Failure) else Answer(orjson.dumps(document), result.usage)

    def feed(self, event: Event) -> bytes:
        """The client's events for one of the target's."""
        chat = self.chat
        output = self._translated(chat.feed(event))
        self.usage = chat.usage
        self.has_content, self.finished, self.closed = chat.has_content, chat.finished, chat.closed
        self.error, self.tentative = chat.error, chat.tentative
        self.dropped = chat.dropped
        if self._stream is not None and self._stream.tangled:
            self.error = TANGLED
        return output

    def _translated(self, chunks: bytes) -> bytes:
        if not chunks:
            return b""
        stream = self._stream = self._stream or self.stream()
        output = b""
        for data in chunk_data(chunks):
            try:
                output += stream.take(decode(data))
            except NOT_AS_DESCRIBED:
                self.chat.dropped += 1
        return output

    def replay(self, answer: Answer) -> bytes:
        """The whole completion once more, as the chunks of a stream."""
        chunks = self.chat.replay(self._whole or answer)
        return self._translated(chunks) + self.end()

    def end(self) -> bytes:
        """The client format's own end."""
        stream = self._stream = self._stream or self.stream()
        return stream.end(self.usage)
