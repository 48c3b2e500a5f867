"""An OpenAI stream as a strict client reads it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Json = Any


def read_events(text: str) -> Iterator[str]:
    """The data of each event, by the WHATWG rules: an event without its blank line is lost."""
    data: list[str] = []
    for line in re.split(r"\r\n|\n|\r", text.removeprefix("\ufeff"))[:-1]:
        if not line:
            if data:
                yield "\n".join(data)
            data = []
        elif line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))


@dataclass
class ChatStream:
    """All that was said, by choice and by tool call."""

    raw: str
    texts: dict[int, str] = field(default_factory=dict)
    finish_reasons: dict[int, list[str]] = field(default_factory=dict)
    tools: dict[int, dict[str, str]] = field(default_factory=dict)
    logprobs: list[Json] = field(default_factory=list)
    usage_chunks: list[Json] = field(default_factory=list)
    errors: list[Json] = field(default_factory=list)
    undecodable: list[str] = field(default_factory=list)
    done: bool = False
    after_done: int = 0

    def __post_init__(self) -> None:
        for data in read_events(self.raw):
            self.after_done += self.done
            if data == "[DONE]":
                self.done = True
                continue
            try:
                chunk = json.loads(data)
            except ValueError:
                self.undecodable.append(data)
                continue
            if chunk.get("error"):
                self.errors.append(chunk["error"])
            else:
                self._add(chunk)

    def _add(self, chunk: dict[str, Json]) -> None:
        if not chunk.get("choices") and chunk.get("usage"):
            self.usage_chunks.append(chunk["usage"])
        for choice in chunk.get("choices") or []:
            index, delta = choice.get("index", 0), choice.get("delta") or {}
            self.texts[index] = self.texts.get(index, "") + (delta.get("content") or "")
            if choice.get("finish_reason"):
                self.finish_reasons.setdefault(index, []).append(choice["finish_reason"])
            self.logprobs += (choice.get("logprobs") or {}).get("content") or []
            for call in delta.get("tool_calls") or []:
                tool = self.tools.setdefault(call.get("index", 0), {"id": "", "name": "", "arguments": ""})
                function = call.get("function") or {}
                tool["id"] += call.get("id") or ""
                tool["name"] += function.get("name") or ""
                tool["arguments"] += function.get("arguments") or ""
