"""OpenAI's embeddings as Gemini gets and gives them."""

import base64
import json
import struct
from typing import Any

import pytest
from google.genai import types
from openai.types import CreateEmbeddingResponse
from pydantic import TypeAdapter

from resilience.core.outcome import Failure
from routing.adapters.base import Answer, Exchange
from routing.chains import Target
from routing.dialects.embeddings import Embeddings
from routing.errors import GatewayError
from routing.table import Connection, ModelFacts, Provider

Json = dict[str, Any]

MODEL = "gemini-embedding-001"
CONTENT = TypeAdapter(types.Content)


def exchange(model: str = MODEL, **body: Any) -> Exchange:
    request = Embeddings().parse(json.dumps({"model": "chain", **body}).encode(), {})
    connection = Connection("p", "main", "https://gemini.test/v1beta", api_key="upstream-key-1")
    provider = Provider("p", "P", "gemini", "https://gemini.test/v1beta", connections=(connection,))
    return Embeddings().pair(request, Target(provider, connection, model, ModelFacts()), None)


def sent(**body: Any) -> Json:
    document: Json = json.loads(exchange(**body).request().body)
    return document


def answered(document: Any, **body: Any) -> Answer | Failure:
    asked = exchange(**body)
    asked.request()
    return asked.unary(json.dumps(document).encode(), {})


def embeddings(*vectors: list[Any], **members: Any) -> Json:
    return {"embeddings": [{"values": vector} for vector in vectors], **members}


def test_each_text_is_a_request_of_one_batch() -> None:
    asked = exchange(input=["a", "b"], dimensions=8, user="eve")
    call = asked.request()
    assert call.url == f"https://gemini.test/v1beta/models/{MODEL}:batchEmbedContents"
    assert (b"x-goog-api-key", b"upstream-key-1") in call.headers
    common = {"model": f"models/{MODEL}", "outputDimensionality": 8}
    assert json.loads(call.body)["requests"] == [{"content": {"parts": [{"text": text}]}, **common} for text in "ab"]
    assert asked.dropped_params == ("user",)
    for one in sent(input="a")["requests"]:
        CONTENT.validate_python(one["content"])


def test_a_full_name_is_not_named_again() -> None:
    call = exchange("models/custom", input="a").request()
    assert call.url.endswith("/v1beta/models/custom:batchEmbedContents")
    assert json.loads(call.body)["requests"][0]["model"] == "models/custom"


def test_the_answer_is_openai_s() -> None:
    counted = {"usageMetadata": {"promptTokenCount": 5}}
    answer = answered(embeddings([0.5, -1.0], [2, 3.0], **counted), input=["a", "b"])
    assert isinstance(answer, Answer)
    document = CreateEmbeddingResponse.model_validate_json(answer.body, strict=True)
    assert [(row.index, row.embedding) for row in document.data] == [(0, [0.5, -1.0]), (1, [2.0, 3.0])]
    assert (document.model, document.usage.prompt_tokens, document.usage.total_tokens) == (MODEL, 5, 5)
    assert answer.usage.input_tokens == 5


def test_base64_is_floats_of_32_bits() -> None:
    answer = answered(embeddings([0.5, -1.0]), input="a", encoding_format="base64")
    assert isinstance(answer, Answer)
    document = json.loads(answer.body)
    assert struct.unpack("<2f", base64.b64decode(document["data"][0]["embedding"])) == (0.5, -1.0)
    assert document["usage"] == {"prompt_tokens": 0, "total_tokens": 0}
    assert not answer.usage.known


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"embeddings": []},
        embeddings([1.0]),
        embeddings([1.0], ["x"]),
        {"embeddings": [{}, {}]},
        {"embeddings": 7},
        [],
    ],
)
def test_an_answer_without_a_vector_for_each_text_is_none(document: Any) -> None:
    failure = answered(document, input=["a", "b"])
    assert isinstance(failure, Failure)
    assert failure.kind == "transient"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"input": [1, 2]}, "input[0]"),
        ({"input": ["a", [1, 2]]}, "input[1]"),
        ({"input": ["a", ""]}, "input[1]"),
        ({"input": ["a"] * 101}, "input"),
        ({"input": "a", "dimensions": 0}, "dimensions"),
        ({"input": "a", "dimensions": "8"}, "dimensions"),
        ({"input": "a", "encoding_format": "int8"}, "encoding_format"),
    ],
)
def test_what_gemini_cannot_be_asked_is_refused(body: Json, param: str) -> None:
    with pytest.raises(GatewayError) as refused:
        sent(**body)
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, "invalid_request", param)
