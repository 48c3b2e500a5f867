"""An answer of Anthropic's Messages API as a chat completion."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import orjson

from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.base import Answer, Usage
from routing.adapters.chat_answer import choice, completion, count, tool_call

FINISH_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "pause_turn": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "tool_use": "tool_calls",
        "refusal": "content_filter",
    }
)


def read_message(document: Mapping[str, Any], target_model: str) -> Answer | Failure:
    """Raises LookupError, TypeError or AttributeError if this is no message."""
    texts, thoughts, calls = [], [], []
    for block in document["content"]:
        match block["type"]:
            case "text":
                texts.append(block["text"])
            case "thinking":
                thoughts.append(block["thinking"])
            case "tool_use":
                calls.append(tool_call(block["id"], block["name"], orjson.dumps(block["input"]).decode()))
    reason = document.get("stop_reason")
    text, reasoning = "".join(texts), "".join(thoughts)
    if not (text or reasoning or calls):
        if reason == "refusal":
            return refused(document)
        if not reason:
            return Failure(kind=Kind.TRANSIENT, message="status 200 with an empty message")
    usage = read_usage(document.get("usage"))
    answer = choice(
        0,
        text=text if text or not (reasoning or calls) else None,
        reasoning=reasoning,
        calls=calls,
        finish_reason=finish_reason(reason, called=bool(calls)),
    )
    told = completion(document.get("id"), document.get("model"), target_model, choices=[answer], usage=usage)
    return Answer(told, usage)


def finish_reason(stop_reason: object, *, called: bool) -> str:
    """OpenAI's word for it. called: the answer calls a tool, which some compatible servers end with `end_turn`."""
    reason = FINISH_REASONS.get(stop_reason, "stop") if isinstance(stop_reason, str) else "stop"
    return "tool_calls" if called and reason == "stop" else reason


def refused(document: Mapping[str, Any]) -> Failure:
    """The model's safety system stopped it before it said anything. document: a message, or the `delta` of its end."""
    details = document.get("stop_details")
    explanation = details.get("explanation") if isinstance(details, dict) else None
    message = explanation if isinstance(explanation, str) and explanation else "the model refused to answer"
    return Failure(kind=Kind.CONTENT_FILTER, message=message, status=200, code="refusal")


def read_usage(usage: Any) -> Usage:
    """Anthropic's `input_tokens` are those that were neither read from nor written to the cache; OpenAI counts all."""
    if not isinstance(usage, dict):
        return Usage()
    cached, written = count(usage.get("cache_read_input_tokens")), count(usage.get("cache_creation_input_tokens"))
    fresh = count(usage.get("input_tokens"))
    details = usage.get("output_tokens_details")
    return Usage(
        input_tokens=None if fresh is None else fresh + (cached or 0) + (written or 0),
        output_tokens=count(usage.get("output_tokens")),
        cached_tokens=cached,
        reasoning_tokens=count(details.get("thinking_tokens")) if isinstance(details, dict) else None,
        written_tokens=written,
    )
