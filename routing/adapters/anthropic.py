"""Chat completions to Anthropic's Messages API, and back.

message_start ─► role │ content_block_start, _delta, _stop ─► deltas │ message_delta ─► finish │ message_stop ─► end
"""

from typing import Any

import orjson

from resilience.core.classify import ErrorFormat
from resilience.core.outcome import Failure
from routing.adapters.anthropic_answer import finish_reason, read_message, read_usage, refused
from routing.adapters.anthropic_request import MessagesRequest
from routing.adapters.base import Answer
from routing.adapters.chat_answer import ChunkWriter, tool_call
from routing.adapters.translation import TranslatedExchange
from routing.chains import Target

ANTHROPIC_VERSION = b"2023-06-01"


def anthropic_headers(target: Target) -> list[tuple[bytes, bytes]]:
    """The version we speak, and our key."""
    key = target.connection.api_key
    return [(b"anthropic-version", ANTHROPIC_VERSION), *([(b"x-api-key", key.encode())] if key else [])]


class _ToolBlock:
    """A tool_use block that is being streamed. `number` counts tools, not blocks."""

    __slots__ = ("input", "number", "spoken")

    def __init__(self, number: int, given: Any) -> None:
        self.number = number
        self.input = given if isinstance(given, dict) else {}
        self.spoken = False  # some of its arguments came as deltas


class AnthropicExchange(TranslatedExchange):
    """Chat completions in, Messages out."""

    error_format = ErrorFormat.ANTHROPIC

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._open: dict[Any, _ToolBlock] = {}  # by content block
        self._tools = 0
        self._counts: dict[str, Any] = {}

    def url(self) -> str:
        """`{base}/messages`; the base names the version."""
        return self.target.connection.base_url.rstrip("/") + "/messages"

    def own_headers(self) -> list[tuple[bytes, bytes]]:
        """Anthropic's headers."""
        return anthropic_headers(self.target)

    def build(self) -> tuple[dict[str, Any], list[str]]:
        """See MessagesRequest."""
        built = MessagesRequest(self.client, self.target, self.output_cap)
        return built.document, built.dropped

    def read(self, document: Any) -> Answer | Failure:
        """See read_message."""
        return read_message(document, self.target.model)

    def take(self, event: dict[str, Any]) -> bytes:
        """By the type in the data: not every compatible server sends `event:` lines."""
        match event.get("type"):
            case "content_block_delta":
                return self._delta(event)
            case "content_block_start":
                return self._start_block(event.get("index"), event["content_block"])
            case "content_block_stop":
                return self._stop_block(event.get("index"))
            case "message_start":
                message = event["message"]
                self._count(message.get("usage"))
                return self.begin(message.get("id"), message.get("model")).role()
            case "message_delta":
                self._count(event.get("usage"))
                return self._finish(event["delta"])
            case "message_stop":
                self.closed = True
                return b"" if self.finished or not self.has_content else self._finish({"stop_reason": "end_turn"})
        return b""  # pings, and what Anthropic may add

    def _delta(self, event: dict[str, Any]) -> bytes:
        delta = event["delta"]
        match delta["type"]:
            case "text_delta":
                return self._say("content", delta["text"])
            case "thinking_delta":
                return self._say("reasoning_content", delta["thinking"])
            case "input_json_delta":
                block = self._open.get(event.get("index"))
                if block is None or not delta["partial_json"]:
                    return b""  # a tool that Anthropic runs itself; an empty first piece
                block.spoken = True
                return self._arguments(block, delta["partial_json"])
        return b""  # signatures, citations

    def _say(self, member: str, text: str) -> bytes:
        if not text:
            return b""
        self.has_content = True
        return self._chunks().delta({member: text})

    def _start_block(self, index: Any, block: dict[str, Any]) -> bytes:
        match block["type"]:
            case "tool_use":
                opened = self._open[index] = _ToolBlock(self._tools, block.get("input"))
                call = tool_call(block.get("id"), block["name"], "")
                self._tools += 1
                self.has_content = True
                return self._chunks().delta({"tool_calls": [{"index": opened.number, **call}]})
            case "text":
                return self._say("content", block.get("text", ""))
            case "thinking":
                return self._say("reasoning_content", block.get("thinking", ""))
        return b""

    def _stop_block(self, index: Any) -> bytes:
        """A call whose arguments did not come in pieces has them in its start, or none, which is an empty object."""
        block = self._open.pop(index, None)
        if block is None or block.spoken:
            return b""
        return self._arguments(block, orjson.dumps(block.input).decode())

    def _arguments(self, block: _ToolBlock, text: str) -> bytes:
        return self._chunks().delta({"tool_calls": [{"index": block.number, "function": {"arguments": text}}]})

    def _finish(self, delta: dict[str, Any]) -> bytes:
        reason = delta.get("stop_reason")
        if not reason or self.finished:
            return b""
        if reason == "refusal" and not self.has_content:
            self.error = refused(delta)
            return b""
        self.finished = True
        rest = b"".join([self._stop_block(index) for index in list(self._open)])
        return rest + self._chunks().finish(finish_reason(reason, called=self._tools > 0))

    def _count(self, usage: Any) -> None:
        """Counts are cumulative; what an event does not name stands."""
        if isinstance(usage, dict):
            self._counts.update((name, value) for name, value in usage.items() if value is not None)
            self.usage = read_usage(self._counts)

    def _chunks(self) -> ChunkWriter:
        return self._writer or self.begin(None, None)
