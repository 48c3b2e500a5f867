"""Embeddings to any OpenAI-compatible provider, Azure included: what came is passed on as it came."""

from collections.abc import Mapping
from typing import Any

from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.base import Answer, Usage
from routing.adapters.openai import AzureExchange, ChatExchange


class EmbeddingsExchange(ChatExchange):
    """Embeddings in, embeddings out. Never streamed."""

    path = "/embeddings"

    def body(self) -> dict[str, Any]:
        """The client's body with the target's model."""
        return {**self.client.body, "model": self.target.model}

    def unary(self, body: bytes, headers: Mapping[str, str]) -> Answer | Failure:
        """The body as it came, if there is an embedding in it."""
        document = self.decoded(body, headers)
        if isinstance(document, Failure):
            return document
        data = document.get("data") if isinstance(document, dict) else None
        if not isinstance(data, list) or not data:
            return Failure(kind=Kind.TRANSIENT, message="status 200 without embeddings")
        usage = document.get("usage")
        tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        return Answer(body, Usage(input_tokens=tokens if type(tokens) is int else None))


class AzureEmbeddingsExchange(EmbeddingsExchange, AzureExchange):
    """The same, with Azure's address and key header."""
