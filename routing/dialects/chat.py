"""`POST /v1/chat/completions`: parsed, and refused where it cannot be meant.

Only what the gateway itself relies on is checked; everything else is the provider's business and passes untouched.
"""

from collections.abc import Mapping
from types import NoneType
from typing import Any

import orjson

from routing.adapters.anthropic import AnthropicExchange
from routing.adapters.base import ClientRequest, Exchange
from routing.adapters.gemini import GeminiExchange
from routing.adapters.openai import AzureExchange, ChatExchange
from routing.chains import Target
from routing.dialects.base import Dialect, Headers
from routing.errors import GatewayError, invalid_request

MAX_MODEL_NAME = 200  # as wide as the narrowest column it is stored in
MAX_CHOICES = 128  # OpenAI's own limit for `n`
CONTENT = (str, list, NoneType)

EXCHANGES: Mapping[str, type[Exchange]] = {
    "openai": ChatExchange,
    "azure": AzureExchange,
    "anthropic": AnthropicExchange,
    "gemini": GeminiExchange,
}


class ChatCompletions(Dialect):
    """OpenAI's chat completions, the format that all others are translated through."""

    path = "/v1/chat/completions"

    def parse(self, body: bytes, headers: Headers) -> ClientRequest:
        """Read a request. Raises GatewayError 400 `invalid_json` or `invalid_request`."""
        document = parse_object(body)
        model = model_name(document)
        _check_messages(document.get("messages"))
        options = document.get("stream_options")
        if options is not None and not isinstance(options, dict):
            raise invalid_request("`stream_options` must be an object.", "stream_options")
        return ClientRequest(
            body=document,
            model=model,
            stream=flag(document, "stream"),
            wants_usage=bool(options and options.get("include_usage")),
            choices=_choices(document.get("n")),
            wants_reasoning=document.get("reasoning_effort") not in (None, "none", "minimal")
            or "reasoning" in document,
            has_tools=bool(document.get("tools") or document.get("functions")),
            headers=self.forwarded(headers),
        )

    def pair(self, request: ClientRequest, target: Target, output_cap: int | None) -> Exchange:
        """Every provider format can be spoken to."""
        return EXCHANGES[target.provider.format](request, target, output_cap)


def model_name(document: Mapping[str, Any]) -> str:
    """The requested name. Raises GatewayError 400."""
    model = document.get("model")
    if not isinstance(model, str) or not 0 < len(model) <= MAX_MODEL_NAME or not model.isprintable():
        raise invalid_request(f"`model` must be a string of 1 to {MAX_MODEL_NAME} printable characters.", "model")
    return model


def parse_object(body: bytes) -> dict[str, Any]:
    """A JSON object. Raises GatewayError 400."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        what = f"The body is not JSON: {error}." if body.strip() else "The body is empty; a JSON object was expected."
        raise GatewayError(what, status=400, code="invalid_json") from error
    if not isinstance(document, dict):
        raise invalid_request("The body must be a JSON object.")
    return document


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or not messages:
        raise invalid_request("`messages` must be a list with at least one message.", "messages")
    for number, message in enumerate(messages):
        if not isinstance(message, dict):
            where = f"messages[{number}]"
            raise invalid_request(f"`{where}` must be an object with `role` and `content`.", where)
        if not isinstance(message.get("role"), str):
            where = f"messages[{number}].role"
            raise invalid_request(f"`{where}` must be a string.", where)
        if not isinstance(message.get("content"), CONTENT):
            where = f"messages[{number}].content"
            raise invalid_request(f"`{where}` must be a string, a list of parts or null.", where)


def flag(document: Mapping[str, Any], name: str) -> bool:
    """A member that is true or false. Raises GatewayError 400."""
    value = document.get(name)
    if value is not None and not isinstance(value, bool):
        raise invalid_request(f"`{name}` must be true or false.", name)
    return bool(value)


def _choices(value: Any) -> int:
    if value is None:
        return 1
    if type(value) is not int or not 1 <= value <= MAX_CHOICES:
        raise invalid_request(f"`n` must be a whole number from 1 to {MAX_CHOICES}.", "n")
    return value
