"""What the providers' own SDKs say a request is."""

import json
from collections.abc import Iterator
from typing import Any

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming, MessageCreateParamsStreaming
from google.genai import types
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from pydantic import TypeAdapter

Json = dict[str, Any]

# We speak version 2023-06-01 of Anthropic's API, the SDK speaks 2026-10-21, which has no sampling
SAMPLING = ("temperature", "top_p", "top_k")

_ANTHROPIC: dict[bool, TypeAdapter[Any]] = {
    False: TypeAdapter(MessageCreateParamsNonStreaming),
    True: TypeAdapter(MessageCreateParamsStreaming),
}
_OPENAI: dict[bool, TypeAdapter[Any]] = {
    False: TypeAdapter(CompletionCreateParamsNonStreaming),
    True: TypeAdapter(CompletionCreateParamsStreaming),
}
_GEMINI: dict[str, TypeAdapter[Any]] = {
    "contents": TypeAdapter(list[types.Content]),
    "systemInstruction": TypeAdapter(types.Content),
    "tools": TypeAdapter(list[types.Tool]),
    "toolConfig": TypeAdapter(types.ToolConfig),
    "generationConfig": TypeAdapter(types.GenerationConfig),
}


def _read(value: Any) -> Any:
    """Iterables are checked only as they are read, and members a type does not have are gone from what is read."""
    if isinstance(value, dict):
        return {name: _read(member) for name, member in value.items()}
    if isinstance(value, list | tuple | Iterator) or type(value).__name__ == "ValidatorIterator":
        return [_read(member) for member in value]
    return value


def check_anthropic(body: Json) -> None:
    """Raises pydantic.ValidationError, or AssertionError for a member Anthropic does not know."""
    body = {name: value for name, value in body.items() if name not in SAMPLING}
    assert _read(_ANTHROPIC["stream" in body].validate_python(body)) == body


def check_openai(body: Json) -> None:
    assert _read(_OPENAI["stream" in body].validate_python(body)) == body


def check_gemini(body: Json) -> None:
    """The SDK's models forbid members they do not know."""
    for name, value in body.items():
        _GEMINI[name].validate_json(json.dumps(value))


CHECKS = {"openai": check_openai, "anthropic": check_anthropic, "gemini": check_gemini}
