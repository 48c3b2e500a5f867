"""A stream that died after its first content is continued by the next target, or ends in the error event.

    died ──broken──► continuable? ──no──► error event
                         │ yes
                         ▼
    next target ── prefill: goes on from the sent text │ otherwise: from the start, unseen ──► only what is new is sent
                         │
                         └─ says something else ─► released, closed; the target after it

Only text can be compared, so only an answer of one choice that was nothing but text so far is continued: no tool call,
no audio, no refusal, and no thoughts that the client saw, since nobody could go on from those.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from resilience.core.kinds import RULES, Kind, NextTarget
from resilience.core.outcome import Failure
from routing.adapters.base import Answer, Continuation, Exchange
from routing.adapters.chat_answer import chunk_data
from routing.adapters.chat_blocks import text_of
from routing.adapters.composed import TANGLED
from routing.adapters.overlap import Continued, DivergedError, Replayed
from routing.adapters.sent import Sent
from routing.adapters.translation import NOT_AS_DESCRIBED
from routing.chains import Target
from routing.job import Broken, Job
from routing.sse import Event
from routing.upstream import UpstreamRequest

BEYOND_TEXT = ("tool_calls", "function_call", "refusal", "audio")  # what may follow the text; thoughts are not shown

# Our own reason to stop: the provider did what it was asked to. Not a success either, since success is settled at the
# end of a stream, and nobody waits for that of this one. So the permit is released, which changes no count.
DIVERGED = Failure(kind=Kind.LOCAL, message="its answer is not the one that the client has the beginning of")


def exchange_for(job: Job, target: Target, output_cap: int | None, *, followed: bool) -> Exchange:
    """The next attempt's exchange. followed: another target could go on, should this one break."""
    broken, request = job.broken, job.request
    exchange = job.pair_with(request, target, output_cap)
    if broken is not None:
        exchange = RescueExchange(exchange, broken, job)
    if followed and request.stream and request.choices == 1 and target.provider.stream_rescue == "auto":
        exchange.sent = broken.sent if broken else Sent()
    return exchange


def broken(job: Job, exchange: Exchange | None, failure: Failure) -> Broken | None:
    """What the next target needs to go on with the client's stream; None if it must not."""
    before = job.broken
    following = RULES[failure.kind].next_target
    if before is not None and not (isinstance(exchange, RescueExchange) and exchange.forwarded):
        # what the target says against a request that others took is about our prefill, not the caller's mistake
        filtered = following is NextTarget.BY_SETTING and job.table.settings.on_content_filter == "error"
        return None if filtered else before
    if exchange is None or exchange.sent is None or not exchange.sent.only_text or following is not NextTarget.YES:
        return None
    continuation = exchange.continuation()
    if continuation is None:
        return None
    return Broken(failure, before.begun if before else exchange, exchange.sent, continuation)


class RescueExchange(Exchange):
    """Asks as any attempt would, and gives the client only what it does not have yet, in the stream it has."""

    def __init__(self, asking: Exchange, broken: Broken, job: Job) -> None:
        super().__init__(asking.client, asking.target, asking.output_cap)
        self.error_format = asking.error_format
        self.forwarded = False  # the client has something from this attempt
        self._asking = asking
        self._chat: Exchange = asking
        self._begun = broken.begun
        self._continuation = broken.continuation
        self._earlier = job.usage
        self._whole = b""
        text = broken.sent.text
        self._overlap: Continued | Replayed = Replayed(text)
        # a model that is to think first does not go on from a beginning
        if self.target.facts.supports_prefill and text.strip() and not self.client.wants_reasoning:
            continued = Continued(text)
            if asking.continue_from(continued.prefill):
                self._overlap = continued

    @property
    def events(self) -> int:
        """Of the client's stream, which is the one that goes on."""
        return self._begun.events

    @property
    def how(self) -> str:
        """By which way: `prefill` or `replay`."""
        return "prefill" if isinstance(self._overlap, Continued) else "replay"

    def request(self) -> UpstreamRequest | Answer:
        """The call as of any attempt."""
        call = self._asking.request()
        self.dropped_params = self._asking.dropped_params
        self._chat = self._asking.as_chat()
        return call

    def feed(self, event: Event) -> bytes:
        """What the event says beyond what the client has."""
        chat = self._chat
        output = self._new(chat.feed(event), over=chat.finished or chat.closed)
        self.usage, self.dropped, self.has_content = chat.usage, chat.dropped, chat.has_content
        if self.error is None:
            self.error, self.finished, self.closed = chat.error, chat.finished, chat.closed
            self.tentative = chat.tentative
        return output

    def unary(self, body: bytes, headers: Mapping[str, str]) -> Answer | Failure:
        """An unstreamed answer, compared as a whole."""
        result = self._chat.unary(body, headers)
        if isinstance(result, Failure):
            return result
        self._whole = self._new(self._chat.replay(result), over=True)
        return self._chat.error or self.error or result

    def replay(self, answer: Answer) -> bytes:  # noqa: ARG002 (`unary` has made it)
        """What of an unstreamed answer is new, and the end."""
        return self._whole + self.end()

    def end(self) -> bytes:
        """The end of the client's stream, with what all providers counted that had a part in it."""
        return self._continuation.end(self._earlier + self.usage)

    def continuation(self) -> Continuation:
        """The same that this attempt writes with."""
        return self._continuation

    def _new(self, chunks: bytes, *, over: bool) -> bytes:
        """The client's events for chunks. over: the answer has ended with them."""
        output = b""
        try:
            for data in chunk_data(chunks):
                output += self._beyond(data)
            if over and (rest := self._overlap.rest()):
                output += self._write({"object": "chat.completion.chunk"}, {"index": 0}, {"content": rest})
        except DivergedError:
            self.error = DIVERGED
        self.forwarded = self.forwarded or bool(output)
        return output

    def _beyond(self, data: bytes) -> bytes:
        """Raises DivergedError."""
        try:
            return self._read(orjson.loads(data))
        except NOT_AS_DESCRIBED:
            self._chat.dropped += 1
            return b""

    def _read(self, chunk: dict[str, Any]) -> bytes:
        """Raises DivergedError, or one of NOT_AS_DESCRIBED."""
        choices = chunk.get("choices")
        if not choices:
            return b""  # usage, which the continuation writes
        choice = choices[0]
        said = choice.get("delta") or {}
        delta = {name: said[name] for name in BEYOND_TEXT if said.get(name)}
        text = text_of(said.get("content"))
        new = self._overlap.take(text)
        if delta or choice.get("finish_reason"):
            new += self._overlap.rest()
        if new:
            delta["content"] = new
        if new != text:
            choice = {**choice, "logprobs": None}  # of tokens, some of which the client has
        return self._write(chunk, choice, delta)

    def _write(self, chunk: dict[str, Any], choice: dict[str, Any], delta: dict[str, Any]) -> bytes:
        if not delta and not choice.get("finish_reason"):
            return b""
        output = self._continuation.take({**chunk, "choices": [{**choice, "delta": delta}]})
        if self.sent is not None:
            self.sent.take(delta)
        if self._continuation.tangled:
            self.error = TANGLED
        return output
