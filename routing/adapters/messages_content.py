"""Anthropic's messages as chat messages.

tool_result blocks ──► `tool` messages, which come first │ tool_use ──► `tool_calls` │ thoughts are left out
text, image, document ──► parts of the message
"""

from collections.abc import Mapping
from typing import Any

from routing.adapters.base import encode
from routing.adapters.chat_parts import content_of, file_part, required_text, shown_for, text_part, unknown_type
from routing.errors import invalid_request

Json = dict[str, Any]

THOUGHTS = ("thinking", "redacted_thinking")  # no other model can take them
FAILED = "Error: "  # before the result of a tool that failed, which chat completions have no member for


class MessageReader:
    """Reads one conversation. Raises GatewayError 400 with the place of what a target of `format` cannot be sent."""

    def __init__(self, target_format: str) -> None:
        self.has_cache_marks = False
        self._format = target_format
        self._pictures_in_results = target_format == "gemini"  # elsewhere a `tool` message is text only
        self._arguments_as_text = target_format != "gemini"  # which takes objects, as they are here

    def system(self, system: Any) -> list[Json]:
        """`system` as a message, if there is one."""
        parts = self._parts(system, "system")
        texts = [part["text"] for part in parts if part["type"] == "text"]
        if len(texts) < len(parts):
            raise invalid_request("`system` must be text.", "system")
        return [{"role": "system", "content": "\n\n".join(texts)}] if texts else []

    def message(self, message: Mapping[str, Any], where: str) -> list[Json]:
        """The chat messages that a message becomes."""
        role, content = message["role"], message["content"]
        if role == "assistant":
            return self._assistant(content, where)
        if role == "user":
            return self._user(content, where)
        if role == "system":
            return self.system(content)
        raise invalid_request(f"`{where}.role` must be user or assistant, not {role!r}.", f"{where}.role")

    def _user(self, content: Any, where: str) -> list[Json]:
        if isinstance(content, str):
            return [{"role": "user", "content": content}]
        said: list[Json] = []
        parts: list[Json] = []
        for number, block in enumerate(self._blocks(content, f"{where}.content")):
            at = f"{where}.content[{number}]"
            if block.get("type") == "tool_result":
                result, pictures = self._result(block, at)
                said.append(result)
                parts += pictures
            else:
                parts += self._part(block, at)
        if parts:
            said.append({"role": "user", "content": content_of(parts)})
        return said

    def _result(self, block: Json, where: str) -> tuple[Json, list[Json]]:
        """A `tool` message, and what of the result must follow in the user's words."""
        call_id = block.get("tool_use_id")
        if not isinstance(call_id, str) or not call_id:
            raise invalid_request(f"`{where}.tool_use_id` is missing.", f"{where}.tool_use_id")
        text, pictures = self._given(block.get("content"), where)
        if block.get("is_error") and not text.lower().startswith("error"):
            text = FAILED + text
        result: Json = {"role": "tool", "tool_call_id": call_id, "content": text}
        if pictures and self._pictures_in_results:
            result["content"] = [text_part(text), *pictures] if text else pictures
            return result, []
        return result, shown_for(call_id, pictures) if pictures else []

    def _given(self, content: Any, where: str) -> tuple[str, list[Json]]:
        """What is text in a tool's result, and what is not."""
        if isinstance(content, str):  # nearly every one
            return content, []
        parts = self._parts(content, f"{where}.content")
        texts = [part["text"] for part in parts if part["type"] == "text"]
        return "\n".join(texts), [part for part in parts if part["type"] != "text"]

    def _assistant(self, content: Any, where: str) -> list[Json]:
        texts, calls = [], []
        for number, block in enumerate(self._blocks(content, f"{where}.content")):
            at = f"{where}.content[{number}]"
            kind = block.get("type")
            if kind == "text":
                texts.append(required_text(block, "text", at))
            elif kind == "tool_use":
                calls.append(self._call(block, at))
            elif kind not in THOUGHTS:
                raise unknown_type(kind, at)
        message: Json = {"role": "assistant", "content": "".join(texts) or None}
        if calls:
            message["tool_calls"] = calls
        return [message] if message["content"] or calls else []

    def _call(self, block: Json, where: str) -> Json:
        arguments: Any = block.get("input")
        if not isinstance(arguments, dict):
            raise invalid_request(f"`{where}.input` must be an object.", f"{where}.input")
        if self._arguments_as_text:
            arguments = encode(arguments).decode()
        function = {"name": required_text(block, "name", where), "arguments": arguments}
        return {"id": required_text(block, "id", where), "type": "function", "function": function}

    def _parts(self, content: Any, where: str) -> list[Json]:
        if not isinstance(content, str | list | None):
            raise invalid_request(f"`{where}` must be a string or a list of blocks.", where)
        blocks = self._blocks(content, where)
        return [part for number, block in enumerate(blocks) for part in self._part(block, f"{where}[{number}]")]

    def _part(self, block: Json, where: str) -> list[Json]:
        kind = block.get("type")
        if kind == "text":
            text = required_text(block, "text", where)
            return [text_part(text)] if text else []
        source = block.get("source")
        if kind not in ("image", "document") or not isinstance(source, dict):
            raise unknown_type(kind, where)
        return [_image(source, where)] if kind == "image" else self._document(block, source, where)

    def _document(self, block: Json, source: Json, where: str) -> list[Json]:
        """Text stays text; a PDF goes as a file, by its URL only to whom fetches files."""
        kind = source.get("type")
        if kind == "text":
            title = block.get("title")
            text = required_text(source, "data", f"{where}.source")
            return [text_part(f"{title}\n\n{text}" if isinstance(title, str) and title else text)]
        if kind == "content":
            return self._parts(source.get("content"), f"{where}.source.content")
        if kind == "base64":
            data = required_text(source, "data", f"{where}.source")
            url = f"data:{source.get('media_type') or 'application/pdf'};base64,{data}"
        elif kind == "url" and self._format == "gemini":
            url = required_text(source, "url", f"{where}.source")
        else:
            raise invalid_request(f"A document with a source of type {kind!r} cannot be sent to this target.", where)
        return [file_part("document.pdf", url)]

    def _blocks(self, content: Any, where: str) -> list[Json]:
        """A content's blocks, each an object; whether one is marked for the cache is kept."""
        if content is None:
            return []
        if isinstance(content, str):
            return [text_part(content)]
        for number, block in enumerate(content):
            if not isinstance(block, dict):
                raise invalid_request(f"`{where}[{number}]` must be an object.", f"{where}[{number}]")
            if block.get("cache_control") is not None:
                self.has_cache_marks = True
        blocks: list[Json] = content
        return blocks


def _image(source: Json, where: str) -> Json:
    kind = source.get("type")
    if kind == "base64":
        data = required_text(source, "data", f"{where}.source")
        url = f"data:{source.get('media_type') or 'image/png'};base64,{data}"
    elif kind == "url":
        url = required_text(source, "url", f"{where}.source")
    else:
        raise invalid_request(f"An image with a source of type {kind!r} cannot be sent to this target.", where)
    return {"type": "image_url", "image_url": {"url": url}}
