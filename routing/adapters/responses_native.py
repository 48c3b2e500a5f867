"""OpenAI's Responses to a target that has them: what came is passed on as it came.

Only the last event waits for the engine to settle, since clients hang up as soon as they have it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

import orjson

from resilience.core.classify import find_error
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.base import Answer, Usage
from routing.adapters.chat_answer import ChunkWriter, tool_call
from routing.adapters.chat_blocks import Block, BlockKind
from routing.adapters.native import Json, NativeExchange
from routing.adapters.openai_call import AzureCall, OpenAICall, azure_resource, read_usage, split_base
from routing.adapters.responses_answer import INCOMPLETE
from routing.adapters.responses_continued import ContinuedResponse, SentResponse
from routing.adapters.responses_events import replay_response
from routing.adapters.responses_items import OURS, item_of
from routing.adapters.translation import NOT_AS_DESCRIBED
from routing.sse import EventReader

SPEAKS_LATER = ("message", "reasoning")  # items that begin empty; all others say what is done
SIDES = ("input", "output")  # of a usage
LAST = ("response.completed", "response.incomplete")
SAID_IN_CHAT = ("message", "reasoning", "function_call")

# What OpenAI's own tools did, and a second message: the provider is not to blame that no stream goes on with those.
UNSAID = Failure(kind=Kind.LOCAL, message="its answer is more than text and calls of functions")


class NativeResponses(NativeExchange, OpenAICall):
    """Responses in, Responses out."""

    path = "/responses"
    _ending = b""
    _last_number = -1
    _continued: ContinuedResponse | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._had = SentResponse()

    def body(self) -> Json:
        """The client's body with the target's model; members we do not know pass untouched."""
        body = {**self.client.body, "model": self.target.model}
        if isinstance(body.get("input"), list):
            body["input"] = self._without_ours(body["input"])
        if self.output_cap is not None:
            given = body.get("max_output_tokens")
            limits = [given] if isinstance(given, int) and given > 0 else []
            body["max_output_tokens"] = min([*limits, self.output_cap])
        return body

    def _without_ours(self, items: list[Any]) -> list[Any]:
        """The provider looks ids up, and answers 404 to those we gave to what another model said."""
        if not any(map(_is_ours, items)):
            return items
        kept = [
            {name: value for name, value in item.items() if name != "id"} if _is_ours(item) else item
            for item in items
            if not (_is_ours(item) and item.get("type") == "reasoning")
        ]
        if len(kept) < len(items):
            self.dropped_params = ("input.reasoning",)
        return kept

    def is_answer(self, document: Any) -> bool:
        """Whether it is a response, and says something or why not."""
        output = document.get("output") if isinstance(document, dict) else None
        return isinstance(output, list) and bool(output or document.get("status") != "completed")

    def usage_of(self, document: Json) -> Usage:
        """As the provider counted."""
        return read_usage(document.get("usage"), *SIDES)

    def error_in(self, document: Json) -> object | None:
        """`error`, `response.failed`, or an error envelope that is no event at all."""
        kind = document.get("type")
        if kind == "response.failed":
            response = document.get("response")
            return {"error": response.get("error") if isinstance(response, dict) else None}
        if kind == "error" or not isinstance(kind, str):
            return find_error(self.error_format, document)
        return None

    def pass_on(self, document: Json, raw: bytes) -> bytes:
        """Every event is the client's, the last one when all is settled."""
        kind = document.get("type")
        if not isinstance(kind, str):
            return raw
        if type(number := document.get("sequence_number")) is int:
            self._last_number = number
        if self.sent is not None:
            self._had.note(document, self.sent)
        if kind.endswith(".delta"):
            self.has_content = True
        elif kind == "response.output_item.added":
            item = document.get("item")
            self.has_content |= isinstance(item, dict) and item.get("type") not in SPEAKS_LATER
        elif kind in LAST:
            response = document.get("response")
            self.usage = read_usage(response.get("usage") if isinstance(response, dict) else None, *SIDES)
            self.finished = self.closed = True
            self._ending = raw
            return b""
        return raw

    @property
    def events(self) -> int:
        """As the provider numbered them, and then we."""
        return self._continued.events.written if self._continued else self._last_number + 1

    def continue_from(self, text: str) -> bool:
        """The answer as a message in progress: so vLLM is asked to go on (its `should_continue_final_message`)."""
        given = self.client.body.get("input")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        if not items or items[-1].get("role") == "assistant":
            return False
        token = uuid4().hex
        begun = item_of(Block(BlockKind.TEXT, pieces=[text]), token, "in_progress") | {"id": f"msg_{token}"}
        self.client = replace(self.client, body={**self.client.body, "input": [*items, begun]})
        return True

    def as_chat(self) -> "ResponsesAsChunks":
        """The same events, read for a stream that goes on."""
        return ResponsesAsChunks(self.client, self.target)

    def continuation(self) -> ContinuedResponse:
        """More events of the same response."""
        text = self.sent.text if self.sent else ""
        stream = ContinuedResponse(self.client.body, self.target.model, self._had, text)
        stream.events.written = self._last_number + 1
        self._continued = stream
        return stream

    def replay(self, answer: Answer) -> bytes:
        """The whole response as the events of a stream."""
        return replay_response(orjson.loads(answer.body))

    def end(self) -> bytes:
        """The provider's own last event."""
        return self._ending


