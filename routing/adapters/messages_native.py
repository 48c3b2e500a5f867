"""Anthropic Messages to a target that speaks them: what came is passed on as it came."""

from typing import Any

import orjson

from resilience.core.classify import ErrorFormat
from routing.adapters.anthropic import AnthropicExchange, anthropic_headers
from routing.adapters.anthropic_answer import read_usage
from routing.adapters.base import Answer, Usage, encode
from routing.adapters.messages_answer import MessageStream, replay_message
from routing.adapters.messages_thoughts import without_foreign_thoughts
from routing.adapters.native import Json, NativeExchange
from routing.adapters.sent import Sent
from routing.sse import typed_event
from routing.upstream import UpstreamRequest

TEXT = ("text_delta", "text")  # deltas and blocks that another model can go on from


class NativeMessages(NativeExchange):
    """Messages in, Messages out."""

    error_format = ErrorFormat.ANTHROPIC
    path = "/messages"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._counts: dict[str, Any] = {}
        self._blocks = 0  # content blocks begun, and whether the last is still open
        self._in_block = False

    def request(self) -> UpstreamRequest | Answer:
        """The client's body with the target's model; members we do not know pass untouched."""
        changed = without_foreign_thoughts(self.client.body)
        body = {**self.client.body, "model": self.target.model, **changed}
        if "thinking" in changed:
            del body["thinking"]
            self.dropped_params = ("thinking",)
        if self.output_cap is not None:
            body["max_tokens"] = min(body.get("max_tokens", self.output_cap), self.output_cap)
        own = [*anthropic_headers(self.target), *self.client.native_headers]
        url = self.target.connection.base_url.rstrip("/") + self.path
        return UpstreamRequest(url, self.headers(*own), encode(body))

    def is_answer(self, document: Any) -> bool:
        """Whether a 200's body is a message, and says something or why not."""
        content = document.get("content") if isinstance(document, dict) else None
        return isinstance(content, list) and bool(content or document.get("stop_reason"))

    def usage_of(self, document: Json) -> Usage:
        """As the provider counted."""
        return read_usage(document.get("usage") or {})

    def pass_on(self, document: Json, raw: bytes) -> bytes:
        """Every event is the client's."""
        self._look(document)
        if self.sent is not None:
            self._note(document, self.sent)
        return raw

    def _look(self, document: Json) -> None:
        match document.get("type"):
            case "content_block_delta":
                self.has_content = True
            case "content_block_start":
                block = document.get("content_block")
                self.has_content |= isinstance(block, dict) and block.get("type") not in ("text", "thinking")
            case "message_start":
                message = document.get("message")
                self._count(message.get("usage") if isinstance(message, dict) else None)
            case "message_delta":
                self._count(document.get("usage"))
                delta = document.get("delta")
                self.finished |= isinstance(delta, dict) and bool(delta.get("stop_reason"))
            case "message_stop":
                self.closed = True

    def _note(self, document: dict[str, Any], sent: Sent) -> None:
        """What the client gets with an event, in case that another target must go on."""
        kind = document.get("type")
        if kind == "content_block_delta":
            said = document.get("delta")
        elif kind == "content_block_start":
            said = document.get("content_block")
            self._blocks += 1
            self._in_block = True
        else:
            self._in_block = self._in_block and kind != "content_block_stop"
            return
        text = said.get("text") if isinstance(said, dict) and said.get("type") in TEXT else None
        if isinstance(text, str):
            sent.say(text)
        else:
            sent.only_text = False

    def as_chat(self) -> AnthropicExchange:
        """The same events, read for another client."""
        return AnthropicExchange(self.client, self.target)

    def continuation(self) -> MessageStream:
        """More events of the same message."""
        stream = MessageStream(self.target.model, thoughts=False)
        return stream.resume(self._blocks, in_text=self._in_block)

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self._counts |= {name: value for name, value in usage.items() if value is not None}
            self.usage = read_usage(self._counts)

    def replay(self, answer: Answer) -> bytes:
        """The whole message as the events of a stream."""
        return replay_message(orjson.loads(answer.body))

    def end(self) -> bytes:
        """`message_stop`, where the provider left it out."""
        return b"" if self.closed else typed_event("message_stop", {})
