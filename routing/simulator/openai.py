"""OpenAI's wire format: chat completions, embeddings, models; its two kinds of chat are in modules of their own."""

import base64
import hashlib
import struct
from typing import Any

from routing.simulator.behaviour import Behaviour, Mode
from routing.simulator.completion import count_tokens
from routing.simulator.http import Request
from routing.simulator.openai_chat import chat
from routing.simulator.openai_responses import respond
from routing.simulator.wire import Answer, ErrorAnswer, InvalidRequestError, Json, event, model_in, read_object, seconds

DEFAULT_DIMENSIONS = 64
MODELS = ("gpt-4o", "gpt-4o-mini", "text-embedding-3-small")

# status, type, code, param, message
_ERRORS: dict[Mode, tuple[int, str, str | None, str | None, str]] = {
    Mode.RATE_LIMIT: (429, "requests", "rate_limit_exceeded", None, "Rate limit reached for {model} on requests per min (RPM): Limit 3, Used 3, Requested 1."),
    Mode.QUOTA: (429, "insufficient_quota", "insufficient_quota", None, "You exceeded your current quota, please check your plan and billing details."),
    Mode.ERROR: (500, "server_error", None, None, "The server had an error while processing your request. Sorry about that!"),
    Mode.OVERLOADED: (503, "server_error", "slow_down", None, "The engine is currently overloaded, please try again later."),
    Mode.AUTH: (401, "invalid_request_error", "invalid_api_key", None, "Incorrect API key provided. You can find your API key at the simulator's owner."),
    Mode.MODEL_MISSING: (404, "invalid_request_error", "model_not_found", None, "The model `{model}` does not exist or you do not have access to it."),
    Mode.CONTEXT_LENGTH: (400, "invalid_request_error", "context_length_exceeded", "messages", "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages."),
    Mode.CONTENT_FILTER: (400, "invalid_request_error", "content_filter", "prompt", "The response was filtered due to the prompt triggering our content management policy."),
    Mode.INVALID: (400, "invalid_request_error", "unsupported_value", "temperature", "Unsupported value: 'temperature' does not support 9 with this model."),
}  # fmt: skip


class OpenAI:
    """OpenAI as of its public API reference."""

    name = "openai"

    def api_key(self, request: Request) -> str:
        """The bearer token."""
        return bearer(request)

    def model(self, request: Request, path: str) -> str:  # noqa: ARG002 (Format's signature)
        """The body's `model`."""
        return model_in(request.body)

    def answer(self, request: Request, path: str, behaviour: Behaviour) -> Answer:
        """Route by path and answer."""
        if request.method == "GET" and path == "/models":
            return Answer("", {"object": "list", "data": [model_card(model) for model in MODELS]})
        if request.method == "GET" and path.startswith("/models/"):
            return Answer("", model_card(path.removeprefix("/models/")))
        if request.method != "POST":
            raise InvalidRequestError(405, f"Not allowed to {request.method} on {path}.")
        document = read_object(request.body)
        model = required_model(document)
        if path == "/chat/completions":
            return chat(document, model, behaviour)
        if path == "/embeddings":
            return embed(document, model)
        if path == "/responses":
            return respond(document, model, behaviour)
        raise InvalidRequestError(404, f"Invalid URL (POST {path})")

    def refusal(self, refused: InvalidRequestError) -> ErrorAnswer:
        """An invalid_request_error."""
        code = refused.code or None
        return ErrorAnswer(refused.status, error_document(refused.message, "invalid_request_error", code))

    def error(self, mode: Mode, model: str, behaviour: Behaviour) -> ErrorAnswer:
        """An error of the table above."""
        status, kind, code, param, message = _ERRORS[mode]
        words = behaviour.message or message.format(model=model)
        document = error_document(words, kind, code, param)
        return ErrorAnswer(behaviour.status or status, document, retry_after_header(behaviour))

    def error_event(self, error: ErrorAnswer) -> bytes:
        """A data event with the error envelope, as OpenAI sends it."""
        return event(error.document)


def bearer(request: Request) -> str:
    """The token of an Authorization header, "" for none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def retry_after_header(behaviour: Behaviour) -> dict[str, str]:
    """Retry-After, if the behaviour has one."""
    return {} if behaviour.retry_after is None else {"retry-after": seconds(behaviour.retry_after)}


def error_document(message: str, kind: str | None, code: str | None, param: str | None = None) -> Json:
    """OpenAI's error envelope."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def model_card(model: str) -> Json:
    """A row of the model list."""
    return {"id": model, "object": "model", "created": 1_715_367_049, "owned_by": "simulator"}


def required_model(document: Json) -> str:
    """The model a body names. Raises InvalidRequestError."""
    model = document.get("model")
    if not isinstance(model, str) or not model:
        raise InvalidRequestError(400, "you must provide a model parameter")
    return model


def embed(document: Json, model: str) -> Answer:
    """Vectors that depend on the text alone."""
    given = document.get("input")
    if isinstance(given, str) or (isinstance(given, list) and given and isinstance(given[0], int)):
        given = [given]
    if not isinstance(given, list) or not given:
        raise InvalidRequestError(400, "'$.input' is invalid. Please check the API reference.", model=model)
    size = document.get("dimensions")
    size = size if isinstance(size, int) and 1 <= size <= 4096 else DEFAULT_DIMENSIONS
    as_base64 = document.get("encoding_format") == "base64"
    rows: list[Json] = []
    for index, text in enumerate(given):
        values = vector(str(text), size)
        coded: Any = base64.b64encode(struct.pack(f"<{size}f", *values)).decode() if as_base64 else values
        rows.append({"object": "embedding", "index": index, "embedding": coded})
    tokens = count_tokens(*(str(text) for text in given))
    return Answer(
        model,
        {"object": "list", "data": rows, "model": model, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}},
    )


def vector(text: str, size: int) -> list[float]:
    """A vector of `size` numbers between -1 and 1 made from a text's hash."""
    stretched = hashlib.shake_128(text.encode("utf-8", "replace")).digest(size)
    return [(byte - 127.5) / 127.5 for byte in stretched]
