"""Parts of a chat message's content, read and checked: text, pictures, sound and files."""

from base64 import b64encode
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from routing.adapters.chat_parts import unknown_type
from routing.errors import invalid_request

MEDIA_TYPES = {"image/jpg": "image/jpeg", "audio/mpeg": "audio/mp3"}  # as clients write them: as providers know them
UNSPOKEN = ("thinking", "redacted_thinking", "reasoning")  # an assistant's own thoughts, which no other model can take


@dataclass(slots=True)
class Text:
    """Never empty. `cache` is Anthropic's `cache_control`, which some clients send along."""

    text: str
    cache: Any = None


@dataclass(slots=True)
class Media:
    """Something that is not text: `data` in base64 with its `media_type`, or the `url` it can be fetched from."""

    media_type: str
    data: str
    url: str
    where: str  # in the request, for complaints
    cache: Any = None


def read_parts(content: Any, where: str) -> list[Text | Media]:
    """A message's `content` without what is empty. Raises GatewayError 400 with `where` as `param`."""
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(content)] if content.strip() else []
    if not isinstance(content, list):
        raise invalid_request(f"`{where}` must be a string or a list of parts.", where)
    parts = [read_part(part, f"{where}[{number}]") for number, part in enumerate(content)]
    return [part for part in parts if part is not None]


def read_part(part: Any, where: str) -> Text | Media | None:
    """One part; None if there is nothing in it. Raises GatewayError 400."""
    if isinstance(part, str):
        return Text(part) if part.strip() else None
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in ("text", "input_text", "output_text", "refusal"):
        text = part.get("refusal" if kind == "refusal" else "text")
        if not isinstance(text, str):
            raise invalid_request(f"`{where}.text` must be a string.", where)
        return Text(text, part.get("cache_control")) if text.strip() else None
    if kind in UNSPOKEN:
        return None
    if kind == "image_url":
        return _fetched(part.get("image_url"), "url", part, where)
    if kind == "file":
        return _fetched(part.get("file"), "file_data", part, where)
    if kind == "input_audio":
        return _audio(part.get("input_audio"), part, where)
    raise unknown_type(kind, where)


def _fetched(value: Any, member: str, part: dict[str, Any], where: str) -> Media:
    """A picture or file given by a URL, which mostly is its data."""
    url = value.get(member) if isinstance(value, dict) else value
    if not isinstance(url, str) or not url:
        raise invalid_request(f"`{where}` has no `{member}`, and this target can be sent nothing else.", where)
    if url[:5].lower() == "data:":
        media_type, data = _data_url(url, where)
        return Media(media_type, data, "", where, part.get("cache_control"))
    if url[:4].lower() != "http":
        raise invalid_request(f"`{where}` must be a data: or http(s): URL.", where)
    return Media("", "", url, where, part.get("cache_control"))


def _data_url(url: str, where: str) -> tuple[str, str]:
    """Media type and base64 data of a data URL (RFC 2397), whose data may also be percent-encoded."""
    head, comma, data = url[5:].partition(",")
    media_type, *parameters = head.split(";")
    media_type = media_type.strip().lower()
    if not comma or not data or "/" not in media_type:
        raise invalid_request(f"`{where}` is a data URL without a media type or data.", where)
    if "base64" not in (parameter.strip().lower() for parameter in parameters):
        data = b64encode(unquote_to_bytes(data)).decode()
    return MEDIA_TYPES.get(media_type, media_type), data


def _audio(value: Any, part: dict[str, Any], where: str) -> Media:
    data, sound = (value.get("data"), value.get("format")) if isinstance(value, dict) else (None, None)
    if not isinstance(data, str) or not data or not isinstance(sound, str):
        raise invalid_request(f"`{where}.input_audio` needs `data` and `format`.", where)
    return Media(f"audio/{sound.lower()}", data, "", where, part.get("cache_control"))
