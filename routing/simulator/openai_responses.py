"""OpenAI's Responses endpoint, whole or as its typed events."""

import time
from collections.abc import Iterator
from fnmatch import fnmatchcase

from routing.simulator.behaviour import Behaviour
from routing.simulator.completion import Call, Completion, Invocation, complete, count_tokens, next_number, text_of
from routing.simulator.openai_chat import read_forced, read_tools
from routing.simulator.wire import Answer, InvalidRequestError, Json, event

THINKING = ("o[1-9]*", "gpt-5*")  # models whose output begins with a thought, which is kept to themselves
BEGUN = ("in_progress", "incomplete")  # a message to go on with, as vLLM reads it


def respond(document: Json, model: str, behaviour: Behaviour) -> Answer:
    """A response, whole or streamed. Raises InvalidRequestError."""
    completion = complete(read_response(document, model), behaviour.words, behaviour.text)
    number = next_number()
    items = output_items(completion, number, model)
    whole = response_object(document, completion, f"resp_sim{number}", items)
    if not document.get("stream"):
        return Answer(model, whole)
    events = [
        event({**body, "sequence_number": position}, str(body["type"]))
        for position, body in enumerate(response_events(whole, completion, items))
    ]
    lead = 3 if completion.invocations else 4
    return Answer(model, events=events, lead=lead + 2 * (items[0]["type"] == "reasoning"))


def read_response(document: Json, model: str) -> Call:
    """A Responses request as a Call. Raises InvalidRequestError."""
    given = document.get("input")
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    if not isinstance(given, list) or not given or not all(isinstance(item, dict) for item in given):
        raise InvalidRequestError(
            400, "Invalid type for 'input': expected a string or a non-empty array of items.", model=model
        )
    texts = [text_of(item.get("content")) for item in given]
    users = [text for item, text in zip(given, texts, strict=True) if item.get("role") == "user"]
    text_options = document.get("text")
    wanted = text_options.get("format") if isinstance(text_options, dict) else None
    wanted = wanted if isinstance(wanted, dict) else {}
    limit = document.get("max_output_tokens")
    instructions = document.get("instructions")
    return Call(
        model=model,
        prompt=users[-1] if users else "",
        prefill=texts[-1] if given[-1].get("role") == "assistant" and given[-1].get("status") in BEGUN else "",
        input_tokens=count_tokens(*texts, instructions if isinstance(instructions, str) else ""),
        max_tokens=limit if isinstance(limit, int) else None,
        tools=() if document.get("tool_choice") == "none" else read_tools(document.get("tools")),
        forced=read_forced(document.get("tool_choice")),
        called=read_called(given),
        answers_user=given[-1].get("role") == "user",
        schema=wanted.get("schema"),
        json_wanted=wanted.get("type") in ("json_object", "json_schema"),
    )


def read_called(items: list[Json]) -> tuple[str, ...]:
    """The tools called since the last message of the user's."""
    last = max((index for index, item in enumerate(items) if item.get("role") == "user"), default=0)
    calls = (item for item in items[last:] if item.get("type") == "function_call")
    return tuple(name for call in calls if isinstance(name := call.get("name"), str))


def output_items(completion: Completion, number: str, model: str) -> list[Json]:
    """The finished output items: a wordless thought of models that think; function calls, or one message."""
    thinks = any(fnmatchcase(model, pattern) for pattern in THINKING)
    thoughts: list[Json] = [{"type": "reasoning", "id": f"rs_sim{number}", "summary": []}] if thinks else []
    if completion.invocations:
        return thoughts + [call_item(invocation) for invocation in completion.invocations]
    part = {"type": "output_text", "text": completion.text, "annotations": [], "logprobs": []}
    status = "incomplete" if completion.truncated else "completed"
    message = {"type": "message", "id": f"msg_sim{number}", "status": status, "role": "assistant", "content": [part]}
    return [*thoughts, message]


def call_item(invocation: Invocation) -> Json:
    """A function call as an output item."""
    return {
        "type": "function_call",
        "id": f"fc_{invocation.id}",
        "call_id": invocation.id,
        "name": invocation.name,
        "arguments": invocation.arguments_text,
        "status": "completed",
    }


def response_object(document: Json, completion: Completion, response_id: str, items: list[Json]) -> Json:
    """The whole response object, with the request's settings mirrored as the API does."""
    total = completion.input_tokens + completion.output_tokens
    return {
        "id": response_id,
        "object": "response",
        "created_at": int(time.time()),
        "status": "incomplete" if completion.truncated else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if completion.truncated else None,
        "instructions": document.get("instructions"),
        "max_output_tokens": document.get("max_output_tokens"),
        "model": document["model"],
        "output": items,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "store": document.get("store", True),
        "temperature": document.get("temperature", 1.0),
        "text": document.get("text", {"format": {"type": "text"}}),
        "tool_choice": document.get("tool_choice", "auto"),
        "tools": document.get("tools", []),
        "top_p": document.get("top_p", 1.0),
        "truncation": "disabled",
        "metadata": document.get("metadata", {}),
        "usage": {
            "input_tokens": completion.input_tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": completion.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": total,
        },
    }


def response_events(whole: Json, completion: Completion, items: list[Json]) -> Iterator[Json]:
    """The events of a streamed response in their order."""
    started = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield {"type": "response.created", "response": started}
    yield {"type": "response.in_progress", "response": started}
    for index, item in enumerate(items):
        match item["type"]:
            case "function_call":
                yield from call_events(item, index)
            case "message":
                yield from message_events(item, completion, index)
            case _:
                yield {"type": "response.output_item.added", "output_index": index, "item": item}
                yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{whole['status']}", "response": whole}


def message_events(item: Json, completion: Completion, index: int) -> Iterator[Json]:
    """The events of the one message."""
    part = item["content"][0]
    at = {"item_id": item["id"], "output_index": index, "content_index": 0}
    opened = {**item, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": opened}
    yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
    for piece in completion.pieces:
        yield {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **at, "part": part}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def call_events(item: Json, index: int) -> Iterator[Json]:
    """The events of one function call."""
    at = {"item_id": item["id"], "output_index": index}
    opened = {**item, "status": "in_progress", "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": index, "item": opened}
    text = item["arguments"]
    for start in range(0, len(text), 10):
        yield {"type": "response.function_call_arguments.delta", **at, "delta": text[start : start + 10]}
    yield {"type": "response.function_call_arguments.done", **at, "arguments": text, "name": item["name"]}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}
