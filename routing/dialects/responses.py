"""`POST /v1/responses`: clients of OpenAI's Responses API."""

from collections.abc import Mapping
from types import NoneType
from typing import Any

from routing.adapters.base import ClientRequest, Exchange
from routing.adapters.openai_hosts import has_responses
from routing.adapters.parameters import object_member
from routing.adapters.responses import ResponsesExchange
from routing.adapters.responses_native import NATIVE
from routing.chains import Target
from routing.dialects.base import Dialect, Headers, Lines
from routing.dialects.chat import EXCHANGES, flag, model_name, parse_object
from routing.errors import GatewayError, invalid_request
from routing.sse import typed_event

IN_PLACE_OF_INPUT = ("prompt", "previous_response_id", "conversation")

ITEM_MEMBERS = (
    ("type", (str, NoneType), "a string"),
    ("role", (str, NoneType), "a string"),
    ("content", (str, list, NoneType), "a string or a list of parts"),
)


class Responses(Dialect):
    """OpenAI's Responses: untouched to targets that have them, through chat completions to all others."""

    path = "/v1/responses"

    def parse(self, body: bytes, headers: Headers) -> ClientRequest:
        """Read a request. Raises GatewayError 400."""
        document = parse_object(body)
        model = model_name(document)
        _check_input(document)
        if not isinstance(document.get("instructions"), str | None):
            raise invalid_request("`instructions` must be a string.", "instructions")
        reasoning = object_member(document, "reasoning")
        object_member(document, "text")
        return ClientRequest(
            body=document,
            model=model,
            stream=flag(document, "stream"),
            wants_usage=True,
            wants_reasoning=reasoning.get("effort") not in (None, "none", "minimal") or bool(reasoning.get("summary")),
            has_tools=bool(document.get("tools")),
            headers=self.forwarded(headers),
        )

    def pair(self, request: ClientRequest, target: Target, output_cap: int | None) -> Exchange:
        """Every provider format can be spoken to."""
        provider_format = target.provider.format
        if has_responses(target):
            return NATIVE[provider_format](request, target, output_cap)
        return ResponsesExchange(request, target, output_cap, EXCHANGES[provider_format])

    def error_body(self, error: GatewayError, request_id: str, chain: str, lines: Lines) -> dict[str, Any]:
        """OpenAI's error object. What is too long is called `input` here."""
        body = super().error_body(error, request_id, chain, lines)
        if error.param == "messages":
            body["error"]["param"] = "input"
        return body

    def error_event(self, body: Mapping[str, Any], number: int) -> bytes:
        """`event: error` with its members as the API's reference has them, and in `error`, for which SDKs look first."""
        error = body["error"]
        told = {name: error[name] for name in ("code", "message", "param")}
        return typed_event("error", {"sequence_number": number, **told, **body})


def _check_input(document: Mapping[str, Any]) -> None:
    given = document.get("input")
    if not given and any(document.get(name) for name in IN_PLACE_OF_INPUT):
        return
    if not isinstance(given, str | list) or not given:
        raise invalid_request("`input` must be a text or a list with at least one item.", "input")
    for number, item in enumerate(given if isinstance(given, list) else ()):
        if not isinstance(item, dict):
            raise invalid_request(f"`input[{number}]` must be an object.", f"input[{number}]")
        for name, types, what in ITEM_MEMBERS:
            if not isinstance(item.get(name), types):
                where = f"input[{number}].{name}"
                raise invalid_request(f"`{where}` must be {what}.", where)
