"""What every pairing of a client's format with a provider's format must offer.

    ClientRequest ──► Exchange.request() ──► provider
                      Exchange.unary(body)  ◄── an unstreamed answer
                      Exchange.feed(event)  ◄── each event of a stream

    a stream that broke: Exchange.continuation() ──► what another target says, as chat completions ──► client

An exchange belongs to one attempt and starts from the client's original body, so nothing leaks from attempt to
attempt. It is pure: bytes and values in, bytes and values out.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol, Self

import orjson

from resilience.core.classify import ErrorFormat, classify_envelope, find_error
from resilience.core.envelope import HALF_A_PAIR, parsed
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.sent import Sent, with_prefill
from routing.chains import Target
from routing.errors import invalid_request
from routing.sse import Event
from routing.upstream import USER_AGENT, UpstreamRequest


@dataclass(slots=True)
class Usage:
    """Tokens of one answer, as the provider counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    written_tokens: int | None = None  # to the provider's cache; like `cached_tokens`, part of the input

    @property
    def known(self) -> bool:
        """Whether the provider counted anything."""
        return self.input_tokens is not None or self.output_tokens is not None

    def __add__(self, other: Self) -> "Usage":
        """What both used; what neither provider counted stays unknown."""
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.cached_tokens, other.cached_tokens),
            _sum(self.reasoning_tokens, other.reasoning_tokens),
            _sum(self.written_tokens, other.written_tokens),
        )


def _sum(one: int | None, other: int | None) -> int | None:
    return one if other is None else other + (one or 0)


@dataclass(slots=True)
class ClientRequest:
    """A parsed request. `body` is the client's own and is never changed."""

    body: Mapping[str, Any]
    model: str
    stream: bool
    wants_usage: bool
    choices: int = 1
    wants_reasoning: bool = False
    has_tools: bool = False
    headers: Sequence[tuple[bytes, bytes]] = ()  # the client's, for the provider to see
    native_headers: Sequence[tuple[bytes, bytes]] = ()  # the client's, for providers of the client's own format only


@dataclass(slots=True)
class Answer:
    """An unstreamed answer in the client's format."""

    body: bytes
    usage: Usage = field(default_factory=Usage)
    headers: Sequence[tuple[bytes, bytes]] = ()  # for the client, beside those of every answer


def encode(document: object) -> bytes:
    """What was read, to be sent on. Raises GatewayError 400 for what is nested deeper than orjson writes, though not than it reads."""
    try:
        return orjson.dumps(document)
    except orjson.JSONEncodeError as error:
        raise invalid_request("The body is nested too deeply.") from error


def decode(data: bytes) -> Any:
    """A provider's JSON. Raises JSONDecodeError.

    JSON may hold halves of characters, escaped, of servers that cut an answer between them; orjson refuses those.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        document = parsed(text) if HALF_A_PAIR.search(text := data.decode(errors="replace")) else None
        if document is None:
            raise
        return document


class Continuation(Protocol):
    """Writes on in a client's stream that an attempt began: its ids, its open block, no second beginning."""

    tangled: bool  # a chunk went back to a tool call that the client's format had left

    def take(self, chunk: Mapping[str, Any]) -> bytes:
        """The client's events for one chunk of a chat completion."""

    def end(self, usage: Usage) -> bytes:
        """What is still to be sent of a stream that ended well."""


class Exchange(ABC):
    """One attempt's translation. After each `feed` the engine looks at the attributes below."""

    error_format: ErrorFormat

    has_content: bool = False  # the client has something to read: hold-back ends
    finished: bool = False  # every choice has its finish reason; only trailing events may follow
    tentative: bool = False  # so far all that was said came with a finish reason: more may follow, and each time did
    closed: bool = False  # the format's last event came
    error: Failure | None = None  # the provider said in the stream that it failed
    dropped: int = 0  # undecodable events
    dropped_params: tuple[str, ...] = ()  # of the request, left out or weakened for this target; known after `request`
    continues: bool = False  # it was given the beginning of its answer, and may have nothing to add
    sent: Sent | None = None  # where to note what the client gets; None if nobody could go on with it

    def __init__(self, request: ClientRequest, target: Target, output_cap: int | None = None) -> None:
        self.client = request
        self.target = target
        self.output_cap = output_cap  # most output tokens, for the emergency fallback
        self.usage = Usage()

    @property
    def events(self) -> int:
        """Events written for the client so far, where its format numbers them: the number of the next."""
        return 0

    @abstractmethod
    def request(self) -> UpstreamRequest | Answer:
        """The call to make, or the answer where none is needed. Raises GatewayError where the target cannot be asked."""

    def continue_from(self, text: str) -> bool:
        """Ask the target to go on with an answer that begins so; before `request`. False if that cannot be said."""
        messages = self.client.body.get("messages")
        if not messages:
            return False
        self.continues = True
        self.client = replace(self.client, body={**self.client.body, "messages": with_prefill(messages, text)})
        return True

    def clients_name(self, name: str) -> str:
        """What the client calls a member of the target's request."""
        return name

    def as_chat(self) -> "Exchange":
        """What reads the target's answer as chat completions; after `request`. Itself, where the client speaks them."""
        return self

    def continuation(self) -> Continuation | None:
        """What writes on in the client's stream after this attempt broke. None if nothing can."""
        return None

    def headers(self, *own: tuple[bytes, bytes]) -> list[tuple[bytes, bytes]]:
        """Ours, the format's `own`, the client's forwarded ones, the operator's; a later one replaces an earlier one."""
        operators = ((name.lower().encode(), value.encode()) for name, value in self.target.connection.headers)
        merged = {
            b"content-type": b"application/json",
            b"accept": b"text/event-stream" if self.client.stream else b"application/json",
            b"accept-encoding": b"identity",
            b"user-agent": USER_AGENT,
        }
        merged.update((*own, *self.client.headers, *operators))
        return list(merged.items())

    def classify(self, document: object, headers: Mapping[str, str]) -> Failure:
        """The failure that an error envelope inside a 200 or a stream means."""
        provider = self.target.provider
        return classify_envelope(
            self.error_format,
            document,
            200,
            headers,
            now=datetime.now(UTC),
            max_cooldown=provider.policy.cooldown.max_cooldown,
            rules=provider.error_rules,
        )

    def decoded(self, body: bytes, headers: Mapping[str, str]) -> Any | Failure:
        """A 200's document, unless it is a failure after all: no JSON, or an error envelope."""
        try:
            document = decode(body)
        except orjson.JSONDecodeError:
            what = "but the body is not JSON" if body else "without a body"
            return Failure(kind=Kind.TRANSIENT, message=f"status 200 {what}")
        error = find_error(self.error_format, document)
        return document if error is None else self.classify(error, headers)

    @abstractmethod
    def unary(self, body: bytes, headers: Mapping[str, str]) -> Answer | Failure:
        """Judge and translate a 200's body."""

    @abstractmethod
    def feed(self, event: Event) -> bytes:
        """Take one event of the stream; what the client is to get for it, maybe nothing."""

    @abstractmethod
    def replay(self, answer: Answer) -> bytes:
        """An unstreamed answer to a streamed request, as the events of a stream with its end.

        Raises LookupError or the like (translation.NOT_AS_DESCRIBED) if its members are not what the format says.
        """

    @abstractmethod
    def end(self) -> bytes:
        """The client format's own end of a complete stream."""
