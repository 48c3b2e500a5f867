"""`POST /v1/embeddings`."""

from collections.abc import Mapping

from routing.adapters.base import ClientRequest, Exchange
from routing.adapters.embeddings import AzureEmbeddingsExchange, EmbeddingsExchange
from routing.adapters.gemini_embeddings import GeminiEmbeddingsExchange
from routing.chains import Target
from routing.dialects.base import Dialect, Headers
from routing.dialects.chat import model_name, parse_object
from routing.errors import invalid_request

EXCHANGES: Mapping[str, type[Exchange]] = {
    "openai": EmbeddingsExchange,
    "azure": AzureEmbeddingsExchange,
    "gemini": GeminiEmbeddingsExchange,
}


class Embeddings(Dialect):
    """OpenAI's embeddings; passed on to OpenAI-compatible targets, translated for Gemini."""

    path = "/v1/embeddings"

    def parse(self, body: bytes, headers: Headers) -> ClientRequest:
        """Read a request. Raises GatewayError 400."""
        document = parse_object(body)
        model = model_name(document)
        if not isinstance(document.get("input"), str | list) or not document["input"]:
            raise invalid_request("`input` must be a text, or a list of texts or tokens.", "input")
        return ClientRequest(
            body=document, model=model, stream=False, wants_usage=True, headers=self.forwarded(headers)
        )

    def pair(self, request: ClientRequest, target: Target, output_cap: int | None) -> Exchange:  # noqa: ARG002 (nothing is put out)
        """Raises GatewayError 400 for a format without embeddings here."""
        exchange = EXCHANGES.get(target.provider.format)
        if exchange is None:
            raise invalid_request(
                f"{target.provider.slug} is of the format {target.provider.format}, which has no embeddings."
                " Name a chain of other providers.",
                "model",
            )
        return exchange(request, target, None)
