"""An answer of Gemini's generateContent as a chat completion, and what its candidates have in common with a stream's."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson

from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.base import Answer, Usage
from routing.adapters.chat_answer import choice, completion, count, tool_call

FINISH_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "STOP": "stop",
        "MAX_TOKENS": "length",
        "CONTINUATION": "length",
        "SAFETY": "content_filter",
        "RECITATION": "content_filter",
        "LANGUAGE": "content_filter",
        "BLOCKLIST": "content_filter",
        "PROHIBITED_CONTENT": "content_filter",
        "SPII": "content_filter",
        "IMAGE_SAFETY": "content_filter",
        "IMAGE_PROHIBITED_CONTENT": "content_filter",
        "IMAGE_RECITATION": "content_filter",
        "MODEL_ARMOR": "content_filter",
        "ESCALATION": "content_filter",
    }
)
BROKEN = frozenset(  # the model or its server got lost: an answer that ends so is none
    {
        "OTHER",
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
        "NO_IMAGE",
        "IMAGE_OTHER",
    }
)
UNSPECIFIED = (None, "", "FINISH_REASON_UNSPECIFIED")


class Piece(NamedTuple):
    """Of what a candidate says: `member` is content, reasoning_content or tool_calls (then a call without its id)."""

    member: str
    text: str = ""
    call: Mapping[str, Any] = MappingProxyType({})


def read_candidates(document: Mapping[str, Any], answer_id: str, target_model: str) -> Answer | Failure:
    """answer_id: names the answer, also if it does not itself. Raises AttributeError or the like if it is no answer."""
    candidates = document.get("candidates")
    if not candidates:
        return blocked(document) or Failure(kind=Kind.TRANSIENT, message="status 200 without candidates")
    choices, said_nothing = [], []
    for candidate in candidates:
        read = _choice(candidate, answer_id)
        if isinstance(read, Failure):
            return read
        choices.append(read)
        if not any(read["message"].get(name) for name in ("content", "reasoning_content", "tool_calls")):
            said_nothing.append(read["finish_reason"])
    if len(said_nothing) == len(choices) and (failure := empty(said_nothing)):
        return failure
    usage = read_usage(document.get("usageMetadata"))
    told = completion(answer_id, document.get("modelVersion"), target_model, choices=choices, usage=usage)
    return Answer(told, usage)


def _choice(candidate: Mapping[str, Any], answer_id: str) -> dict[str, Any] | Failure:
    reason = candidate.get("finishReason")
    if reason in BROKEN:
        return broken(reason)
    index, said = candidate.get("index", 0), {"content": "", "reasoning_content": ""}
    calls: list[dict[str, Any]] = []
    for piece in pieces(candidate):
        if piece.member == "tool_calls":
            calls.append(with_id(piece.call, answer_id, index, len(calls)))
        else:
            said[piece.member] += piece.text
    return choice(
        index,
        text=said["content"] or None,
        reasoning=said["reasoning_content"],
        calls=calls,
        finish_reason=finish_reason(reason, called=bool(calls)),
    )


def pieces(candidate: Mapping[str, Any]) -> Iterator[Piece]:
    """What a candidate says, in order; one part may hold both text and a call."""
    content = candidate.get("content")
    for part in (content or {}).get("parts") or ():
        if isinstance(text := part.get("text"), str) and text:
            yield Piece("reasoning_content" if part.get("thought") else "content", text)
        if call := part.get("functionCall"):
            yield Piece("tool_calls", call={**call, "signature": part.get("thoughtSignature")})


def with_id(call: Mapping[str, Any], answer_id: str, index: int, number: int) -> dict[str, Any]:
    """A call as chat completions have it. Gemini rarely names its calls; an invented id is the same each time.

    At most 40 characters, which is all that OpenAI takes when the conversation moves there.
    """
    invented = f"call_{sha256(f'{answer_id} {index} {number}'.encode()).hexdigest()[:24]}"
    translated = tool_call(call.get("id") or invented, call["name"], orjson.dumps(call.get("args") or {}).decode())
    if signature := call.get("signature"):
        translated["extra_content"] = {"google": {"thought_signature": signature}}
    return translated


def finish_reason(reason: object, *, called: bool) -> str:
    """OpenAI's word for it. called: the candidate calls a tool, for which Gemini has no reason of its own."""
    known = FINISH_REASONS.get(reason, "stop") if isinstance(reason, str) else "stop"
    return "tool_calls" if called and known == "stop" else known


def blocked(document: Mapping[str, Any]) -> Failure | None:
    """The prompt did not pass Google's safety system."""
    feedback = document.get("promptFeedback")
    reason = feedback.get("blockReason") if isinstance(feedback, dict) else None
    if not reason:
        return None
    message = feedback.get("blockReasonMessage") if isinstance(feedback, dict) else None
    text = message if isinstance(message, str) and message else f"the prompt was blocked: {reason}"
    return Failure(kind=Kind.CONTENT_FILTER, message=text, status=200, code=str(reason))


def broken(reason: object) -> Failure:
    """The answer ended in a way that leaves nothing to use."""
    return Failure(kind=Kind.TRANSIENT, message=f"the answer broke off: {reason}", status=200, code=str(reason))


def empty(finish_reasons: list[str]) -> Failure | None:
    """Nothing was said in any candidate; None if that is the proper end of an answer (all its tokens were thoughts)."""
    if "content_filter" in finish_reasons:
        message = "the answer was blocked by the provider's safety system"
        return Failure(kind=Kind.CONTENT_FILTER, message=message, status=200, code="content_filter")
    if "length" in finish_reasons:
        return None
    return Failure(kind=Kind.TRANSIENT, message="status 200 with an empty message")


def read_usage(usage: Any) -> Usage:
    """Gemini counts thoughts beside the answer and what tools put into the prompt beside it; OpenAI counts all."""
    if not isinstance(usage, dict):
        return Usage()
    prompt, tools = count(usage.get("promptTokenCount")), count(usage.get("toolUsePromptTokenCount"))
    said, thought = count(usage.get("candidatesTokenCount")), count(usage.get("thoughtsTokenCount"))
    return Usage(
        input_tokens=None if prompt is None else prompt + (tools or 0),
        output_tokens=None if said is None and thought is None else (said or 0) + (thought or 0),
        cached_tokens=count(usage.get("cachedContentTokenCount")),
        reasoning_tokens=thought,
    )
