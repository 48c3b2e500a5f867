"""OpenAI's embeddings to Gemini's batchEmbedContents, and back. One call whatever the number of inputs, as Google's SDK does."""

import sys
from array import array
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import orjson

from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.base import Answer
from routing.adapters.gemini import GeminiExchange
from routing.adapters.gemini_answer import read_usage
from routing.errors import invalid_request

TRANSLATED = ("model", "input", "dimensions", "encoding_format")
ENCODINGS = (None, "float", "base64")
MOST_TEXTS = 100  # of one batch, at Google


class GeminiEmbeddingsExchange(GeminiExchange):
    """Embeddings in, batchEmbedContents out. Never streamed."""

    def url(self) -> str:
        """`{base}/models/{model}:batchEmbedContents`."""
        return self.method_url("batchEmbedContents")

    def build(self) -> tuple[dict[str, Any], list[str]]:
        """A request per text. Raises GatewayError 400."""
        asked = self.client.body
        if asked.get("encoding_format") not in ENCODINGS:
            raise invalid_request("`encoding_format` must be float or base64.", "encoding_format")
        config = _config(asked)
        requests = [
            {"model": self.resource(), "content": {"parts": [{"text": text}]}, **config} for text in _texts(asked)
        ]
        dropped = [name for name, value in asked.items() if name not in TRANSLATED and value is not None]
        return {"requests": requests}, dropped

    def read(self, document: Any) -> Answer | Failure:
        """OpenAI's list of embeddings; its usage is 0 where Google does not count."""
        embeddings = document.get("embeddings")
        if not embeddings or len(embeddings) != len(_texts(self.client.body)):
            return Failure(kind=Kind.TRANSIENT, message="status 200 without an embedding for each input")
        as_base64 = self.client.body.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": index, "embedding": _vector(embedding["values"], as_base64=as_base64)}
            for index, embedding in enumerate(embeddings)
        ]
        usage = read_usage(document.get("usageMetadata"))
        tokens = usage.input_tokens or 0
        answer = {
            "object": "list",
            "data": data,
            "model": self.target.model,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
        return Answer(orjson.dumps(answer), usage)


def _texts(asked: Mapping[str, Any]) -> list[str]:
    given = asked["input"]
    texts = [given] if isinstance(given, str) else given
    if len(texts) > MOST_TEXTS:
        raise invalid_request(
            f"`input` can hold {MOST_TEXTS} texts at most for this target: send them in parts.", "input"
        )
    for number, text in enumerate(texts):
        if not isinstance(text, str) or not text:
            where = f"input[{number}]" if texts is given else "input"
            raise invalid_request(f"`{where}` must be a text that is not empty; Gemini takes no tokens.", where)
    return texts


def _config(asked: Mapping[str, Any]) -> dict[str, Any]:
    size = asked.get("dimensions")
    if size is None:
        return {}
    if type(size) is not int or size < 1:
        raise invalid_request("`dimensions` must be a whole number above 0.", "dimensions")
    return {"outputDimensionality": size}


def _vector(values: list[float], *, as_base64: bool) -> list[float] | str:
    """As numbers, or as OpenAI codes them: little-endian floats of 32 bits. Raises TypeError if they are no numbers."""
    packed = array("f", values)
    if not as_base64:
        return values
    if sys.byteorder == "big":
        packed.byteswap()
    return b64encode(packed).decode()
