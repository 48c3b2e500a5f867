"""Streams that die after `Hello wor`, what may follow, and what the client then has."""

from itertools import count
from typing import Any

from routing.table import ModelFacts
from tests.routing.adapters.responses import read_events

from .harness import DONE, ROLE, Answer, Break, Gateway, Hang, Json, Reply, chat, chunk, event, typed_event
from .harness import streaming as stream_of

STREAM = chat(stream=True)
DIES = stream_of(ROLE, chunk("Hello "), chunk("wor"), Break())
TEXT = "Hello world, how are you?"
SAME = stream_of(ROLE, chunk("Hell"), chunk("o world, "), chunk("how are you?"), chunk(finish="stop"), DONE)
OTHER = stream_of(ROLE, chunk("Hello "), chunk("there"), Hang())
PREFILL = ModelFacts(supports_prefill=True)


def prefills(gateway: Gateway, *slugs: str) -> None:
    gateway.facts = {(slug, "m"): PREFILL for slug in slugs}


def is_blamed(gateway: Gateway, slug: str) -> bool:
    """Whether any failure is held against a provider, its connection or its model."""
    layers = gateway.registry.layers(slug, "main", "m")
    return bool(layers.breaker.kind_counts or layers.cooldown.failed_at or layers.lockout.failures)


def is_interrupted(answer: Answer, text: str = "Hello wor") -> bool:
    """Whether the client has the text once and then the error; never an end that looks like one."""
    return (
        (answer.text, answer.complete) == (text, True)
        and answer.events[-1]["error"]["code"] == "stream_interrupted"
        and b"[DONE]" not in answer.body
        and b'"stop"' not in answer.body
    )


def claude(*pieces: str, ends: bool = True) -> Reply:
    message = {"id": "msg_1", "role": "assistant", "model": "claude", "content": [], "usage": {"input_tokens": 5}}
    said = [
        typed_event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece}) for piece in pieces
    ]
    end = (
        typed_event("content_block_stop", index=0),
        typed_event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 2}),
        typed_event("message_stop"),
    )
    opened = typed_event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    start = typed_event("message_start", message=message)
    return stream_of(start, opened, *said, *(end if ends else (Break(),)))


def gemini(*pieces: str, ends: bool = True) -> Reply:
    said = [{"candidates": [{"content": {"role": "model", "parts": [{"text": piece}]}}]} for piece in pieces]
    if ends:
        said[-1]["candidates"][0]["finishReason"] = "STOP"
    return stream_of(*map(event, said), *(() if ends else (Break(),)))


def openai(*pieces: str, ends: bool = True) -> Reply:
    return stream_of(ROLE, *map(chunk, pieces), *((chunk(finish="stop"), DONE) if ends else (Break(),)))


HEAD: Json = {
    "id": "resp_1",
    "object": "response",
    "created_at": 7,
    "model": "gpt-5",
    "error": None,
    "store": True,
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
THOUGHT: Json = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}
MESSAGE: Json = {"type": "message", "id": "msg_1", "role": "assistant", "phase": "final_answer"}
USED: Json = {
    "input_tokens": 5,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 2,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 7,
}


def text_part(text: str = "") -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def response_events(*pieces: str, before: tuple[Json, ...] = ()) -> list[bytes]:
    """Of a response that its provider has: items that come whole, and then a message."""
    started = {**HEAD, "status": "in_progress", "output": [], "completed_at": None}
    message = {**MESSAGE, "status": "completed", "content": [text_part("".join(pieces))]}
    at = {"item_id": "msg_1", "output_index": len(before), "content_index": 0}
    documents: list[tuple[str, Json]] = [
        ("created", {"response": started}),
        ("in_progress", {"response": started}),
        *(
            (f"output_item.{what}", {"output_index": index, "item": item})
            for index, item in enumerate(before)
            for what in ("added", "done")
        ),
        (
            "output_item.added",
            {"output_index": len(before), "item": message | {"status": "in_progress", "content": []}},
        ),
        ("content_part.added", {**at, "part": text_part()}),
        *(("output_text.delta", {**at, "delta": piece, "logprobs": []}) for piece in pieces),
        ("output_text.done", {**at, "text": "".join(pieces), "logprobs": []}),
        ("content_part.done", {**at, "part": text_part("".join(pieces))}),
        ("output_item.done", {"output_index": len(before), "item": message}),
    ]
    whole = {**started, "status": "completed", "output": [*before, message], "usage": USED, "completed_at": 9}
    documents.append(("completed", {"response": whole}))
    numbers = count()
    return [typed_event(f"response.{kind}", **members, sequence_number=next(numbers)) for kind, members in documents]


def native(*pieces: str, ends: bool = True, before: tuple[Json, ...] = ()) -> Reply:
    events = response_events(*pieces, before=before)
    return stream_of(*events) if ends else stream_of(*events[: len(events) - 4], Break())


FORMATS = {"openai": openai, "azure": openai, "anthropic": claude, "gemini": gemini}
PATHS = {"chat": "/v1/chat/completions", "messages": "/v1/messages", "responses": "/v1/responses"}


def streamed(client: str, format_: str, *pieces: str, ends: bool = True) -> Reply:
    """What a provider of a format says where this client asks."""
    speaks = native if (client, format_) == ("responses", "azure") else FORMATS[format_]
    return speaks(*pieces, ends=ends)


def asked_by(client: str, **members: Any) -> Json:
    """A request for a stream."""
    if client == "responses":
        return {"model": "model", "input": "ping", "stream": True} | members
    return chat(stream=True, max_tokens=99, **members)


def text_of(answer: Answer, client: str) -> str:
    """The text of a stream that is as it should be."""
    if client == "chat":
        return answer.text
    if client == "responses":
        return response_text(answer)
    events = answer.events
    kinds = [one["type"] for one in events]
    for once in ("message_start", "content_block_start", "content_block_stop", "message_delta"):
        assert kinds.count(once) == 1
    assert (kinds[-1], events[-2]["delta"]["stop_reason"]) == ("message_stop", "end_turn")
    assert {one["index"] for one in events if "index" in one} == {0}
    return "".join(one["delta"].get("text", "") for one in events if one["type"] == "content_block_delta")


def response_text(answer: Answer) -> str:
    """Of a response's one message, which everything that was told of it agrees on."""
    events = read_events(answer.body)
    kinds = [one["type"].removeprefix("response.") for one in events]
    for once in ("created", "output_item.added", "content_part.added", "output_text.done", "content_part.done"):
        assert kinds.count(once) == 1
    text = "".join(one["delta"] for one in events if one["type"] == "response.output_text.delta")
    *_, said, left, closed, last = events
    [item] = last["response"]["output"]
    assert (last["type"], closed["item"], left["part"]) == ("response.completed", item, item["content"][0])
    assert (said["text"], left["part"]["text"], item["status"]) == (text, text, "completed")
    assert {one["item_id"] for one in events if "item_id" in one} == {item["id"]}
    assert {one["response"]["id"] for one in events if "response" in one} == {last["response"]["id"]}
    return text
