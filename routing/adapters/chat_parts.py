"""Parts of chat messages as written for a client of another format; `parts.py` reads them."""

from collections.abc import Mapping, Sequence
from typing import Any

from routing.errors import GatewayError, invalid_request

Json = dict[str, Any]


def text_part(text: str) -> Json:
    """Words."""
    return {"type": "text", "text": text}


def file_part(name: str, data: str) -> Json:
    """A file. data: its data URL, or where a target that fetches files finds it."""
    return {"type": "file", "file": {"filename": name, "file_data": data}}


def shown_for(call_id: str, pictures: Sequence[Json]) -> list[Json]:
    """A result's pictures as the user's words, where a `tool` message is text only."""
    return [text_part(f"The tool call {call_id} gave this:"), *pictures]


def content_of(parts: Sequence[Json]) -> Any:
    """One text is a string, which every server understands."""
    if not parts:
        return ""
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else list(parts)


def required_text(given: Mapping[str, Any], name: str, where: str) -> str:
    """A member that must be a string. Raises GatewayError 400."""
    value = given.get(name)
    if not isinstance(value, str):
        raise invalid_request(f"`{where}.{name}` must be a string.", f"{where}.{name}")
    return value


def unknown_type(kind: Any, where: str) -> GatewayError:
    """What to raise for a part, a block or an item that chat completions have nothing for."""
    return invalid_request(f"`{where}` has type {kind!r}, which this target cannot be sent.", where)