class AzureResponses(NativeResponses, AzureCall):
    """Azure has Responses under `/openai/v1` only, where the deployment is the model and no version is needed."""

    def url(self) -> str:
        """`{resource}/openai/v1/responses`, or `{base}/responses` if the base names `/v1`."""
        base, query = split_base(self.target.connection.base_url)
        if base.endswith("/v1"):
            return f"{base}{self.path}{query}"
        return f"{azure_resource(base)}/openai/v1{self.path}"


class ResponsesAsChunks(NativeResponses):
    """A target's response as chat completions, as far as it can be said in them; for a stream that goes on with it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._chunks = ChunkWriter(None, None, self.target.model, usage_follows=False)
        self._messages = self._calls = 0

    def pass_on(self, document: Json, raw: bytes) -> bytes:
        """Text as it comes, a call once it is whole."""
        super().pass_on(document, raw)
        try:
            return self._read(document)
        except NOT_AS_DESCRIBED:
            self.dropped += 1
            return b""

    def _read(self, document: Json) -> bytes:
        """Raises one of NOT_AS_DESCRIBED."""
        match document["type"]:
            case "response.output_text.delta":
                return self._chunks.delta({"content": document["delta"]})
            case "response.refusal.delta":
                return self._chunks.delta({"refusal": document["delta"]})
            case "response.output_item.added":
                kind = document["item"]["type"]
                self._messages += kind == "message"
                if kind not in SAID_IN_CHAT or self._messages > 1:
                    self.error = UNSAID
            case "response.output_text.annotation.added":
                self.error = UNSAID
            case "response.output_item.done" if document["item"]["type"] == "function_call":
                return self._call(document["item"])
            case "response.completed":
                return self._chunks.finish("tool_calls" if self._calls else "stop")
            case "response.incomplete":
                return self._chunks.finish(_cut_by(document.get("response")))
        return b""

    def _call(self, item: Json) -> bytes:
        call = tool_call(item["call_id"], item["name"], item["arguments"])
        self._calls += 1
        return self._chunks.delta({"tool_calls": [{"index": self._calls - 1, **call}]})

    def replay(self, answer: Answer) -> bytes:
        """A whole response, by its events."""
        chunks = b"".join(map(self.feed, EventReader().feed(super().replay(answer))))
        return b"" if self.error else chunks


NATIVE: Mapping[str, type[NativeResponses]] = {"openai": NativeResponses, "azure": AzureResponses}


def _is_ours(item: Any) -> bool:
    given = item.get("id") if isinstance(item, dict) else None
    return isinstance(given, str) and OURS in given


def _cut_by(response: Any) -> str:
    """Chat completions' word for why a response is incomplete; never one for an answer that is whole."""
    details = response.get("incomplete_details") if isinstance(response, dict) else None
    reason = details.get("reason") if isinstance(details, dict) else None
    return next((finish for finish, word in INCOMPLETE.items() if word == reason), "length")
