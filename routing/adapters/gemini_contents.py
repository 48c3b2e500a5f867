"""Turns as Gemini's contents and parts."""

from collections.abc import Sequence
from typing import Any

import orjson

from routing.adapters.conversation import Call, Result, Turn
from routing.adapters.parts import Media, Text
from routing.errors import invalid_request

ROLES = {"user": "user", "assistant": "model"}

# What Google tells to send for calls that another model made: newer Geminis answer 400 to a call without a signature.
# https://ai.google.dev/gemini-api/docs/thought-signatures
FOREIGN_SIGNATURE = "skip_thought_signature_validator"

MEDIA_TYPES = {  # of files Gemini fetches itself, by the end of their URL: it wants to be told
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "heic": "image/heic",
    "heif": "image/heif",
    "pdf": "application/pdf",
    "mp4": "video/mp4",
    "mp3": "audio/mp3",
    "wav": "audio/wav",
}

Content = dict[str, Any]


def contents(turns: Sequence[Turn], *, signatures: bool) -> list[Content]:
    """Raises GatewayError 400 for what has no part. signatures: the model wants one with the first call of a turn."""
    built: list[Content] = []
    for turn in turns:
        results: list[Content] = []
        parts: list[Content] = []
        for part in turn.parts:
            if isinstance(part, Result):
                results += _result(part)
            else:
                parts.append(_part(part))
        if results:  # by themselves: as many responses as there were calls, next to them
            built.append({"role": "user", "parts": results})
        if signatures and turn.role == "assistant":
            _sign(parts)
        if parts:
            built.append({"role": ROLES[turn.role], "parts": parts})
    return built


def _part(part: Text | Media | Call) -> Content:
    if isinstance(part, Text):
        return {"text": part.text}
    if isinstance(part, Call):
        call: Content = {"functionCall": {"id": part.id, "name": part.name, "args": part.arguments}}
        if part.signature:
            call["thoughtSignature"] = part.signature
        return call
    return _media(part)


def _sign(parts: list[Content]) -> None:
    """The first of parallel calls carries the signature of them all."""
    for part in parts:
        if "functionCall" in part:
            part.setdefault("thoughtSignature", FOREIGN_SIGNATURE)
            return


def _result(result: Result) -> list[Content]:
    if not result.name:
        raise invalid_request(
            "No call with this `tool_call_id` came before.", f"messages[{result.message}].tool_call_id"
        )
    response: dict[str, Any] = {"id": result.call_id, "name": result.name}
    if len(result.parts) == 1 and isinstance(only := result.parts[0], Text):  # nearly every one
        response["response"] = _object(only.text)
        return [{"functionResponse": response}]
    response["response"] = _object("\n".join([part.text for part in result.parts if isinstance(part, Text)]))
    return [{"functionResponse": response}, *[_media(part) for part in result.parts if isinstance(part, Media)]]


def _object(text: str) -> dict[str, Any]:
    """Gemini takes objects only; what is none stands under `output`, its name for what a function gave."""
    if text.startswith("{"):
        try:
            document = orjson.loads(text)
        except orjson.JSONDecodeError:
            return {"output": text}
        if isinstance(document, dict):
            return document
    return {"output": text}


def _media(media: Media) -> Content:
    if not media.url:
        return {"inlineData": {"mimeType": media.media_type, "data": media.data}}
    ending = media.url.partition("?")[0].rpartition(".")[2].lower()
    if ending not in MEDIA_TYPES:
        raise invalid_request(
            f"The media type of `{media.where}` cannot be told from its URL, and this target wants to know it:"
            " send a data: URL.",
            media.where,
        )
    return {"fileData": {"mimeType": MEDIA_TYPES[ending], "fileUri": media.url}}
