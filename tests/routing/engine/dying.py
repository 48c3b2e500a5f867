"""Streams that die after `Hello wor`, what may follow, and what the client then has."""

from routing.table import ModelFacts

from .harness import DONE, ROLE, Answer, Break, Gateway, Hang, Reply, chat, chunk, event, typed_event
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


FORMATS = {"openai": openai, "anthropic": claude, "gemini": gemini}
PATHS = {"chat": "/v1/chat/completions", "messages": "/v1/messages"}


def text_of(answer: Answer, client: str) -> str:
    if client == "chat":
        return answer.text
    events = answer.events
    kinds = [one["type"] for one in events]
    for once in ("message_start", "content_block_start", "content_block_stop", "message_delta"):
        assert kinds.count(once) == 1
    assert (kinds[-1], events[-2]["delta"]["stop_reason"]) == ("message_stop", "end_turn")
    assert {one["index"] for one in events if "index" in one} == {0}
    return "".join(one["delta"].get("text", "") for one in events if one["type"] == "content_block_delta")
