"""Exchanges between a client, of chat completions unless told otherwise, and a provider that is only bytes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from routing.adapters.base import Answer, Exchange
from routing.chains import Target
from routing.dialects import DIALECTS, Dialect
from routing.sse import EventReader
from routing.table import Connection, ModelFacts, Provider

Json = dict[str, Any]

KEY = "upstream-key-1"
BASES = {
    "openai": "https://openai.test/v1",
    "azure": "https://azure.test",
    "anthropic": "https://anthropic.test/v1",
    "gemini": "https://gemini.test/v1beta",
}
MODELS = {
    "openai": "gpt-4o",
    "azure": "gpt-4o",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-flash",
}
NO_FACTS = ModelFacts()
CHAT, MESSAGES = DIALECTS["/v1/chat/completions"], DIALECTS["/v1/messages"]

HI = [{"role": "user", "content": "hi"}]


def exchange(
    format_: str,
    *,
    dialect: Dialect = CHAT,
    model: str = "",
    facts: ModelFacts = NO_FACTS,
    headers: Sequence[tuple[str, str]] = (),
    cap: int | None = None,
    **body: Any,
) -> Exchange:
    """`body`: members of the client's request; without messages it says hi."""
    document = {"model": "chain", "messages": HI, **body}
    if dialect is MESSAGES:
        document = {"max_tokens": 100, **document}
    request = dialect.parse(json.dumps(document).encode(), {})
    return dialect.pair(request, target(format_, model, facts=facts, headers=headers), cap)


def target(
    format_: str,
    model: str = "",
    *,
    base: str = "",
    facts: ModelFacts = NO_FACTS,
    headers: Sequence[tuple[str, str]] = (),
) -> Target:
    base = base or BASES[format_] + "/"
    connection = Connection("p", "main", base, api_key=KEY, headers=tuple(headers))
    provider = Provider("p", "P", format_, base, connections=(connection,))
    return Target(provider, connection, model or MODELS[format_], facts)


def sent(format_: str, **wanted: Any) -> Json:
    """The body a provider gets."""
    document: Json = json.loads(exchange(format_, **wanted).request().body)
    return document


def dropped(format_: str, **wanted: Any) -> tuple[str, ...]:
    asked = exchange(format_, **wanted)
    asked.request()
    return asked.dropped_params


def answered(format_: str, document: Any, **wanted: Any) -> Json:
    """The completion a client gets for a provider's answer."""
    answer = exchange(format_, **wanted).unary(json.dumps(document).encode(), {})
    assert isinstance(answer, Answer), answer
    completion: Json = json.loads(answer.body)
    return completion


@dataclass
class Heard:
    """What a client's SDK would make of a stream."""

    chunks: list[Json] = field(default_factory=list)
    done: bool = False

    @property
    def deltas(self) -> list[Json]:
        return [choice["delta"] for chunk in self.chunks for choice in chunk["choices"]]

    def text(self, index: int = 0, member: str = "content") -> str:
        return "".join(
            choice["delta"].get(member) or ""
            for chunk in self.chunks
            for choice in chunk["choices"]
            if choice["index"] == index
        )

    @property
    def finish_reasons(self) -> list[tuple[int, str]]:
        choices = [choice for chunk in self.chunks for choice in chunk["choices"]]
        return [(choice["index"], choice["finish_reason"]) for choice in choices if choice["finish_reason"]]

    @property
    def tool_calls(self) -> list[Json]:
        """Put together as the openai SDK does: everything but the index is appended."""
        calls: dict[int, Json] = {}
        for delta in self.deltas:
            for call in delta.get("tool_calls") or ():
                whole = calls.setdefault(call["index"], {"id": "", "name": "", "arguments": ""})
                whole["id"] += call.get("id") or ""
                whole["name"] += call["function"].get("name") or ""
                whole["arguments"] += call["function"].get("arguments") or ""
        return [calls[index] for index in sorted(calls)]

    @property
    def usage(self) -> Json | None:
        return next((chunk["usage"] for chunk in self.chunks if chunk.get("usage")), None)


def hear(raw: bytes) -> Heard:
    heard = Heard()
    for event in EventReader().feed(raw):
        assert event.data is not None
        assert not heard.done, "something came after [DONE]"
        if event.data == b"[DONE]":
            heard.done = True
        else:
            heard.chunks.append(json.loads(event.data))
    return heard


def events(*documents: Mapping[str, Any], named: bool = True) -> bytes:
    """As Anthropic frames them; named: with `event:` lines."""
    return b"".join(
        (f"event: {document['type']}\n".encode() if named and "type" in document else b"")
        + b"data: "
        + json.dumps(document).encode()
        + b"\n\n"
        for document in documents
    )


def fed(asked: Exchange, raw: bytes | Iterable[bytes]) -> bytes:
    """What the client gets for these bytes, before the stream's end."""
    reader = EventReader()
    pieces = [raw] if isinstance(raw, bytes) else raw
    return b"".join(asked.feed(event) for piece in pieces for event in reader.feed(piece))


def streamed(format_: str, *documents: Mapping[str, Any], **wanted: Any) -> Heard:
    """A whole stream with its end."""
    asked = exchange(format_, stream=True, **wanted)
    raw = fed(asked, events(*documents, named=format_ == "anthropic"))
    assert asked.error is None, asked.error
    assert asked.finished
    return hear(raw + asked.end())
