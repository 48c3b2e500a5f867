"""Which exchange speaks between a client's format and a provider's."""

from collections.abc import Mapping

import orjson

from routing.adapters.anthropic import AnthropicExchange
from routing.adapters.base import ClientRequest, Exchange
from routing.adapters.gemini import GeminiExchange
from routing.adapters.openai import AzureExchange, ChatExchange
from routing.chains import Target
from routing.errors import GatewayError

CHAT: Mapping[str, type[Exchange]] = {
    "openai": ChatExchange,
    "azure": AzureExchange,
    "anthropic": AnthropicExchange,
    "gemini": GeminiExchange,
}


def pair_chat(request: ClientRequest, target: Target, output_cap: int | None) -> Exchange:
    """Chat completions in. Raises GatewayError for a format no adapter speaks yet."""
    exchange = CHAT.get(target.provider.format)
    if exchange is None:
        raise GatewayError(
            f"Provider {target.provider.slug} has format {target.provider.format}, which chat completions cannot be"
            f" sent to; formats that can: {', '.join(CHAT)}.",
            status=400,
            code="invalid_request",
            param="model",
        )
    return exchange(request, target, output_cap)


def chat_error_event(body: Mapping[str, object]) -> bytes:
    """The last event of a chat completion stream that broke; no `[DONE]` follows."""
    return b"data: " + orjson.dumps(body) + b"\n\n"
