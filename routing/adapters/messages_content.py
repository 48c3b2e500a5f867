"""Anthropic's messages as chat messages.

tool_result blocks ──► `tool` messages, which come first │ tool_use ──► `tool_calls` │ thoughts are left out
text, image, document, search_result ──► parts of the message
"""

from collections.abc import Mapping, Sequence
from typing import Any

from routing.adapters.base import encode
from routing.adapters.chat_parts import content_of, file_part, required_text, shown_for, text_part, unknown_type
from routing.errors import GatewayError, invalid_request

Json = dict[str, Any]

THOUGHTS = ("thinking", "redacted_thinking")  # no other model can take them
CITED = ("document", "search_result")  # blocks whose words an answer may be asked to cite
FAILED = "Error: "  # before the result of a tool that failed, which chat completions have no member for


class MessageReader:
    """Reads one conversation. Raises GatewayError 400 with the place of what a target of `format` cannot be sent.

    Places in the request are written out for complaints only.
    """

    def __init__(self, target_format: str) -> None:
        self.left_out: set[str] = set()  # members of blocks that chat completions have no word for
        self._number = -1  # of the message
        self._format = target_format
        self._pictures_in_results = target_format == "gemini"  # elsewhere a `tool` message is text only
        self._arguments_as_text = target_format != "gemini"  # which takes objects, as they are here

    def read(self, system: Any, messages: Sequence[Mapping[str, Any]]) -> list[Json]:
        """The chat messages that the instructions and messages become."""
        said = self._system(system, "system")
        for message in messages:
            self._number += 1
            said += self._message(message)
        return said

    def _at(self, member: str) -> str:
        return f"messages[{self._number}].{member}"

    def _system(self, system: Any, where: str) -> list[Json]:
        parts = self._parts(system, where)
        texts = [part["text"] for part in parts if part["type"] == "text"]
        if len(texts) < len(parts):
            raise invalid_request(f"`{where}` must be text.", where)
        return [{"role": "system", "content": "\n\n".join(texts)}] if texts else []

    def _message(self, message: Mapping[str, Any]) -> list[Json]:
        role, content = message["role"], message["content"]
        if role == "assistant":
            return self._assistant(content)
        if role == "user":
            return self._user(content)
        if role == "system":
            return self._system(content, self._at("content"))
        where = self._at("role")
        raise invalid_request(f"`{where}` must be user or assistant, not {role!r}.", where)

    def _user(self, content: Any) -> list[Json]:
        if isinstance(content, str):
            return [{"role": "user", "content": content}]
        said: list[Json] = []
        parts: list[Json] = []
        for number, block in enumerate(content):
            if self._kind(block) == "tool_result":
                result, pictures = self._result(block, number)
                said.append(result)
                parts += pictures
            else:
                parts += self._part(block, self._at(f"content[{number}]"))
        if parts:
            said.append({"role": "user", "content": content_of(parts)})
        return said

    def _kind(self, block: Any) -> Any:
        """A block's type, None for what is no block; whether one is marked for the cache is kept."""
        if not isinstance(block, dict):
            return None
        if block.get("cache_control") is not None:
            self.left_out.add("cache_control")
        return block.get("type")

    def _result(self, block: Json, number: int) -> tuple[Json, list[Json]]:
        """A `tool` message, and what of the result must follow in the user's words."""
        call_id = block.get("tool_use_id")
        if not isinstance(call_id, str) or not call_id:
            where = self._at(f"content[{number}].tool_use_id")
            raise invalid_request(f"`{where}` is missing.", where)
        text, pictures = self._given(block.get("content"), number)
        if block.get("is_error") and not text.lower().startswith("error"):
            text = FAILED + text
        result: Json = {"role": "tool", "tool_call_id": call_id, "content": text}
        if pictures and self._pictures_in_results:
            result["content"] = [text_part(text), *pictures] if text else pictures
            return result, []
        return result, shown_for(call_id, pictures) if pictures else []

    def _given(self, content: Any, number: int) -> tuple[str, list[Json]]:
        """What is text in a tool's result, and what is not."""
        if isinstance(content, str):  # nearly every one
            return content, []
        parts = self._parts(content, self._at(f"content[{number}].content"))
        texts = [part["text"] for part in parts if part["type"] == "text"]
        return "\n".join(texts), [part for part in parts if part["type"] != "text"]

    def _assistant(self, content: Any) -> list[Json]:
        if isinstance(content, str):
            return [{"role": "assistant", "content": content}] if content else []
        texts, calls = [], []
        for number, block in enumerate(content):
            kind = self._kind(block)
            if kind == "text":
                texts.append(self._text(block, "text", number))
            elif kind == "tool_use":
                calls.append(self._call(block, number))
            elif kind not in THOUGHTS:
                raise _unknown(block, self._at(f"content[{number}]"))
        text = "".join(texts) or None
        if calls:
            return [{"role": "assistant", "content": text, "tool_calls": calls}]
        return [{"role": "assistant", "content": text}] if text else []

    def _text(self, block: Json, name: str, number: int) -> str:
        value = block.get(name)
        return value if isinstance(value, str) else required_text(block, name, self._at(f"content[{number}]"))

    def _call(self, block: Json, number: int) -> Json:
        call_id, name = self._text(block, "id", number), self._text(block, "name", number)
        arguments: Any = block.get("input")
        if not isinstance(arguments, dict):
            where = self._at(f"content[{number}].input")
            raise invalid_request(f"`{where}` must be an object.", where)
        if self._arguments_as_text:
            arguments = encode(arguments).decode()
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}

    def _parts(self, content: Any, where: str) -> list[Json]:
        if not content:
            return []
        if isinstance(content, str):
            return [text_part(content)]
        if not isinstance(content, list):
            raise invalid_request(f"`{where}` must be a string or a list of blocks.", where)
        return [part for number, block in enumerate(content) for part in self._part(block, f"{where}[{number}]")]

    def _part(self, block: Any, where: str) -> list[Json]:
        kind = self._kind(block)
        if kind == "text":
            text = required_text(block, "text", where)
            return [text_part(text)] if text else []
        if kind in CITED and (citations := block.get("citations")) and citations != {"enabled": False}:
            self.left_out.add("citations")
        if kind == "search_result":
            return self._search_result(block, where)
        source = block.get("source") if kind in ("image", "document") else None
        if not isinstance(source, dict):
            raise _unknown(block, where)
        return [_image(source, where)] if kind == "image" else self._document(block, source, where)

    def _search_result(self, block: Json, where: str) -> list[Json]:
        """What was found, under its title and where."""
        found = [required_text(block, name, where) for name in ("title", "source")]
        texts = [part["text"] for part in self._parts(block.get("content"), f"{where}.content") if "text" in part]
        return [text_part("\n".join([*found, "", *texts]))]

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


def _unknown(block: Any, where: str) -> GatewayError:
    if not isinstance(block, dict):
        return invalid_request(f"`{where}` must be an object.", where)
    return unknown_type(block.get("type"), where)


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
