"""The proxy in this process, between a scripted provider per slug and a client that is only messages."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from types import MappingProxyType
from typing import Any

import httpx

from resilience.core.policy import BreakerConfig, CooldownConfig, Policy
from resilience.registry import Registry
from routing import proxy, table, upstream
from routing.requestlog import RequestRecord
from routing.table import (
    Chain,
    ClientKey,
    Connection,
    Emergency,
    Entry,
    GatewaySettings,
    ModelFacts,
    Provider,
    RoutingTable,
    Timeouts,
)

KEY = "sk-or-test-key-0123456789"
STEADY = Policy(breaker=BreakerConfig(jitter=0.0), cooldown=CooldownConfig())

Json = dict[str, Any]


def completion(text: str = "hello", **members: Any) -> Json:
    message = {"role": "assistant", "content": text} | members.pop("message", {})
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
    } | members


def chunk(text: str | None = None, finish: str | None = None, index: int = 0, **delta: Any) -> bytes:
    body = {} if text is None else {"content": text}
    choice = {"index": index, "delta": body | delta, "finish_reason": finish}
    return event({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})


def event(document: Json) -> bytes:
    return b"data: " + json.dumps(document).encode() + b"\n\n"


def typed_event(kind: str, **members: Any) -> bytes:
    """As Messages and Responses have them."""
    return f"event: {kind}\n".encode() + event({"type": kind} | members)


DONE = b"data: [DONE]\n\n"
ROLE = chunk("", role="assistant")
HELLO = (ROLE, chunk("Hel"), chunk("lo"), chunk(finish="stop"), DONE)


class Hang:
    """In a stream: silence until the gateway closes the connection."""


class Break:
    """In a stream: the connection breaks."""


@dataclass
class Reply:
    """What a provider answers to one call."""

    status: int = 200
    body: Json | bytes | str = field(default_factory=completion)
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: Iterable[bytes | Hang | Break] | None = None
    raises: Exception | None = None
    hangs: bool = False
    gate: asyncio.Event | None = None  # answered only when set


def failing(status: int, code: str | None = None, message: str = "it failed", **headers: str) -> Reply:
    error = {"error": {"message": message, "type": "server_error", "code": code, "param": None}}
    return Reply(status, error, {name.replace("_", "-"): value for name, value in headers.items()})


def streaming(*pieces: bytes | Hang | Break) -> Reply:
    return Reply(stream=pieces or HELLO)


class Pieces(httpx.AsyncByteStream):
    def __init__(self, pieces: Iterable[bytes | Hang | Break], closed: Callable[[], None]) -> None:
        self._pieces = pieces
        self._closed = closed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, Hang):
                await asyncio.Event().wait()
            elif isinstance(piece, Break):
                raise httpx.ReadError("connection reset")
            else:
                yield piece

    async def aclose(self) -> None:
        self._closed()


class ScriptedProvider(httpx.AsyncBaseTransport):
    """Answers one reply after another; the last one repeats."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies) or [Reply()]
        self.calls: list[httpx.Request] = []
        self.closed = 0
        self.called = asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        reply = self.replies[min(len(self.calls), len(self.replies) - 1)]
        self.calls.append(request)
        self.called.set()
        if reply.gate is not None:
            await reply.gate.wait()
        if reply.hangs:
            await asyncio.Event().wait()
        if reply.raises is not None:
            raise reply.raises
        if reply.stream is not None:
            headers = {"content-type": "text/event-stream", **reply.headers}
            return httpx.Response(reply.status, headers=headers, stream=Pieces(reply.stream, self._count_close))
        body = reply.body
        content = (
            body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        )
        headers = {"content-type": "application/json", **reply.headers}
        return httpx.Response(reply.status, headers=headers, stream=Pieces([content], self._count_close))

    def _count_close(self) -> None:
        self.closed += 1

    def bodies(self) -> list[Json]:
        return [json.loads(call.content) for call in self.calls]


class Answer:
    """What the client was sent."""

    def __init__(self, messages: list[Json]) -> None:
        self.messages = messages
        start = next((message for message in messages if message["type"] == "http.response.start"), None)
        self.status: int | None = start and start["status"]
        self.headers = {name.decode(): value.decode() for name, value in start["headers"]} if start else {}
        self.body = b"".join(message.get("body", b"") for message in messages)
        self.complete = bool(messages) and not messages[-1].get(
            "more_body", messages[-1]["type"] != "http.response.body"
        )

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> Json:
        error: Json = self.json()["error"]
        return error

    @property
    def served_by(self) -> str | None:
        return self.headers.get("x-omniroute-provider")

    @property
    def events(self) -> list[Any]:
        data = [block.partition(b"data: ")[2] for block in self.body.split(b"\n\n") if block]
        return [block if block == b"[DONE]" else json.loads(block) for block in data]

    @property
    def text(self) -> str:
        chunks = [one for one in self.events if isinstance(one, dict) and "choices" in one]
        return "".join(choice["delta"].get("content") or "" for one in chunks for choice in one["choices"])


