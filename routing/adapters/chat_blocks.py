"""A chat completion as blocks: what the model thought, said and called, whole or from the chunks of a stream.

Anthropic's content blocks and the output items of OpenAI's Responses are written from these.

    chunk ──take──► opened, said, said, closed │ opened, said, … ──end──► closed, ended
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self
from uuid import uuid4

import orjson

from routing.adapters.base import Usage

THOUGHTS = ("reasoning_content", "reasoning")  # what providers call them in a delta or a message


class BlockKind(StrEnum):
    """What a block holds."""

    THOUGHT = "thought"
    TEXT = "text"
    REFUSAL = "refusal"
    CALL = "call"


SAID: Mapping[BlockKind, str] = {BlockKind.TEXT: "content", BlockKind.REFUSAL: "refusal"}  # in which member


@dataclass(slots=True)
class Block:
    """One block. The text of a call is its arguments; `number` counts blocks from 0 once it is open."""

    kind: BlockKind
    call_id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    number: int = -1

    @property
    def text(self) -> str:
        """All that was said."""
        return "".join(self.pieces)


def read_blocks(message: Mapping[str, Any]) -> list[Block]:
    """The blocks of a whole message. Raises LookupError, TypeError or AttributeError if it is none."""
    blocks = []
    if thought := text_of(message.get("reasoning_content") or message.get("reasoning")):
        blocks.append(Block(BlockKind.THOUGHT, pieces=[thought]))
    for kind, member in SAID.items():
        if text := text_of(message.get(member)):
            blocks.append(Block(kind, pieces=[text]))
    for call in message.get("tool_calls") or ():
        function = call["function"]
        arguments = function.get("arguments") or "{}"
        blocks.append(Block(BlockKind.CALL, call.get("id") or _new_id(), function["name"], [arguments]))
    for number, block in enumerate(blocks):
        block.number = number
    return blocks


def stopped_by(choice: Mapping[str, Any]) -> str | None:
    """The stop sequence that ended a choice: vLLM and SGLang tell it, OpenAI does not."""
    found = choice.get("stop_reason") or choice.get("matched_stop")
    return found if isinstance(found, str) else None  # a number is a token


def text_of(content: Any) -> str:
    """Some providers send a list of parts where OpenAI sends a string."""
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def _is_half_said(block: Block | None) -> bool:
    """Whether it is a call of which more arguments must come."""
    if block is None or block.kind is not BlockKind.CALL:
        return False
    if not block.pieces or not block.pieces[-1].rstrip().endswith("}"):
        return True  # without reading all of it for each piece
    try:
        orjson.loads(block.text)
    except orjson.JSONDecodeError:
        return True
    return False


def _new_id() -> str:
    return f"call_{uuid4().hex[:24]}"


class BlockStream(ABC):
    """Turns the chunks of one choice into another format's events. One block is open at a time."""

    def __init__(self) -> None:
        self.finish_reason = ""
        self.stopped_by: str | None = None  # a stop sequence, if the provider says which
        self.tangled = False  # a call went on after its block was closed: no other format can say that
        self.called = False
        self._begun = False
        self._open: Block | None = None
        self._calls: dict[Any, Block] = {}  # by OpenAI's index
        self._waiting: list[Block] = []  # calls that began before the open one was complete
        self._count = 0

    @abstractmethod
    def begin(self, answer_id: object, model: object) -> bytes:
        """The first events of the stream."""

    @abstractmethod
    def opened(self, block: Block) -> bytes:
        """A block begins."""

    @abstractmethod
    def said(self, block: Block, piece: str) -> bytes:
        """A piece of the open block, never empty."""

    @abstractmethod
    def closed(self, block: Block) -> bytes:
        """A block is complete."""

    @abstractmethod
    def ended(self, usage: Usage) -> bytes:
        """The last events of the stream."""

    def resume(self, blocks: int, *, in_text: bool, text: str = "") -> Self:
        """Go on with a stream that has so many blocks already. in_text: the last is text, so far `text`, and not closed."""
        self._begun = True
        self._count = blocks
        self._open = Block(BlockKind.TEXT, pieces=[text], number=blocks - 1) if in_text else None
        return self

    def take(self, chunk: Mapping[str, Any]) -> bytes:
        """The events for one chunk. Raises LookupError, TypeError or AttributeError if it is none."""
        choices = chunk.get("choices")
        if not choices:
            return b""  # usage, which the exchange keeps; Azure's filter results
        output = b"" if self._begun else self._begin(chunk.get("id"), chunk.get("model"))
        choice = choices[0]
        if delta := choice.get("delta"):
            if thought := delta.get("reasoning_content") or delta.get("reasoning"):
                output += self._say(BlockKind.THOUGHT, text_of(thought))
            for kind, member in SAID.items():
                if text := delta.get(member):
                    output += self._say(kind, text_of(text))
            for call in delta.get("tool_calls") or ():
                output += self._call(call)
        if reason := choice.get("finish_reason"):
            self.finish_reason = reason
            self.stopped_by = stopped_by(choice)
        return output

    def end(self, usage: Usage) -> bytes:
        """What is still to be sent of a stream that ended well."""
        output = b"" if self._begun else self._begin(None, None)
        return output + self._leave() + self.ended(usage)

    def _begin(self, answer_id: object, model: object) -> bytes:
        self._begun = True
        return self.begin(answer_id, model)

    def _say(self, kind: BlockKind, text: str) -> bytes:
        if not text:
            return b""
        block, output = self._open, b""
        if block is None or block.kind is not kind:
            block = Block(kind)
            output = self._leave() + self._enter(block)
        block.pieces.append(text)
        return output + self.said(block, text)

    def _call(self, call: Mapping[str, Any]) -> bytes:
        """A call begins when its name is known; some providers send id, name and arguments one by one.

        Some send parallel calls by turns: other formats complete one before the next, so the next one waits.
        """
        function = call.get("function") or {}
        arguments = function.get("arguments")
        if not isinstance(arguments, str | None):
            raise TypeError("arguments in a stream come as text")
        index, given = call.get("index"), call.get("id") or ""
        block = self._calls.get(index)
        if block is None or (given and block.name and function.get("name") and given != block.call_id):
            block = self._calls[index] = Block(BlockKind.CALL)
        block.call_id = block.call_id or given
        if not block.name and (name := function.get("name")):
            block.call_id = block.call_id or _new_id()
            block.name = name
            self.called = True
            self._waiting.append(block)
        output = b""
        if arguments:
            block.pieces.append(arguments)
            if block is self._open:
                output = self.said(block, arguments)
            elif block.number >= 0:
                self.tangled = True
        while self._waiting and not _is_half_said(self._open):
            output += self._enter(self._waiting.pop(0))
        return output

    def _leave(self) -> bytes:
        """The end of the open block and of the calls that wait for it."""
        output = self._close()
        for block in self._waiting:
            output += self._enter(block) + self._close()
        self._waiting = []
        return output

    def _enter(self, block: Block) -> bytes:
        """The block begins, with what was said of it so far."""
        output = self._close()
        self._open = block
        block.number = self._count
        self._count += 1
        output += self.opened(block)
        return output + self.said(block, block.text) if block.pieces else output

    def _close(self) -> bytes:
        block, output = self._open, b""
        if block is None:
            return b""
        if block.kind is BlockKind.CALL and not block.pieces:
            block.pieces.append("{}")
            output = self.said(block, "{}")
        self._open = None
        return output + self.closed(block)
