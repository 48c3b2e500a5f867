"""Calls of OpenAI's API: where they go and with which key, at OpenAI-compatible servers and at Azure."""

from abc import abstractmethod
from typing import Any, ClassVar

from resilience.core.classify import ErrorFormat
from routing.adapters.base import Exchange, encode
from routing.upstream import UpstreamRequest

AZURE_API_VERSION = "2024-10-21"  # the newest generally available data-plane version


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
        base, _, query = self.target.connection.base_url.partition("?")
        base = base.rstrip("/")
        if base.endswith("/v1"):
            return f"{base}{self.path}" + (f"?{query}" if query else "")
        if "/deployments/" not in base:
            prefix = "" if base.endswith("/openai") else "/openai"
            base = f"{base}{prefix}/deployments/{self.target.model}"
        return f"{base}{self.path}?{query or 'api-version=' + AZURE_API_VERSION}"
