"""The input of a Responses request as chat messages.

message ──► a message │ function_call ──► `tool_calls` of the assistant's message │ function_call_output ──► `tool`
reasoning is left out │ what only the provider that holds it could look up is refused
"""

from collections.abc import Sequence
from typing import Any

from routing.adapters.chat_parts import content_of, file_part, required_text, shown_for, text_part, unknown_type
from routing.adapters.conversation import read_arguments
from routing.errors import invalid_request

Json = dict[str, Any]

TEXTS = ("input_text", "output_text", "text")
DETAILS = {"original": "high"}  # what chat completions have no word for


class InputReader:
    """Reads items into `messages`. Raises GatewayError 400 with the place of what a target of `format` cannot be sent.

    Places in the request are written out for complaints only.
    """

    def __init__(self, target_format: str) -> None:
        self.messages: list[Json] = []
        self.has_thoughts = False
        self._number = -1  # of the item
        self._foreign = target_format in ("anthropic", "gemini")  # who take objects as arguments, and fetch files
        self._pictures: list[Json] = []  # of results, where `tool` messages are text only; they follow the last result

    def read(self, instructions: str | None, given: Any) -> None:
        """Everything, in its order."""
        if instructions:
            self.messages.append({"role": "system", "content": instructions})
        if isinstance(given, str):
            self.messages.append({"role": "user", "content": given})
            return
        for item in given:
            self._number += 1
            self._item(item)
        self._show_pictures()

    def _at(self, member: str = "") -> str:
        return f"input[{self._number}]{member}"

    def _item(self, item: Json) -> None:
        kind = item.get("type") or "message"
        if kind == "function_call_output":
            self._output(item)
            return
        if self._pictures:
            self._show_pictures()
        if kind == "message":
            self._message(item)
        elif kind == "function_call":
            self._assistant().setdefault("tool_calls", []).append(self._call(item))
        elif kind == "reasoning":
            self.has_thoughts = True
        elif kind == "item_reference":
            where = self._at()
            raise invalid_request(f"`{where}` refers to what only its provider has: send the item itself.", where)
        else:
            raise unknown_type(kind, self._at())

    def _message(self, item: Json) -> None:
        role, content = item.get("role"), item.get("content")
        text = _lone_text(content)
        if role == "user":
            if given := text if text is not None else content_of(self._parts(content, self._at(".content"))):
                self.messages.append({"role": "user", "content": given})
        elif role in ("assistant", "system", "developer"):
            if text is None:
                text = _text_only(self._parts(content, self._at(".content")), self._at(".content"))
            if text:
                self._add_text(role, text)
        else:
            where = self._at(".role")
            raise invalid_request(f"`{where}` must be user, assistant, system or developer, not {role!r}.", where)

    def _add_text(self, role: str, text: str) -> None:
        if role != "assistant":
            self.messages.append({"role": "system", "content": text})  # `developer` is a word of OpenAI's own hosts
            return
        message = self._assistant()
        message["content"] = f"{message['content']}\n\n{text}" if message["content"] else text

    def _assistant(self) -> Json:
        """The assistant's message that goes on: what it said and called in one turn is one message."""
        if not self.messages or self.messages[-1]["role"] != "assistant":
            self.messages.append({"role": "assistant", "content": None})
        return self.messages[-1]

    def _text(self, item: Json, name: str) -> str:
        value = item.get(name)
        return value if isinstance(value, str) else required_text(item, name, self._at())

    def _call(self, item: Json) -> Json:
        call_id, name, arguments = self._text(item, "call_id"), self._text(item, "name"), self._text(item, "arguments")
        given: Any = read_arguments(arguments, self._at(".arguments")) if self._foreign else arguments
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": given}}

    def _output(self, item: Json) -> None:
        call_id, output = self._text(item, "call_id"), item.get("output")
        if (text := _lone_text(output)) is not None:
            self.messages.append({"role": "tool", "tool_call_id": call_id, "content": text})
            return
        parts = self._parts(output, self._at(".output"))
        shown = [part for part in parts if part["type"] != "text"]
        if shown and not self._foreign:
            parts = [part for part in parts if part["type"] == "text"]
            self._pictures += shown_for(call_id, shown)
        self.messages.append({"role": "tool", "tool_call_id": call_id, "content": content_of(parts)})

    def _show_pictures(self) -> None:
        if self._pictures:
            self.messages.append({"role": "user", "content": self._pictures})
            self._pictures = []

    def _parts(self, content: Any, where: str) -> list[Json]:
        if not isinstance(content, list):
            raise invalid_request(f"`{where}` must be a string or a list of parts.", where)
        return [self._part(part, f"{where}[{number}]") for number, part in enumerate(content)]

    def _part(self, part: Any, where: str) -> Json:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in TEXTS:
            return text_part(required_text(part, "text", where))
        if kind == "refusal":
            return text_part(required_text(part, "refusal", where))
        if kind == "input_image":
            return _image(part, where)
        if kind == "input_file":
            return self._file(part, where)
        if kind == "input_audio":
            return {"type": "input_audio", "input_audio": part.get("input_audio")}
        raise unknown_type(kind, where)

    def _file(self, part: Json, where: str) -> Json:
        data = part.get("file_data") or (part.get("file_url") if self._foreign else None)
        if not isinstance(data, str) or not data:
            members = "`file_data` or `file_url`" if self._foreign else "`file_data`"
            raise invalid_request(f"`{where}` has no {members}, and this target can be sent nothing else.", where)
        name = part.get("filename")
        return file_part(name if isinstance(name, str) else "file", data)


def _lone_text(content: Any) -> str | None:
    """A content that is one text, as nearly every one is, without making parts of it."""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        part = content[0]
        content = part.get("text") if part.get("type") in TEXTS else None
    return content if isinstance(content, str) else None


def _text_only(parts: Sequence[Json], where: str) -> str:
    texts = [part["text"] for part in parts if part["type"] == "text"]
    if len(texts) < len(parts):
        raise invalid_request(f"`{where}` must be text.", where)
    return "".join(texts)


def _image(part: Json, where: str) -> Json:
    url, detail = part.get("image_url"), part.get("detail")
    if not isinstance(url, str) or not url:
        raise invalid_request(f"`{where}` has no `image_url`, and this target can be sent nothing else.", where)
    image = {"url": url}
    if isinstance(detail, str):
        image["detail"] = DETAILS.get(detail, detail)
    return {"type": "image_url", "image_url": image}
