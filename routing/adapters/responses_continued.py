"""A response that its provider streams: what the client has of it, and how it goes on when that provider is gone.

    created, in_progress │ item added │ part added, delta … │ text done, part done │ item done │ completed
    ───── response ──────┼─── open ───┼────── in_part ──────┼──────── said ────────┼── items ──┘

Only text can be compared: a stream of more than one message of one text is not continued.
"""

from collections.abc import Mapping
from typing import Any

from routing.adapters.base import Usage
from routing.adapters.chat_blocks import Block, BlockKind
from routing.adapters.responses_answer import ResponseStream
from routing.adapters.responses_items import OURS, PREFIXES, part_of
from routing.adapters.sent import Sent
from routing.adapters.translation import NOT_AS_DESCRIBED

Json = dict[str, Any]

WORDS = ("summary", "content")  # of thoughts; most reasoning items have neither, so that nobody was shown any


class SentResponse:
    """What was passed on, as long as it is one message of one text, and thoughts without words."""

    def __init__(self) -> None:
        self.response: Json = {}  # as it began
        self.items: list[Json] = []  # that are complete
        self.open: Json | None = None  # the item that is not
        self.in_part = False  # its part was entered and not left
        self.said = False  # the text is complete

    def note(self, document: Json, sent: Sent) -> None:
        """An event that the client gets."""
        if not sent.only_text:
            return
        try:
            sent.only_text = self._takes(document, sent) and sent.only_text
        except NOT_AS_DESCRIBED:
            sent.only_text = False

    def _takes(self, document: Json, sent: Sent) -> bool:
        """Whether somebody else could go on after the event. Raises one of NOT_AS_DESCRIBED."""
        match document["type"]:
            case "response.output_text.delta":
                return self._says(document, sent)
            case "response.created" | "response.in_progress":
                self.response = {**document["response"]}
            case "response.output_item.added":
                return self._begins(document["item"])
            case "response.output_item.done":
                return self._ends(document["item"])
            case "response.content_part.added":
                return self._enters(document["part"])
            case "response.output_text.done":
                self.said = True
                return self.in_part and document["text"] == sent.text
            case "response.content_part.done":
                self.in_part = False
                return self.said
            case kind:  # of refusals, sources, words of thoughts; what is done was begun before
                return not kind.endswith((".delta", ".added"))
        return True

    def _says(self, document: Json, sent: Sent) -> bool:
        """Logprobs come only to those who asked for them, and what follows would lack them."""
        sent.say(document["delta"])
        return self.in_part and not self.said and not document.get("logprobs")

    def _begins(self, item: Json) -> bool:
        alone = self.open is None and isinstance(item["id"], str)
        self.open = item
        if item["type"] == "reasoning":
            return alone and _is_wordless(item)
        first = all(one["type"] != "message" for one in self.items)
        return alone and first and item["type"] == "message" and not item.get("content")

    def _ends(self, item: Json) -> bool:
        begun, self.open = self.open, None
        self.in_part = False
        self.items.append(item)
        same = begun is not None and (begun["type"], begun["id"]) == (item["type"], item["id"])
        return same and (item["type"] == "message" or _is_wordless(item))

    def _enters(self, part: Json) -> bool:
        first = not (self.in_part or self.said)
        self.in_part = self.open is not None and self.open["type"] == "message"
        return first and self.in_part and part["type"] == "output_text" and not part["text"]


def _is_wordless(thought: Json) -> bool:
    return not any(thought.get(name) for name in WORDS)


class ContinuedResponse(ResponseStream):
    """Writes on in a response that its provider began: in the open message, or after it in one of ours."""

    def __init__(self, asked: Mapping[str, Any], target_model: str, had: SentResponse, text: str) -> None:
        """text: the message's, so far."""
        super().__init__(asked, target_model)
        self._draft.head |= {**had.response, "store": False}
        self._draft.head.pop("completed_at", None)
        for item in had.items:
            self._keep(item)
        in_text = had.in_part and not had.said
        self.resume(len(had.items) + (had.open is not None), in_text=in_text, text=text)
        self._item = had.open or {}
        self._part_kind = "output_text"
        self._half = None if in_text else had
        self._text = text

    def opened(self, block: Block) -> bytes:
        """After the end of what the provider left open."""
        return self._settle() + super().opened(block)

    def ended(self, usage: Usage) -> bytes:
        """Likewise."""
        return self._settle() + super().ended(usage)

    def _settle(self) -> bytes:
        """The end of an item that has no more to say."""
        had, self._half = self._half, None
        if had is None or had.open is None:
            return b""
        item, left = {**had.open, "status": "completed"}, b""
        item.pop("encrypted_content", None)  # which may be incomplete until its thought is
        if item["type"] == "message":
            part = part_of(BlockKind.TEXT, self._text)
            item["content"] = [part] if had.said else []
            left = self.events.part_left(len(self._output), item["id"], part) if had.in_part else b""
        closed = self.events.item_closed(len(self._output), item)
        self._keep(item)
        return left + closed

    def _keep(self, item: Json) -> None:
        """Into the whole response. A thought that must be looked up was not stored by a provider that broke off.

        With an id of ours it is not sent there again, where the conversation would end in a 404.
        """
        if item["type"] == "reasoning" and not item.get("encrypted_content"):
            item = {**item, "id": f"{PREFIXES[BlockKind.THOUGHT]}{OURS}{self._draft.token}_{len(self._output)}"}
        self._output.append(item)
