"""What a chat completions client gets, whoever the answer comes from: completions, chunks and the end of a stream."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

import orjson

from routing.adapters.base import Usage, decode
from routing.adapters.sent import Sent
from routing.sse import parse_block

DONE = b"data: [DONE]\n\n"

ROLE: Mapping[str, Any] = {"role": "assistant", "content": ""}


class ChunkWriter:
    """Writes the chunks of one stream: the same id, time and model in each, and a role before a choice's first delta."""

    __slots__ = ("_begun", "_head", "_sent", "_tail", "first")

    def __init__(
        self, answer_id: object, model: object, target_model: str, *, usage_follows: bool, sent: Sent | None = None
    ) -> None:
        """usage_follows: the client asked for usage, so every chunk but the last says that it has none."""
        self.first: Mapping[str, Any] = {  # what each chunk begins with
            "id": _answer_id(answer_id),
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model if isinstance(model, str) and model else target_model,
        }
        self._sent = sent
        self._head = b"data: " + orjson.dumps(self.first)[:-1]
        self._tail = (b',"usage":null' if usage_follows else b"") + b"}\n\n"
        self._begun: set[int] = set()

    def role(self, index: int = 0) -> bytes:
        """The first chunk of a choice; nothing if it was written before."""
        if index in self._begun:
            return b""
        self._begun.add(index)
        return self._chunk(index, ROLE, None)

    def delta(self, delta: Mapping[str, Any], index: int = 0) -> bytes:
        """A piece of a choice."""
        if self._sent is not None:
            self._sent.take(delta)
        return self.role(index) + self._chunk(index, delta, None)

    def finish(self, reason: str, index: int = 0) -> bytes:
        """The last chunk of a choice."""
        return self.role(index) + self._chunk(index, {}, reason)

    def usage(self, usage: Usage) -> bytes:
        """The chunk without choices that clients ask for with `stream_options.include_usage`."""
        return self._head + b',"choices":[],"usage":' + orjson.dumps(chat_usage(usage)) + b"}\n\n"

    def _chunk(self, index: int, delta: Mapping[str, Any], reason: str | None) -> bytes:
        choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}
        return self._head + b',"choices":[' + orjson.dumps(choice) + b"]" + self._tail


class ChunkContinuation:
    """Writes on in a stream of chunks: with the id, time and model of its first one."""

    tangled = False

    def __init__(self, first: Mapping[str, Any], *, wants_usage: bool) -> None:
        self._head = {name: first[name] for name in ("id", "object", "created", "model") if name in first}
        self._wants_usage = wants_usage

    def take(self, chunk: Mapping[str, Any]) -> bytes:
        """A chunk of another stream as one of this."""
        members = {**chunk, **self._head}
        members.pop("usage", None)
        if self._wants_usage:
            members["usage"] = None
        return b"data: " + orjson.dumps(members) + b"\n\n"

    def end(self, usage: Usage) -> bytes:
        """The usage, if the client asked and a provider counted, and OpenAI's sentinel."""
        if not (self._wants_usage and usage.known):
            return DONE
        last = {**self._head, "choices": [], "usage": chat_usage(usage)}
        return b"data: " + orjson.dumps(last) + b"\n\n" + DONE


def chunk_data(chunks: bytes) -> Iterator[bytes]:
    """The data of chunks that an exchange wrote, without the sentinel."""
    for block in chunks.split(b"\n\n"):
        data = parse_block(block).data
        if data is not None and data != b"[DONE]":
            yield data


def completion(
    answer_id: object, model: object, target_model: str, *, choices: Sequence[Mapping[str, Any]], usage: Usage
) -> bytes:
    """An unstreamed answer."""
    return orjson.dumps(
        {
            "id": _answer_id(answer_id),
            "object": "chat.completion",
            "created": int(time.time()),
            "model": model if isinstance(model, str) and model else target_model,
            "choices": choices,
            "usage": chat_usage(usage),
        }
    )


def choice(
    index: int, *, text: str | None, reasoning: str, calls: Sequence[Mapping[str, Any]], finish_reason: str
) -> dict[str, Any]:
    """One choice of an unstreamed answer. `reasoning_content` and `tool_calls` are there only if there are any."""
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = calls
    return {"index": index, "message": message, "logprobs": None, "finish_reason": finish_reason}


def tool_call(call_id: object, name: str, arguments: str) -> dict[str, Any]:
    """A call of a tool; `arguments` is a JSON text. A call without an id gets one, since its result must name it."""
    given = call_id if isinstance(call_id, str) and call_id else f"call_{uuid4().hex[:24]}"
    return {"id": given, "type": "function", "function": {"name": name, "arguments": arguments}}


def chat_usage(usage: Usage) -> dict[str, Any]:
    """OpenAI's usage object."""
    prompt, output = usage.input_tokens or 0, usage.output_tokens or 0
    document: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}
    cached = {"cached_tokens": usage.cached_tokens, "cache_write_tokens": usage.written_tokens}
    if details := {name: tokens for name, tokens in cached.items() if tokens is not None}:
        document["prompt_tokens_details"] = details
    if usage.reasoning_tokens is not None:
        document["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return document


def count(value: Any) -> int | None:
    """A provider's count of tokens, unless it is nonsense."""
    return value if type(value) is int and 0 <= value < 2**31 else None


def replay(completion_body: bytes, *, wants_usage: bool) -> bytes:
    """A whole completion as a stream of one chunk with everything in it: some providers do not stream all models."""
    document = decode(completion_body)
    usage = document.pop("usage", None)
    choices = [
        {"index": one.get("index", 0), "delta": one.get("message") or {}, "finish_reason": one.get("finish_reason")}
        for one in document["choices"]
    ]
    for one in choices:
        for index, call in enumerate(one["delta"].get("tool_calls") or ()):
            call.setdefault("index", index)
    chunk = {**document, "object": "chat.completion.chunk", "choices": choices}
    events = [chunk]
    if usage and wants_usage:
        events.append({**chunk, "choices": [], "usage": usage})
    return b"".join(b"data: " + orjson.dumps(event) + b"\n\n" for event in events) + DONE


def _answer_id(given: object) -> str:
    return given if isinstance(given, str) and given else f"chatcmpl-{uuid4().hex}"
