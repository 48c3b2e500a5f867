"""Anthropic's messages as chat messages.

tool_result blocks ──► `tool` messages, which come first │ tool_use ──► `tool_calls` │ thoughts are left out
text, image, document ──► parts of the message
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from routing.errors import GatewayError, invalid_request

Json = dict[str, Any]

THOUGHTS = ("thinking", "redacted_thinking")  # no other model can take them
FAILED = "Error: "  # before the result of a tool that failed, which chat completions have no member for


class MessageReader:
    """Reads one conversation. Raises GatewayError 400 with the place of what a target of `format` cannot be sent."""

    def __init__(self, target_format: str) -> None:
        self.has_cache_marks = False
        self._format = target_format
        self._pictures_in_results = target_format == "gemini"  # elsewhere a `tool` message is text only

    def system(self, system: Any) -> list[Json]:
        """`system` as a message, if there is one."""
        parts = self._parts(system, "system")
        texts = [part["text"] for part in parts if part["type"] == "text"]
        if len(texts) < len(parts):
            raise invalid_request("`system` must be text.", "system")
        return [{"role": "system", "content": "\n\n".join(texts)}] if texts else []

    def message(self, message: Mapping[str, Any], where: str) -> Iterator[Json]:
        """The chat messages that a message becomes."""
        role, content = message["role"], message["content"]
        if role == "assistant":
            yield from self._assistant(content, where)
        elif role == "user":
            yield from self._user(content, where)
        elif role == "system":
            yield from self.system(content)
        else:
            raise invalid_request(f"`{where}.role` must be user or assistant, not {role!r}.", f"{where}.role")

    def _user(self, content: Any, where: str) -> Iterator[Json]:
        if isinstance(content, str):
            yield {"role": "user", "content": content}
            return
        parts: list[Json] = []
        for number, block in enumerate(_blocks(content, f"{where}.content")):
            at = f"{where}.content[{number}]"
            if block.get("type") == "tool_result":
                result, pictures = self._result(block, at)
                yield result
                parts += pictures
            else:
                parts += self._part(block, at)
        if len(parts) == 1 and parts[0]["type"] == "text":
            yield {"role": "user", "content": parts[0]["text"]}
        elif parts:
            yield {"role": "user", "content": parts}

    def _result(self, block: Json, where: str) -> tuple[Json, list[Json]]:
        """A `tool` message, and what of the result must follow in the user's words."""
        self._mark(block)
        call_id = block.get("tool_use_id")
        if not isinstance(call_id, str) or not call_id:
            raise invalid_request(f"`{where}.tool_use_id` is missing.", f"{where}.tool_use_id")
        parts = self._parts(block.get("content"), f"{where}.content")
        texts = [part for part in parts if part["type"] == "text"]
        pictures = [part for part in parts if part["type"] != "text"]
        text = "\n".join([part["text"] for part in texts])
        if block.get("is_error") and not text.lower().startswith("error"):
            text = FAILED + text
        result: Json = {"role": "tool", "tool_call_id": call_id, "content": text}
        if pictures and self._pictures_in_results:
            result["content"] = [_text(text), *pictures] if text else pictures
            return result, []
        if pictures:
            pictures.insert(0, _text(f"The tool call {call_id} gave this:"))
        return result, pictures

    def _assistant(self, content: Any, where: str) -> Iterator[Json]:
        texts, calls = [], []
        for number, block in enumerate(_blocks(content, f"{where}.content")):
            at = f"{where}.content[{number}]"
            self._mark(block)
            kind = block.get("type")
            if kind == "text":
                texts.append(_string(block, "text", at))
            elif kind == "tool_use":
                calls.append(_call(block, at))
            elif kind not in THOUGHTS:
                raise _unknown(kind, at)
        message: Json = {"role": "assistant", "content": "".join(texts) or None}
        if calls:
            message["tool_calls"] = calls
        if message["content"] or calls:
            yield message

    def _parts(self, content: Any, where: str) -> list[Json]:
        if not isinstance(content, str | list | None):
            raise invalid_request(f"`{where}` must be a string or a list of blocks.", where)
        blocks = _blocks(content, where)
        return [part for number, block in enumerate(blocks) for part in self._part(block, f"{where}[{number}]")]

    def _part(self, block: Json, where: str) -> list[Json]:
        kind = block.get("type")
        if kind == "text":
            self._mark(block)
            text = _string(block, "text", where)
            return [_text(text)] if text else []
        source = block.get("source")
        if kind not in ("image", "document") or not isinstance(source, dict):
            raise _unknown(kind, where)
        self._mark(block)
        return [_image(source, where)] if kind == "image" else self._document(block, source, where)

    def _document(self, block: Json, source: Json, where: str) -> list[Json]:
        """Text stays text; a PDF goes as a file, by its URL only to whom fetches files."""
        kind = source.get("type")
        if kind == "text":
            title = block.get("title")
            text = _string(source, "data", f"{where}.source")
            return [_text(f"{title}\n\n{text}" if isinstance(title, str) and title else text)]
        if kind == "content":
            return self._parts(source.get("content"), f"{where}.source.content")
        if kind == "base64":
            data = _string(source, "data", f"{where}.source")
            url = f"data:{source.get('media_type') or 'application/pdf'};base64,{data}"
        elif kind == "url" and self._format == "gemini":
            url = _string(source, "url", f"{where}.source")
        else:
            raise invalid_request(f"A document with a source of type {kind!r} cannot be sent to this target.", where)
        return [{"type": "file", "file": {"filename": "document.pdf", "file_data": url}}]

    def _mark(self, block: Mapping[str, Any]) -> None:
        self.has_cache_marks = self.has_cache_marks or block.get("cache_control") is not None


def _blocks(content: Any, where: str) -> Sequence[Json]:
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    for number, block in enumerate(content):
        if not isinstance(block, dict):
            raise invalid_request(f"`{where}[{number}]` must be an object.", f"{where}[{number}]")
    return content  # type: ignore[no-any-return]  # a list of objects, as was just seen


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _image(source: Json, where: str) -> Json:
    kind = source.get("type")
    if kind == "base64":
        data = _string(source, "data", f"{where}.source")
        url = f"data:{source.get('media_type') or 'image/png'};base64,{data}"
    elif kind == "url":
        url = _string(source, "url", f"{where}.source")
    else:
        raise invalid_request(f"An image with a source of type {kind!r} cannot be sent to this target.", where)
    return {"type": "image_url", "image_url": {"url": url}}


def _call(block: Json, where: str) -> Json:
    arguments = block.get("input")
    if not isinstance(arguments, dict):
        raise invalid_request(f"`{where}.input` must be an object.", f"{where}.input")
    function = {"name": _string(block, "name", where), "arguments": orjson.dumps(arguments).decode()}
    return {"id": _string(block, "id", where), "type": "function", "function": function}


def _string(block: Mapping[str, Any], name: str, where: str) -> str:
    value = block.get(name)
    if not isinstance(value, str):
        raise invalid_request(f"`{where}.{name}` must be a string.", f"{where}.{name}")
    return value


def _unknown(kind: Any, where: str) -> GatewayError:
    return invalid_request(f"`{where}` has type {kind!r}, which this target cannot be sent.", where)
