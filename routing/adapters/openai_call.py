"""Calls of OpenAI's API: where they go and with which key, at OpenAI-compatible servers and at Azure; what they used."""

from abc import abstractmethod
from typing import Any, ClassVar

from resilience.core.classify import ErrorFormat
from routing.adapters.base import Exchange, Usage, encode
from routing.adapters.chat_answer import count
from routing.upstream import UpstreamRequest

AZURE_VERSION_QUERY = "?api-version=2024-10-21"  # the newest generally available data-plane version


class OpenAICall(Exchange):
    """One endpoint of the API, at `{base}{path}`."""

    error_format = ErrorFormat.OPENAI
    path: ClassVar[str]

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """A fresh body for this target."""

    def request(self) -> UpstreamRequest:
        """The call, with our body and our key."""
        return UpstreamRequest(self.url(), self.headers(*self.credentials()), encode(self.body()))

    def url(self) -> str:
        """Where to send it."""
        return self.target.connection.base_url.rstrip("/") + self.path

    def credentials(self) -> list[tuple[bytes, bytes]]:
        """Our key, never the client's."""
        key = self.target.connection.api_key
        return [(b"authorization", b"Bearer " + key.encode())] if key else []


class AzureCall(OpenAICall):
    """Azure OpenAI: the deployment is in the path, the key in `api-key`, the version in the query."""

    def credentials(self) -> list[tuple[bytes, bytes]]:
        """Azure's header."""
        key = self.target.connection.api_key
        return [(b"api-key", key.encode())] if key else []

    def url(self) -> str:
        """`{base}/openai/deployments/{model}{path}?api-version=…`, or `{base}{path}` if the base names `/v1`."""
        base, query = split_base(self.target.connection.base_url)
        if base.endswith("/v1"):
            return f"{base}{self.path}{query}"
        if "/deployments/" not in base:
            prefix = "" if base.endswith("/openai") else "/openai"
            base = f"{base}{prefix}/deployments/{self.target.model}"
        return f"{base}{self.path}{query or AZURE_VERSION_QUERY}"


def split_base(base_url: str) -> tuple[str, str]:
    """A base URL without its last slash, and its query with the question mark; both end what is called below it."""
    base, _, query = base_url.partition("?")
    return base.rstrip("/"), f"?{query}" if query else ""


def azure_resource(base: str) -> str:
    """The resource's own address, for what is not below a deployment."""
    return base.partition("/deployments/")[0].removesuffix("/openai")


def read_usage(usage: Any, asked: str, answered: str) -> Usage:
    """The count of an answer, whose sides OpenAI calls `prompt` and `completion`, or `input` and `output`."""
    if not isinstance(usage, dict):
        return Usage()
    read, written = (usage.get(f"{side}_tokens_details") for side in (asked, answered))
    return Usage(
        input_tokens=count(usage.get(f"{asked}_tokens")),
        output_tokens=count(usage.get(f"{answered}_tokens")),
        cached_tokens=count(read.get("cached_tokens")) if isinstance(read, dict) else None,
        reasoning_tokens=count(written.get("reasoning_tokens")) if isinstance(written, dict) else None,
        written_tokens=count(read.get("cache_write_tokens")) if isinstance(read, dict) else None,
    )
