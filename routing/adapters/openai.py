"""OpenAI chat completions to any OpenAI-compatible provider: what came is passed on as it came."""

from collections.abc import Mapping
from typing import Any

import orjson

from resilience.core.classify import find_error
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters import chat_answer
from routing.adapters.base import Answer, decode
from routing.adapters.openai_call import AzureCall, OpenAICall, read_usage
from routing.adapters.openai_hosts import length_member, marks_prefix
from routing.sse import Event

CONTENT = ("content", "tool_calls", "function_call", "reasoning_content", "reasoning", "refusal", "audio")
REASONING_MODEL_REFUSES = ("temperature", "top_p", "presence_penalty", "frequency_penalty")


class ChatExchange(OpenAICall):
    """Chat completions in, chat completions out."""

    path = "/chat/completions"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._open_choices = self.client.choices
        self._seen_choices: set[int] = set()
        self._first: dict[str, Any] = {}  # chunk of the stream
        self._owes_usage = self.client.stream and self.client.wants_usage

    def body(self) -> dict[str, Any]:
        """A fresh body for this target, asking for usage in a stream; members we do not know pass untouched."""
        body = {**self.client.body, "model": self.target.model}
        if self.client.stream:
            options = body.get("stream_options")
            body["stream_options"] = {**(options if isinstance(options, dict) else {}), "include_usage": True}
        if self.target.facts.reasoning:
            self._for_reasoning_model(body)
        if self.output_cap is not None:
            self._cap(body, self.output_cap)
        return body

    def _for_reasoning_model(self, body: dict[str, Any]) -> None:
        """These models know `max_completion_tokens` only and refuse to be told how to sample."""
        if "max_tokens" in body:
            body.setdefault("max_completion_tokens", body["max_tokens"])
            del body["max_tokens"]
        self.dropped_params = tuple(name for name in REASONING_MODEL_REFUSES if body.pop(name, None) is not None)

    def _cap(self, body: dict[str, Any], cap: int) -> None:
        """Both spellings are capped where given; where neither is, the one this model knows is set."""
        for name in ("max_tokens", "max_completion_tokens"):
            given = body.get(name)
            if name in body:
                body[name] = min(given, cap) if isinstance(given, int) and given > 0 else cap
        if "max_tokens" not in body and "max_completion_tokens" not in body:
            body[length_member(self.target)] = cap

    def unary(self, body: bytes, headers: Mapping[str, str]) -> Answer | Failure:
        """The body as it came, if it is an answer at all."""
        document = self.decoded(body, headers)
        if isinstance(document, Failure):
            return document
        choices = document.get("choices") if isinstance(document, dict) else None
        if not isinstance(choices, list) or not choices:
            return Failure(kind=Kind.TRANSIENT, message="status 200 without choices")
        if all(map(_says_nothing, choices)):
            return Failure(kind=Kind.TRANSIENT, message="status 200 with an empty message")
        return Answer(body, read_usage(document.get("usage"), "prompt", "completion"))

    def feed(self, event: Event) -> bytes:
        """Pass the event on as it came, keeping count of what was finished."""
        if event.data is None:
            return b""  # comments keep a connection open, and ours is
        if event.data.strip() == b"[DONE]":
            self.closed = True
            return b""
        try:
            chunk = decode(event.data)
        except orjson.JSONDecodeError:
            self.dropped += 1
            return b""
        if not isinstance(chunk, dict):
            self.dropped += 1
            return b""
        suspicious = "choices" not in chunk or b'"error"' in event.data  # as a member, or as a finish reason
        if suspicious and (error := find_error(self.error_format, chunk)) is not None:
            self.error = self.classify(error, {})
            return b""
        return self._take(chunk, event.raw)

    def _take(self, chunk: dict[str, Any], raw: bytes) -> bytes:
        choices = chunk.get("choices")
        if usage := _usage_in(chunk, choices):
            self.usage = read_usage(usage, "prompt", "completion")
        if not choices:
            if usage and not self.client.wants_usage:
                return b""  # we asked for it, the client did not
            self._owes_usage = self._owes_usage and not usage
            return raw + b"\n\n"
        self._first = self._first or chunk
        for choice in choices if isinstance(choices, list) else ():
            self._look(choice)
        return raw + b"\n\n"

    def _look(self, choice: Any) -> None:
        if not isinstance(choice, dict):
            return
        delta = choice.get("delta")
        if isinstance(delta, dict) and (self.tentative or not self.has_content) and any(map(delta.get, CONTENT)):
            self.has_content = True
            self.tentative = bool(choice.get("finish_reason"))
        if self.sent is not None and isinstance(delta, dict):
            self.sent.take(delta)
        if choice.get("finish_reason"):
            index = choice.get("index")
            index = index if isinstance(index, int) else 0
            if index not in self._seen_choices:
                self._seen_choices.add(index)
                self._open_choices -= 1
                self.finished = self._open_choices <= 0

    def replay(self, answer: Answer) -> bytes:
        """One chunk with everything in it: some providers do not stream all of their models."""
        return chat_answer.replay(answer.body, wants_usage=self.client.wants_usage)

    def end(self) -> bytes:
        """The usage, if the client asked and the provider only told it beside a choice, and OpenAI's sentinel."""
        return self.continuation().end(self.usage) if self._owes_usage else chat_answer.DONE

    def continue_from(self, text: str) -> bool:
        """The answer begun, and marked where the provider wants that."""
        begun = super().continue_from(text)
        if begun and marks_prefix(self.target):
            self.client.body["messages"][-1]["prefix"] = True
        return begun

    def continuation(self) -> chat_answer.ChunkContinuation:
        """More chunks."""
        return chat_answer.ChunkContinuation(self._first, wants_usage=self.client.wants_usage)


class AzureExchange(AzureCall, ChatExchange):
    """The same at Azure."""


def _usage_in(chunk: Mapping[str, Any], choices: Any) -> Any:
    """Of a chunk, or of what Moonshot (in the choice) and Groq (`x_groq`) have instead."""
    if usage := chunk.get("usage"):
        return usage
    choice = choices[0] if isinstance(choices, list) and choices else None
    for holder in (choice, chunk.get("x_groq")):
        if isinstance(holder, dict) and (usage := holder.get("usage")):
            return usage
    return None


def _says_nothing(choice: Any) -> bool:
    """A message of null, with nothing else in it and no reason for that: not an answer."""
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        return True
    stopped = choice.get("finish_reason") in (None, "stop")
    return stopped and message.get("content") is None and not any(message.get(name) for name in CONTENT)
