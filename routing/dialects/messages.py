"""`POST /v1/messages` and `/v1/messages/count_tokens`: Anthropic clients."""

from collections.abc import Mapping, Sequence
from typing import Any

from routing.adapters.base import ClientRequest, Exchange
from routing.adapters.messages import MessagesExchange
from routing.adapters.messages_native import NativeMessages
from routing.adapters.token_counts import EstimatedTokenCount, NativeTokenCount
from routing.chains import Target
from routing.dialects.base import Dialect, Headers, Lines
from routing.dialects.chat import EXCHANGES, flag, model_name, parse_object
from routing.dialects.model_pages import model_info, model_page
from routing.errors import GatewayError, invalid_request
from routing.listing import ListedModel
from routing.sse import typed_event

NATIVE_HEADERS = (b"anthropic-version", b"anthropic-beta")  # for Anthropic's own targets only
TYPES: Mapping[int, str] = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
}


class Messages(Dialect):
    """Anthropic's Messages: untouched to targets that speak them, through chat completions to all others."""

    path = "/v1/messages"
    id_header = b"request-id"

    def parse(self, body: bytes, headers: Headers) -> ClientRequest:
        """Read a request. Raises GatewayError 400."""
        document = self.read(body)
        limit = document.get("max_tokens")
        if type(limit) is not int or limit < 1:
            raise invalid_request("`max_tokens` must be a whole number above 0.", "max_tokens")
        return self.request_of(document, headers, stream=flag(document, "stream"))

    def read(self, body: bytes) -> dict[str, Any]:
        """What a request of either kind must have."""
        document = parse_object(body)
        model_name(document)
        messages = document.get("messages")
        if not isinstance(messages, list) or not messages:
            raise invalid_request("`messages` must be a list with at least one message.", "messages")
        for number, message in enumerate(messages):
            if not isinstance(message, dict) or not isinstance(message.get("role"), str):
                where = f"messages[{number}]"
                raise invalid_request(f"`{where}` must be an object with `role` and `content`.", where)
            if not isinstance(message.get("content"), (str, list)):
                where = f"messages[{number}].content"
                raise invalid_request(f"`{where}` must be a string or a list of blocks.", where)
        return document

    def request_of(self, document: Mapping[str, Any], headers: Headers, *, stream: bool) -> ClientRequest:
        """The parsed request."""
        thinking = document.get("thinking")
        return ClientRequest(
            body=document,
            model=document["model"],
            stream=stream,
            wants_usage=True,
            wants_reasoning=isinstance(thinking, dict) and thinking.get("type") in ("enabled", "adaptive"),
            has_tools=bool(document.get("tools")),
            headers=self.forwarded(headers),
            native_headers=[(name, headers[name]) for name in NATIVE_HEADERS if name in headers],
        )

    def pair(self, request: ClientRequest, target: Target, output_cap: int | None) -> Exchange:
        """Every provider format can be spoken to."""
        if target.provider.format == "anthropic":
            return NativeMessages(request, target, output_cap)
        return MessagesExchange(request, target, output_cap, EXCHANGES[target.provider.format])

    def model_card(self, model: ListedModel) -> dict[str, Any]:
        """See model_info."""
        return model_info(model)

    def model_list(self, models: Sequence[ListedModel], query: Mapping[str, str]) -> dict[str, Any]:
        """See model_page."""
        return model_page(models, query)

    def error_body(self, error: GatewayError, request_id: str, chain: str, lines: Lines) -> dict[str, Any]:
        """Anthropic's error object, with the gateway's own member."""
        ours = error.body(request_id, chain, lines)["error"]["omniroute"]
        kind = TYPES.get(error.status) or ("invalid_request_error" if error.status < 500 else "api_error")
        told = {"type": kind, "message": error.message, "code": error.code, "param": error.param, "omniroute": ours}
        return {"type": "error", "error": told, "request_id": request_id}

    def error_event(self, body: Mapping[str, Any], number: int) -> bytes:  # noqa: ARG002 (other formats have numbers)
        """`event: error`; no `message_stop` follows."""
        return typed_event("error", body)


class CountTokens(Messages):
    """How many tokens a message would have: the provider's count, or an estimate marked as such."""

    path = "/v1/messages/count_tokens"

    def parse(self, body: bytes, headers: Headers) -> ClientRequest:
        """As a message, without `max_tokens`. Raises GatewayError 400."""
        return self.request_of(self.read(body), headers, stream=False)

    def pair(self, request: ClientRequest, target: Target, output_cap: int | None) -> Exchange:  # noqa: ARG002 (nothing is put out)
        """Only Anthropic's format has such a call."""
        counting = NativeTokenCount if target.provider.format == "anthropic" else EstimatedTokenCount
        return counting(request, target, None)
