"""What the gateway must know of a client's format: how to read a request and how to say that it failed.

bytes ──parse──► ClientRequest ──pair──► Exchange (one per attempt, with the target's format)
GatewayError ──error_body──► JSON, or ──error_event──► the last event of a stream that broke
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import orjson

from routing.adapters.base import ClientRequest, Exchange
from routing.chains import Target
from routing.errors import GatewayError
from routing.listing import ListedModel

Headers = Mapping[bytes, bytes]
Lines = Sequence[Mapping[str, Any]]

TRACING = (b"traceparent", b"tracestate")  # the client's headers that any provider may see


class Dialect(ABC):
    """One endpoint's format. Stateless; a request's own facts are in ClientRequest."""

    path: ClassVar[str]
    id_header: ClassVar[bytes] = b"x-request-id"  # where the format's SDKs look for the request's id

    @abstractmethod
    def parse(self, body: bytes, headers: Headers) -> ClientRequest:
        """Read a request. Raises GatewayError 400 with the offending member as `param`."""

    @abstractmethod
    def pair(self, request: ClientRequest, target: Target, output_cap: int | None) -> Exchange:
        """The exchange between this format and the target's, for one attempt. Raises GatewayError if there is none."""

    def model_card(self, model: ListedModel) -> dict[str, Any]:
        """One model of the list."""
        return {"id": model.name, "object": "model", "created": 0, "owned_by": model.owner}

    def model_list(self, models: Sequence[ListedModel], query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002 (OpenAI's has no pages)
        """The models a key may use, as far as the query asks for them. Raises GatewayError 400."""
        return {"object": "list", "data": [self.model_card(model) for model in models]}

    def error_body(self, error: GatewayError, request_id: str, chain: str, lines: Lines) -> dict[str, Any]:
        """The error object: OpenAI's, unless the format has its own."""
        return error.body(request_id, chain, lines)

    def error_event(self, body: Mapping[str, Any], number: int) -> bytes:  # noqa: ARG002 (other formats have numbers)
        """The last event of a stream that broke; the format's own end does not follow. number: see Exchange.events."""
        return b"data: " + orjson.dumps(body) + b"\n\n"

    def forwarded(self, headers: Headers) -> list[tuple[bytes, bytes]]:
        """The client's headers that providers get to see."""
        return [(name, headers[name]) for name in TRACING if name in headers]
