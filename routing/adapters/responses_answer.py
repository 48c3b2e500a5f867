"""A chat completion as a response of OpenAI's Responses API, whole or streamed."""

import time
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from routing.adapters.base import Usage
from routing.adapters.chat_blocks import Block, BlockKind, BlockStream, read_blocks
from routing.adapters.responses_events import EventWriter
from routing.adapters.responses_items import OURS, item_of, part_of

Json = dict[str, Any]

INCOMPLETE: Mapping[str, str] = {"length": "max_output_tokens", "content_filter": "content_filter"}
MIRRORED = ("instructions", "max_output_tokens", "max_tool_calls", "user")  # as they came, null where they did not


class Draft:
    """A response of which the request's part is known: settings are mirrored, as the API does."""

    def __init__(self, asked: Mapping[str, Any], model: object) -> None:
        self.token = uuid4().hex
        self.head: Json = {
            "id": f"resp{OURS}{self.token}",
            "object": "response",
            "created_at": int(time.time()),
            "background": False,
            "error": None,
            "model": model,
            "parallel_tool_calls": asked.get("parallel_tool_calls") is not False,
            "previous_response_id": None,
            "store": False,
            "truncation": "disabled",
            "metadata": asked.get("metadata") or {},
            "temperature": _given(asked, "temperature", 1.0),
            "top_p": _given(asked, "top_p", 1.0),
            "text": {"format": {"type": "text"}} | (asked.get("text") or {}),
            "reasoning": {"effort": None, "summary": None} | (asked.get("reasoning") or {}),
            "tools": asked.get("tools") or [],
            "tool_choice": asked.get("tool_choice") or "auto",
            **{name: asked.get(name) for name in MIRRORED},
        }

    def finished(self, reason: object, output: list[Json], usage: Usage) -> Json:
        """The whole response. reason: chat completions' word for why it ended."""
        cut = incomplete_because(reason)
        return {
            **self.head,
            "status": "incomplete" if cut else "completed",
            "incomplete_details": {"reason": cut} if cut else None,
            "output": output,
            "usage": usage_of(usage) if usage.known else None,
        }


def _given(asked: Mapping[str, Any], name: str, default: float) -> Any:
    value = asked.get(name)
    return default if value is None else value


def incomplete_because(finish_reason: object) -> str | None:
    """The API's word for what cut an answer short, if something did."""
    return INCOMPLETE.get(finish_reason) if isinstance(finish_reason, str) else None


def usage_of(usage: Usage) -> Json:
    """The response's `usage`."""
    read, written = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "input_tokens": read,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens or 0,
            "cache_write_tokens": usage.written_tokens or 0,
        },
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": read + written,
    }


def response_of(completion: Json, asked: Mapping[str, Any], target_model: str, usage: Usage) -> Json:
    """Raises LookupError or the like if this is no completion."""
    chosen = completion["choices"][0]
    blocks = read_blocks(chosen["message"])
    reason = chosen.get("finish_reason")
    draft = Draft(asked, completion.get("model") or target_model)
    output = [item_of(block, draft.token, "completed") for block in blocks[:-1]]
    output += [item_of(block, draft.token, _status(reason)) for block in blocks[-1:]]
    return draft.finished(reason, output, usage)


def _status(reason: object) -> str:
    """Of the last item: what cuts an answer cuts that."""
    return "incomplete" if incomplete_because(reason) else "completed"


class ResponseStream(BlockStream):
    """Writes a response's events."""

    def __init__(self, asked: Mapping[str, Any], target_model: str) -> None:
        super().__init__()
        self._asked = asked
        self._target_model = target_model
        self.events = EventWriter()
        self._draft = Draft(asked, target_model)
        self._output: list[Json] = []
        self._item: Json = {}  # that is open
        self._part_kind = ""

    def begin(self, answer_id: object, model: object) -> bytes:  # noqa: ARG002 (ours says whose it is)
        """`response.created`, `response.in_progress`."""
        if model:
            self._draft.head["model"] = model
        return self.events.started(self._draft.head)

    def opened(self, block: Block) -> bytes:
        """The item begins, and with it its only part."""
        item = self._item = item_of(block, self._draft.token, "in_progress")
        output = self.events.item_opened(block.number, item)
        if block.kind is BlockKind.CALL:
            return output
        part = part_of(block.kind, "")
        self._part_kind = part["type"]
        return output + self.events.part_opened(block.number, item["id"], part)

    def said(self, block: Block, piece: str) -> bytes:
        """A delta."""
        if block.kind is BlockKind.CALL:
            return self.events.arguments_said(block.number, self._item["id"], piece)
        return self.events.part_said(block.number, self._item["id"], self._part_kind, piece)

    def closed(self, block: Block) -> bytes:
        """What was said as a whole, and the item with it."""
        item = {**self._item, **item_of(block, self._draft.token, _status(self.finish_reason)), "id": self._item["id"]}
        self._output.append(item)
        if block.kind is BlockKind.CALL:
            done = self.events.arguments_done(block.number, item)
        else:
            done = self.events.part_closed(block.number, item["id"], part_of(block.kind, block.text))
        return done + self.events.item_closed(block.number, item)

    def ended(self, usage: Usage) -> bytes:
        """`response.completed` or `response.incomplete`."""
        return self.events.ended(self._draft.finished(self.finish_reason, self._output, usage))
