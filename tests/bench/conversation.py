"""A long conversation of an agent with its tools, as each kind of client sends it: 20 kB in some thirty messages."""

from collections.abc import Callable, Mapping
from typing import Any

Json = dict[str, Any]

TURNS = 6  # each: a question, two calls at once, their results, an answer
TOOLS = 8
PROSE = "The harbour was quiet that morning, and nobody on the quay could say when the ferry would come. "
SYSTEM = PROSE * 20
SCHEMA: Json = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where to look, from the root of the repository."},
        "pattern": {"type": "string", "description": "A regular expression."},
        "limit": {"type": "integer", "description": "How many matches at most."},
        "kinds": {"type": "array", "items": {"type": "string", "enum": ["file", "folder", "link"]}},
    },
    "required": ["path"],
    "additionalProperties": False,
}
ARGUMENTS: Json = {"path": "src/harbour", "pattern": "ferry|quay", "limit": 20, "kinds": ["file"]}
NAMES = [f"search_{number}" for number in range(TOOLS)]
ABOUT = "Searches the repository and answers with the lines that match."


def chat() -> Json:
    """For `/v1/chat/completions`."""
    messages: list[Json] = [{"role": "system", "content": SYSTEM}]
    for turn in range(TURNS):
        ids = [f"call_{turn}_{number}" for number in range(2)]
        calls = [
            {"id": call_id, "type": "function", "function": {"name": NAMES[0], "arguments": ARGUMENTS_TEXT}}
            for call_id in ids
        ]
        messages += [
            {"role": "user", "content": PROSE * 3},
            {"role": "assistant", "content": PROSE, "tool_calls": calls},
            *({"role": "tool", "tool_call_id": call_id, "content": PROSE * 5} for call_id in ids),
            {"role": "assistant", "content": PROSE * 4},
        ]
    messages.append({"role": "user", "content": PROSE})
    tools = [
        {"type": "function", "function": {"name": name, "description": ABOUT, "parameters": SCHEMA}} for name in NAMES
    ]
    return {"messages": messages, "tools": tools, "max_tokens": 4096, "temperature": 0.2}


def messages() -> Json:
    """For `/v1/messages`."""
    said: list[Json] = []
    for turn in range(TURNS):
        ids = [f"toolu_{turn}_{number}" for number in range(2)]
        calls = [{"type": "tool_use", "id": call_id, "name": NAMES[0], "input": ARGUMENTS} for call_id in ids]
        results = [{"type": "tool_result", "tool_use_id": call_id, "content": PROSE * 5} for call_id in ids]
        said += [
            {"role": "user", "content": PROSE * 3},
            {"role": "assistant", "content": [{"type": "text", "text": PROSE}, *calls]},
            {"role": "user", "content": results},
            {"role": "assistant", "content": [{"type": "text", "text": PROSE * 4}]},
        ]
    said.append({"role": "user", "content": PROSE})
    tools = [{"name": name, "description": ABOUT, "input_schema": SCHEMA} for name in NAMES]
    system = [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}]
    return {"system": system, "messages": said, "tools": tools, "max_tokens": 4096, "temperature": 0.2}


def responses() -> Json:
    """For `/v1/responses`."""
    items: list[Json] = []
    for turn in range(TURNS):
        ids = [f"call_{turn}_{number}" for number in range(2)]
        call = {"type": "function_call", "name": NAMES[0], "arguments": ARGUMENTS_TEXT}
        items += [
            {"role": "user", "content": [{"type": "input_text", "text": PROSE * 3}]},
            {"role": "assistant", "content": [{"type": "output_text", "text": PROSE}]},
            *({**call, "call_id": call_id} for call_id in ids),
            *({"type": "function_call_output", "call_id": call_id, "output": PROSE * 5} for call_id in ids),
            {"role": "assistant", "content": [{"type": "output_text", "text": PROSE * 4}]},
        ]
    items.append({"role": "user", "content": PROSE})
    tools = [{"type": "function", "name": name, "description": ABOUT, "parameters": SCHEMA} for name in NAMES]
    limits = {"max_output_tokens": 4096, "temperature": 0.2, "store": False}
    return {"instructions": SYSTEM, "input": items, "tools": tools, **limits}


ARGUMENTS_TEXT = '{"path":"src/harbour","pattern":"ferry|quay","limit":20,"kinds":["file"]}'

BODIES: Mapping[str, Callable[[], Json]] = {
    "/v1/chat/completions": chat,
    "/v1/messages": messages,
    "/v1/responses": responses,
}
