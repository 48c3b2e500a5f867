"""The events of a streamed response, numbered.

output_item.added │ content_part.added, output_text.delta …, .done, content_part.done │ output_item.done
                  │ function_call_arguments.delta …, .done                            │
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from routing.adapters.responses_items import begun
from routing.sse import typed_event

Json = dict[str, Any]


class PartEvents(NamedTuple):
    """What the events of a part are called, and which of their members hold its place and its text."""

    frame: str
    place: str
    said: str
    member: str
    more: Mapping[str, Any] = {}


PARTS: Mapping[str, PartEvents] = {
    "output_text": PartEvents("content_part", "content_index", "output_text", "text", {"logprobs": []}),
    "refusal": PartEvents("content_part", "content_index", "refusal", "refusal"),
    "summary_text": PartEvents("reasoning_summary_part", "summary_index", "reasoning_summary_text", "text"),
}


class EventWriter:
    """Writes the events of one stream."""

    def __init__(self) -> None:
        self.written = 0

    def event(self, name: str, members: Mapping[str, Any]) -> bytes:
        """The next event."""
        number = self.written
        self.written += 1
        return typed_event(f"response.{name}", {"sequence_number": number, **members})

    def started(self, response: Json) -> bytes:
        """The two events that every stream begins with. response: as it ends, or as far as it is known."""
        begun = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
        return self.event("created", {"response": begun}) + self.event("in_progress", {"response": begun})

    def ended(self, response: Json) -> bytes:
        """The last event: completed or incomplete."""
        return self.event(response["status"], {"response": response})

    def item_opened(self, index: int, item: Json) -> bytes:
        """An item begins."""
        return self.event("output_item.added", {"output_index": index, "item": begun(item)})

    def item_closed(self, index: int, item: Json) -> bytes:
        """An item is complete."""
        return self.event("output_item.done", {"output_index": index, "item": item})

    def part_opened(self, index: int, item_id: str, part: Json, number: int = 0) -> bytes:
        """The item's part `number` begins."""
        events = PARTS[part["type"]]
        empty = {**part, events.member: ""}
        at = {"item_id": item_id, "output_index": index, events.place: number}
        return self.event(f"{events.frame}.added", {**at, "part": empty})

    def part_said(self, index: int, item_id: str, kind: str, piece: str, number: int = 0) -> bytes:
        """A piece of a part of this kind."""
        events = PARTS[kind]
        at = {"item_id": item_id, "output_index": index, events.place: number}
        return self.event(f"{events.said}.delta", {**at, "delta": piece, **events.more})

    def part_closed(self, index: int, item_id: str, part: Json, number: int = 0) -> bytes:
        """A part is complete."""
        events = PARTS[part["type"]]
        at = {"item_id": item_id, "output_index": index, events.place: number}
        whole = {**at, events.member: part[events.member], **events.more}
        return self.event(f"{events.said}.done", whole) + self.part_left(index, item_id, part, number)

    def part_left(self, index: int, item_id: str, part: Json, number: int = 0) -> bytes:
        """A part whose text was told to be complete is left."""
        events = PARTS[part["type"]]
        at = {"item_id": item_id, "output_index": index, events.place: number}
        return self.event(f"{events.frame}.done", {**at, "part": part})

    def arguments_said(self, index: int, item_id: str, piece: str) -> bytes:
        """A piece of a call's arguments."""
        at = {"item_id": item_id, "output_index": index}
        return self.event("function_call_arguments.delta", {**at, "delta": piece})

    def arguments_done(self, index: int, item: Json) -> bytes:
        """A call's arguments are complete."""
        at = {"item_id": item["id"], "output_index": index}
        called = {"name": item["name"], "arguments": item["arguments"]}
        return self.event("function_call_arguments.done", {**at, **called})


def replay_response(response: Json) -> bytes:
    """A whole response as the events of a stream."""
    events = EventWriter()
    output = [events.started(response)]
    for index, item in enumerate(response["output"]):
        output.append(events.item_opened(index, item))
        output += _pieces(events, index, item)
        output.append(events.item_closed(index, item))
    return b"".join([*output, events.ended(response)])


def _pieces(events: EventWriter, index: int, item: Json) -> list[bytes]:
    """What is said between an item's beginning and its end."""
    output: list[bytes] = []
    item_id = item.get("id", "")
    if item.get("type") == "function_call":
        return [events.arguments_said(index, item_id, item["arguments"]), events.arguments_done(index, item)]
    parts = item.get({"message": "content", "reasoning": "summary"}.get(item.get("type", ""), ""))
    for number, part in enumerate(parts or ()):
        kind = part["type"]
        if kind in PARTS:
            output.append(events.part_opened(index, item_id, part, number))
            output.append(events.part_said(index, item_id, kind, part[PARTS[kind].member], number))
            output.append(events.part_closed(index, item_id, part, number))
    return output
