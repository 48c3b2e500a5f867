"""Trying a connection: one unbilled call that lists models, with its address, key and headers, counted nowhere.

Sockets of its own, so that it also tells whether one can connect now; the provider's deadlines hold. Addresses:
OpenAI and Anthropic `{base}/models`, Gemini `{base}/models`, Azure `{endpoint}/openai/models?api-version=…` (Models -
List of its data plane; `{base}/models` where the base names `/v1`).
"""

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from resilience.core.classify import classify_http
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.anthropic import AnthropicExchange
from routing.adapters.base import ClientRequest, Exchange
from routing.adapters.gemini import GeminiExchange
from routing.adapters.openai_call import AZURE_VERSION_QUERY, AzureCall, OpenAICall, azure_resource, split_base
from routing.chains import NO_FACTS, Target
from routing.dialects.chat import EXCHANGES
from routing.redaction import without_secrets
from routing.table import Connection, Provider
from routing.upstream import Upstream, UpstreamError, UpstreamRequest

PATIENCE = 30.0
"""Seconds for the whole of it, where the provider's own deadlines allow more: somebody is looking at the page."""
_NO_REQUEST = ClientRequest(body={}, model="", stream=False, wants_usage=False)


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of it. Without a failure the provider listed `models` models."""

    address: str = ""
    failure: Failure | None = None
    reached: bool = True
    status: int | None = None
    seconds: float = 0.0
    models: int = 0


async def try_connection(provider: Provider, connection: Connection) -> Trial:
    """Ask for the list of models. Never raises for what the provider does; holds none of the connection's secrets."""
    if connection.problem:
        return Trial(failure=Failure(Kind.LOCAL, connection.problem), reached=False)
    target = Target(provider, connection, "", NO_FACTS)
    request = models_request(target)
    patience = min(PATIENCE, provider.timeouts.response, provider.timeouts.total)
    upstream, started = Upstream(), time.monotonic()
    status, reached, failure, models = None, True, None, 0
    try:
        async with asyncio.timeout(patience):
            status, failure, models = await _ask(upstream, target, request)
    except TimeoutError:
        failure = Failure(Kind.TIMEOUT, f"no answer within {patience:g} s")
    except UpstreamError as error:
        failure, reached = Failure(error.kind, str(error)), error.reached
    finally:
        await upstream.aclose()
    return Trial(
        address=request.url,
        failure=None if failure is None else without_secrets(failure, connection),
        reached=reached,
        status=status,
        seconds=time.monotonic() - started,
        models=models,
    )


async def _ask(upstream: Upstream, target: Target, request: UpstreamRequest) -> tuple[int, Failure | None, int]:
    """Status, what is wrong with the answer, and how many models it lists."""
    provider = target.provider
    response = await upstream.open(provider.slug, request, provider.timeouts.connect)
    try:
        if not 200 <= response.status < 300:
            failure = classify_http(
                EXCHANGES[provider.format].error_format,
                response.status,
                response.headers,
                await response.read_error(),
                now=datetime.now(UTC),
                max_cooldown=provider.policy.cooldown.max_cooldown,
                rules=provider.error_rules,
            )
            return response.status, failure, 0
        models = _listed(await response.read())
    finally:
        await response.aclose()
    if models is None:
        return response.status, Failure(Kind.TRANSIENT, "the answer is not a list of models"), 0
    return response.status, None, len(models)


def models_request(target: Target) -> UpstreamRequest:
    """The call, with the headers that a chat request to this target would have."""
    exchange = EXCHANGES[target.provider.format](_NO_REQUEST, target)
    headers = exchange.headers(*_credentials(exchange))
    return UpstreamRequest(_address(exchange, target.connection.base_url), headers, b"", method="GET")


def _credentials(exchange: Exchange) -> list[tuple[bytes, bytes]]:
    match exchange:
        case OpenAICall():
            return exchange.credentials()
        case AnthropicExchange() | GeminiExchange():
            return exchange.own_headers()
    raise TypeError(f"{type(exchange).__name__} has no list of models")


def _address(exchange: Exchange, base_url: str) -> str:
    base, query = split_base(base_url)
    if isinstance(exchange, AzureCall) and not base.endswith("/v1"):
        return f"{azure_resource(base)}/openai/models{query or AZURE_VERSION_QUERY}"
    return f"{base}/models{query}"


def _listed(body: bytes) -> list[Any] | None:
    """The models of an answer: `data` in OpenAI's and Anthropic's, `models` in Gemini's."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    found = document.get("data", document.get("models")) if isinstance(document, dict) else document
    return found if isinstance(found, list) else None
