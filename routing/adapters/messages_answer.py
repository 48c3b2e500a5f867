"""A chat completion as a message of Anthropic's Messages API, whole or streamed.

message_start │ content_block_start, _delta …, _stop │ … │ message_delta with stop reason and usage, message_stop
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import orjson

from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.anthropic_blocks import tool_id
from routing.adapters.base import Usage
from routing.adapters.chat_blocks import SAID, Block, BlockKind, BlockStream, read_blocks, stopped_by
from routing.adapters.messages_thoughts import SIGNATURE
from routing.sse import typed_event

Json = dict[str, Any]

STOP_REASONS: Mapping[str, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
DELTAS = {  # Anthropic has no block of its own for a refusal
    BlockKind.THOUGHT: ("thinking_delta", "thinking"),
    BlockKind.TEXT: ("text_delta", "text"),
    BlockKind.REFUSAL: ("text_delta", "text"),
}


def message_of(
    completion: Json, target_model: str, usage: Usage, *, thoughts: bool, stops: Sequence[str] = ()
) -> Json | Failure:
    """Raises LookupError or the like if this is no completion. thoughts: the client asked for them. stops: its own."""
    chosen = completion["choices"][0]
    blocks = read_blocks(chosen["message"])
    called = any(block.kind is BlockKind.CALL for block in blocks)
    reason = chosen.get("finish_reason")
    content = []
    for block in blocks:
        if block.kind is BlockKind.THOUGHT:
            content += [{"type": "thinking", "thinking": block.text, "signature": SIGNATURE}] if thoughts else []
        elif block.kind in SAID:
            content.append({"type": "text", "text": block.text})
        elif (arguments := _arguments(block.text, cut=reason == "length")) is not None:
            content.append(_tool_use(block, arguments))
        else:
            return Failure(kind=Kind.TRANSIENT, message=f"the arguments for tool {block.name} are no JSON object")
    return {
        **_head(completion.get("id"), completion.get("model") or target_model),
        "content": content,
        **_ending(reason, stopped_by(chosen), called=called, stops=stops),
        "usage": usage_of(usage),
    }


def _arguments(text: str, *, cut: bool) -> Json | None:
    """None if they are no object. cut: the answer ran into its limit, so they may be incomplete."""
    try:
        arguments = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {} if cut else None
    return arguments if isinstance(arguments, dict) else None


def _tool_use(block: Block, arguments: Json) -> Json:
    return {"type": "tool_use", "id": tool_id(block.call_id), "name": block.name, "input": arguments}


def _head(answer_id: object, model: object) -> Json:
    given = answer_id if isinstance(answer_id, str) and answer_id else uuid4().hex
    return {
        "id": given if given.startswith("msg_") else f"msg_{given}",
        "type": "message",
        "role": "assistant",
        "model": model,
    }


def stop_reason(finish_reason: object, *, called: bool) -> str:
    """Anthropic's word for it. called: the answer calls a tool, which some servers end with `stop`."""
    reason = STOP_REASONS.get(finish_reason, "end_turn") if isinstance(finish_reason, str) else "end_turn"
    return "tool_use" if called and reason == "end_turn" else reason


def _ending(finish_reason: object, stop: str | None, *, called: bool, stops: Sequence[str]) -> Json:
    """Why the message ends, and by which of the client's stop sequences."""
    reason = stop_reason(finish_reason, called=called)
    if reason == "end_turn" and stop in stops:
        return {"stop_reason": "stop_sequence", "stop_sequence": stop}
    return {"stop_reason": reason, "stop_sequence": None}


def usage_of(usage: Usage) -> Json:
    """Anthropic counts what came from the cache, and what went there, beside the other input; OpenAI counts it within."""
    cached, written = usage.cached_tokens or 0, usage.written_tokens or 0
    return {
        "input_tokens": max(0, (usage.input_tokens or 0) - cached - written),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
        "output_tokens": usage.output_tokens or 0,
    }


class MessageStream(BlockStream):
    """Writes a message's events."""

    def __init__(self, target_model: str, *, thoughts: bool, stops: Sequence[str] = ()) -> None:
        super().__init__()
        self._stops = stops
        self._target_model = target_model
        self._thoughts = thoughts
        self._hidden = 0  # blocks the client does not get

    def begin(self, answer_id: object, model: object) -> bytes:
        """`message_start`. The input is counted only at the end."""
        message = {
            **_head(answer_id, model or self._target_model),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage_of(Usage()),
        }
        return typed_event("message_start", {"message": message})

    def opened(self, block: Block) -> bytes:
        """`content_block_start`."""
        if self._hides(block):
            self._hidden += 1
            return b""
        if block.kind is BlockKind.CALL:
            start = _tool_use(block, {})
        elif block.kind in SAID:
            start = {"type": "text", "text": ""}
        else:
            start = {"type": "thinking", "thinking": "", "signature": ""}
        return typed_event("content_block_start", {"index": block.number - self._hidden, "content_block": start})

    def said(self, block: Block, piece: str) -> bytes:
        """`content_block_delta`."""
        if self._hides(block):
            return b""
        kind, member = DELTAS.get(block.kind, ("input_json_delta", "partial_json"))
        return self._delta(block, {"type": kind, member: piece})

    def closed(self, block: Block) -> bytes:
        """`content_block_stop`."""
        if self._hides(block):
            return b""
        signed = b""
        if block.kind is BlockKind.THOUGHT:
            signed = self._delta(block, {"type": "signature_delta", "signature": SIGNATURE})
        return signed + typed_event("content_block_stop", {"index": block.number - self._hidden})

    def ended(self, usage: Usage) -> bytes:
        """`message_delta` and `message_stop`."""
        delta = _ending(self.finish_reason, self.stopped_by, called=self.called, stops=self._stops)
        return typed_event("message_delta", {"delta": delta, "usage": usage_of(usage)}) + typed_event(
            "message_stop", {}
        )

    def _hides(self, block: Block) -> bool:
        return block.kind is BlockKind.THOUGHT and not self._thoughts

    def _delta(self, block: Block, delta: Json) -> bytes:
        return typed_event("content_block_delta", {"index": block.number - self._hidden, "delta": delta})


def replay_message(message: Json) -> bytes:
    """A whole message as the events of a stream."""
    start = {**message, "content": [], "stop_reason": None, "stop_sequence": None}
    events = [typed_event("message_start", {"message": start})]
    for index, block in enumerate(message["content"]):
        opening, deltas = _as_deltas(block)
        events.append(typed_event("content_block_start", {"index": index, "content_block": opening}))
        events += [typed_event("content_block_delta", {"index": index, "delta": delta}) for delta in deltas]
        events.append(typed_event("content_block_stop", {"index": index}))
    ending = {name: message.get(name) for name in ("stop_reason", "stop_sequence")}
    events.append(typed_event("message_delta", {"delta": ending, "usage": message.get("usage") or {}}))
    return b"".join([*events, typed_event("message_stop", {})])


def _as_deltas(block: Json) -> tuple[Json, list[Json]]:
    """How a block begins, and what follows; blocks that never come in pieces come whole."""
    match block.get("type"):
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        case "thinking":
            thought = {"type": "thinking_delta", "thinking": block["thinking"]}
            signature = {"type": "signature_delta", "signature": block.get("signature", "")}
            return {**block, "thinking": "", "signature": ""}, [thought, signature]
        case "tool_use" | "server_tool_use":
            arguments = orjson.dumps(block["input"]).decode()
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": arguments}]
        case _:
            return block, []
