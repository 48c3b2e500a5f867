"""The output items of OpenAI's Responses: reasoning, message, function_call; made from what a model said, and begun."""

from collections.abc import Mapping
from typing import Any

from routing.adapters.chat_blocks import Block, BlockKind

Json = dict[str, Any]

OURS = "_omniroute_"  # in the ids of items that no provider stores, so that they are known again
PREFIXES: Mapping[BlockKind, str] = {
    BlockKind.THOUGHT: "rs",
    BlockKind.TEXT: "msg",
    BlockKind.REFUSAL: "msg",
    BlockKind.CALL: "fc",
}


def item_of(block: Block, token: str, status: str) -> Json:
    """The item that a block is. token: the response's own, for the ids. A provider takes ids of up to 64 characters."""
    head = {"id": f"{PREFIXES[block.kind]}{OURS}{token}_{block.number}"}
    match block.kind:
        case BlockKind.THOUGHT:
            return {**head, "type": "reasoning", "summary": [part_of(block.kind, block.text)]}
        case BlockKind.CALL:
            called = {"call_id": block.call_id, "name": block.name, "arguments": block.text}
            return {**head, "type": "function_call", "status": status, **called}
        case _:
            content = [part_of(block.kind, block.text)]
            return {**head, "type": "message", "status": status, "role": "assistant", "content": content}


def part_of(kind: BlockKind, text: str) -> Json:
    """The part of an item that holds its text."""
    match kind:
        case BlockKind.THOUGHT:
            return {"type": "summary_text", "text": text}
        case BlockKind.REFUSAL:
            return {"type": "refusal", "refusal": text}
        case _:
            return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def begun(item: Json) -> Json:
    """An item of which nothing was said yet; items that never come in pieces come whole."""
    match item.get("type"):
        case "reasoning":
            return {**item, "summary": []}
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case "function_call":
            return {**item, "status": "in_progress", "arguments": ""}
        case _:
            return item
