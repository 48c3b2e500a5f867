"""OpenAI's Responses to a target that has them: what came is passed on as it came.

Only the last event waits for the engine to settle, since clients hang up as soon as they have it.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from resilience.core.classify import find_error
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.base import Answer, Usage
from routing.adapters.native import Json, NativeExchange
from routing.adapters.openai_call import AzureCall, OpenAICall, azure_resource, read_usage, split_base
from routing.adapters.responses_events import replay_response
from routing.adapters.responses_items import OURS
from routing.adapters.translation import NOT_AS_DESCRIBED

SPEAKS_LATER = ("message", "reasoning")  # items that begin empty; all others say what is done
SIDES = ("input", "output")  # of a usage
LAST = ("response.completed", "response.incomplete")


class NativeResponses(NativeExchange, OpenAICall):
    """Responses in, Responses out."""

    path = "/responses"
    _ending = b""
    _replayed = b""
    _last_number = -1

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
        """As the provider numbered them."""
        return self._last_number + 1

    def unary(self, body: bytes, headers: Mapping[str, str]) -> Answer | Failure:
        """The body as it came; to a streamed request only if it can be told as events."""
        result = super().unary(body, headers)
        if isinstance(result, Answer) and self.client.stream:
            try:
                self._replayed = replay_response(orjson.loads(body))
            except NOT_AS_DESCRIBED:
                return Failure(kind=Kind.TRANSIENT, message="status 200, but the body is no response")
        return result

    def replay(self, answer: Answer) -> bytes:  # noqa: ARG002 (`unary` has made it)
        """The whole response as the events of a stream."""
        return self._replayed

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


NATIVE: Mapping[str, type[NativeResponses]] = {"openai": NativeResponses, "azure": AzureResponses}


def _is_ours(item: Any) -> bool:
    given = item.get("id") if isinstance(item, dict) else None
    return isinstance(given, str) and OURS in given