class Gateway:
    """A routing table of one chain over the given providers, and the proxy in front of it."""

    def __init__(self, registry: Registry, records: list[RequestRecord]) -> None:
        self.registry = registry
        self.records = records
        self.providers: dict[str, ScriptedProvider] = {}
        self._rows: dict[str, Provider] = {}
        self._entries: list[Entry] = []
        self.settings = GatewaySettings(wait_for_retry_after=0)
        self.facts: dict[tuple[str, str], ModelFacts] = {}
        self.keys: dict[str, ClientKey] = {sha256(KEY.encode()).hexdigest(): ClientKey(1, "test")}
        self.strategy = "priority"

    def provider(
        self,
        slug: str,
        *replies: Reply,
        connections: Iterable[str | Connection] = ("main",),
        in_chain: bool = True,
        **row: Any,
    ) -> ScriptedProvider:
        """Add a provider to the table and, in order, to the chain `model`."""
        ready = tuple(
            one
            if isinstance(one, Connection)
            else Connection(slug, one, f"http://{slug}.invalid/v1", api_key=f"key-{slug}-{one}")
            for one in connections
        )
        values: Json = {"policy": STEADY, "timeouts": Timeouts(), "retries": 0, "retry_backoff": 0.0} | row
        known = Provider(
            slug, slug, values.pop("format", "openai"), f"http://{slug}.invalid/v1", connections=ready, **values
        )
        self._rows[slug] = known
        if in_chain:
            self._entries.append(Entry(known, "m", priority=len(self._entries)))
        self.providers[slug] = ScriptedProvider(*replies)
        return self.providers[slug]

    def entry(self, slug: str, model: str, **members: Any) -> None:
        """Add an entry with another model of a known provider."""
        self._entries.append(Entry(self._rows[slug], model, **({"priority": len(self._entries)} | members)))

    def emergency(self, slug: str, **members: Any) -> None:
        self.settings = replace(
            self.settings, emergency=Emergency(enabled=True, provider=slug, model="free", **members)
        )

    def install(self) -> None:
        """Put the table in force and the scripted providers behind it, in this event loop."""
        table.swap(
            RoutingTable(
                version=1,
                providers=MappingProxyType(dict(self._rows)),
                chains=MappingProxyType({"model": Chain("model", self.strategy, entries=tuple(self._entries))}),
                keys=MappingProxyType(self.keys),
                facts=MappingProxyType(self.facts),
                settings=self.settings,
                loaded_at=datetime.now(UTC),
            )
        )
        for slug, provider in self.providers.items():
            upstream.current().use(slug, provider)

    def begin(self, body: Any = None, **options: Any) -> "Call":
        """Send a request; the returned call is running."""
        self.install()
        return Call(body if body is not None else chat(), **options)

    async def ask(self, body: Any = None, **options: Any) -> Answer:
        return await self.begin(body, **options).answer()

    @property
    def permits(self) -> int:
        """Permits given and not settled, and calls in flight."""
        return len(self.registry._permits) + sum(proxy.live.in_flight.values())

    def breaker(self, slug: str) -> Any:
        return self.registry.breakers.get(slug)


def chat(**members: Any) -> Json:
    return {"model": "model", "messages": [{"role": "user", "content": "ping"}]} | members


class Call:
    """One request of a client, as ASGI messages."""

    def __init__(
        self,
        body: Any,
        *,
        path: str = "/v1/chat/completions",
        query: str = "",
        method: str = "POST",
        headers: Mapping[str, str] | None = None,
        key: str | None = KEY,
        stops_at: bytes | None = None,
        more_body: bool = False,
    ) -> None:
        """stops_at: the client never takes the piece that holds this. more_body: it has not sent all."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {
            "content-type": "application/json",
            **({"authorization": f"Bearer {key}"} if key else {}),
            **(headers or {}),
        }
        raw = [(name.lower().encode(), value.encode()) for name, value in sent.items()]
        scope = {"type": "http", "method": method, "path": path, "headers": raw, "query_string": query.encode()}
        self._incoming: asyncio.Queue[Json] = asyncio.Queue()
        self._incoming.put_nowait({"type": "http.request", "body": content, "more_body": more_body})
        self.messages: list[Json] = []
        self._arrived = asyncio.Event()
        self._stops_at = stops_at
        self.task = asyncio.create_task(proxy.application(scope, self._incoming.get, self._send))

    async def _send(self, message: Any) -> None:
        if self._stops_at is not None and self._stops_at in message.get("body", b""):
            await asyncio.Event().wait()
        self.messages.append(dict(message))
        self._arrived.set()

    def hang_up(self) -> None:
        self._incoming.put_nowait({"type": "http.disconnect"})

    async def wait_for(self, piece: bytes) -> None:
        """Until the client was sent these bytes."""
        while piece not in b"".join(message.get("body", b"") for message in self.messages):
            self._arrived.clear()
            await self._arrived.wait()

    async def answer(self) -> Answer:
        async with asyncio.timeout(10):
            await self.task
        return Answer(self.messages)
