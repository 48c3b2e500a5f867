"""Anthropic's wire format: messages whole and streamed, count_tokens, models."""

from routing.simulator.behaviour import Behaviour, Mode
from routing.simulator.completion import Call, Completion, Tool, complete, count_tokens, next_number, text_of
from routing.simulator.http import Request
from routing.simulator.openai import bearer, retry_after_header
from routing.simulator.wire import (
    Answer,
    ErrorAnswer,
    InvalidRequestError,
    Json,
    event,
    model_in,
    objects_in,
    read_object,
)

MODELS = ("claude-sonnet-4", "claude-haiku-4")

# status, error type, message
_ERRORS: dict[Mode, tuple[int, str, str]] = {
    Mode.RATE_LIMIT: (429, "rate_limit_error", "This request would exceed your organization's rate limit of 50 requests per minute."),
    Mode.QUOTA: (400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."),
    Mode.ERROR: (500, "api_error", "Internal server error"),
    Mode.OVERLOADED: (529, "overloaded_error", "Overloaded"),
    Mode.AUTH: (401, "authentication_error", "invalid x-api-key"),
    Mode.MODEL_MISSING: (404, "not_found_error", "model: {model}"),
    Mode.CONTEXT_LENGTH: (400, "invalid_request_error", "prompt is too long: 201000 tokens > 200000 maximum"),
    Mode.CONTENT_FILTER: (400, "invalid_request_error", "Output blocked by content filtering policy"),
    Mode.INVALID: (400, "invalid_request_error", "temperature: Input should be less than or equal to 1"),
}  # fmt: skip

_REFUSAL_TYPES = {401: "authentication_error", 404: "not_found_error"}


class Anthropic:
    """Anthropic's API of version 2023-06-01."""

    name = "anthropic"

    def api_key(self, request: Request) -> str:
        """The x-api-key header, or a bearer token."""
        return request.headers.get("x-api-key") or bearer(request)

    def model(self, request: Request, path: str) -> str:  # noqa: ARG002 (Format's signature)
        """The body's `model`."""
        return model_in(request.body)

    def answer(self, request: Request, path: str, behaviour: Behaviour) -> Answer:
        """Route by path and answer."""
        if "anthropic-version" not in request.headers:
            raise InvalidRequestError(400, "anthropic-version: header is required")
        if request.method == "GET" and path == "/models":
            cards = [model_card(model) for model in MODELS]
            return Answer("", {"data": cards, "has_more": False, "first_id": MODELS[0], "last_id": MODELS[-1]})
        if request.method == "GET" and path.startswith("/models/"):
            return Answer("", model_card(path.removeprefix("/models/")))
        if request.method != "POST":
            raise InvalidRequestError(405, "Method Not Allowed")
        document = read_object(request.body)
        if path == "/messages/count_tokens":
            call = read_messages(document)
            return Answer(call.model, {"input_tokens": call.input_tokens})
        if path == "/messages":
            return answer_messages(document, behaviour)
        raise InvalidRequestError(404, "Not Found")

    def refusal(self, refused: InvalidRequestError) -> ErrorAnswer:
        """An error envelope of the type that goes with the status."""
        kind = _REFUSAL_TYPES.get(refused.status, "invalid_request_error")
        return ErrorAnswer(refused.status, error_document(kind, refused.message))

    def error(self, mode: Mode, model: str, behaviour: Behaviour) -> ErrorAnswer:
        """An error of the table above."""
        status, kind, message = _ERRORS[mode]
        document = error_document(kind, behaviour.message or message.format(model=model))
        return ErrorAnswer(behaviour.status or status, document, retry_after_header(behaviour))

    def error_event(self, error: ErrorAnswer) -> bytes:
        """An `error` event."""
        return event(error.document, "error")


def error_document(kind: str, message: str) -> Json:
    """Anthropic's error envelope."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": f"req_sim{next_number()}"}


def model_card(model: str) -> Json:
    """A row of the model list."""
    return {"type": "model", "id": model, "display_name": model, "created_at": "2025-05-14T00:00:00Z"}


def read_messages(document: Json) -> Call:
    """A messages request as a Call; refuses what the real one refuses. Raises InvalidRequestError."""
    model, messages = document.get("model"), document.get("messages")
    if not isinstance(model, str) or not model:
        raise InvalidRequestError(400, "model: Field required")
    if not isinstance(messages, list) or not messages:
        raise InvalidRequestError(400, "messages: at least one message is required", model=model)
    for index, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ("user", "assistant"):
            raise InvalidRequestError(400, f'messages.{index}.role: Unexpected role "{role}"', model=model)
    texts = [text_of(message.get("content")) for message in messages]
    last, prefill = messages[-1], texts[-1] if messages[-1]["role"] == "assistant" else ""
    if prefill != prefill.rstrip():
        raise InvalidRequestError(
            400, "messages: final assistant content cannot end with trailing whitespace", model=model
        )
    users = [text for message, text in zip(messages, texts, strict=True) if message["role"] == "user" and text]
    limit, choice = document.get("max_tokens"), document.get("tool_choice")
    choice = choice if isinstance(choice, dict) else {}
    return Call(
        model=model,
        prompt=users[-1] if users else "",
        prefill=prefill,
        input_tokens=count_tokens(*texts, text_of(document.get("system"))),
        max_tokens=limit if isinstance(limit, int) else None,
        tools=() if choice.get("type") == "none" else read_tools(document.get("tools")),
        forced={"any": "", "tool": str(choice.get("name", ""))}.get(str(choice.get("type"))),
        called=read_called(messages),
        answers_user=last["role"] == "user" and not has_tool_result(last.get("content")),
        schema=read_schema(document),
    )


def read_tools(tools: object) -> tuple[Tool, ...]:
    """The tools offered."""
    rows = objects_in(tools)
    return tuple(Tool(tool["name"], tool.get("input_schema")) for tool in rows if isinstance(tool.get("name"), str))


def read_schema(document: Json) -> object:
    """The JSON schema of a structured output, also where its beta had it."""
    config = document.get("output_config")
    wanted = config.get("format") if isinstance(config, dict) else document.get("output_format")
    return wanted.get("schema") if isinstance(wanted, dict) else None


def read_called(messages: list[Json]) -> tuple[str, ...]:
    """The tools called since the user last brought more than results."""
    called: list[str] = []
    for message in messages:
        if message["role"] == "user" and not has_tool_result(message.get("content")):
            called = []
        calls = [part for part in objects_in(message.get("content")) if part.get("type") == "tool_use"]
        called += [name for call in calls if isinstance(name := call.get("name"), str)]
    return tuple(called)


def has_tool_result(content: object) -> bool:
    """Whether a user message brings a tool's result back."""
    return any(part.get("type") == "tool_result" for part in objects_in(content))


def answer_messages(document: Json, behaviour: Behaviour) -> Answer:
    """A message, whole or streamed. Raises InvalidRequestError."""
    call = read_messages(document)
    if call.max_tokens is None:
        raise InvalidRequestError(400, "max_tokens: Field required", model=call.model)
    completion = complete(call, behaviour.words, behaviour.text)
    message = {"id": f"msg_sim{next_number()}", "type": "message", "role": "assistant", "model": call.model}
    if document.get("stream"):
        return Answer(call.model, events=message_events(message, completion), lead=3)
    whole = {**message, "content": content_blocks(completion), "stop_reason": stop_reason(completion)}
    return Answer(call.model, {**whole, "stop_sequence": None, "usage": usage(completion, completion.output_tokens)})


def content_blocks(completion: Completion) -> list[Json]:
    """The content of a finished message."""
    if not completion.invocations:
        return [{"type": "text", "text": completion.text}] if completion.pieces else []
    return [
        {"type": "tool_use", "id": f"toolu_{call.id}", "name": call.name, "input": call.arguments}
        for call in completion.invocations
    ]


def message_events(message: Json, completion: Completion) -> list[bytes]:
    """The events of a streamed message: start, blocks, delta with the stop reason, stop."""
    opened = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage(completion, 1)}
    events = [event({"type": "message_start", "message": opened}, "message_start")]
    if completion.invocations:
        for index, call in enumerate(completion.invocations):
            block = {"type": "tool_use", "id": f"toolu_{call.id}", "name": call.name, "input": {}}
            text = call.arguments_text
            parts = ["", *(text[start : start + 10] for start in range(0, len(text), 10))]
            events += block_events(index, block, [{"type": "input_json_delta", "partial_json": part} for part in parts])
    else:
        deltas = [{"type": "text_delta", "text": piece} for piece in completion.pieces]
        events += block_events(0, {"type": "text", "text": ""}, deltas)
    ending = {"stop_reason": stop_reason(completion), "stop_sequence": None}
    counted = {"output_tokens": completion.output_tokens}
    events.append(event({"type": "message_delta", "delta": ending, "usage": counted}, "message_delta"))
    events.append(event({"type": "message_stop"}, "message_stop"))
    return events


def block_events(index: int, block: Json, deltas: list[Json]) -> list[bytes]:
    """One content block; a ping follows the first one's start, as it does in real streams."""
    events = [event({"type": "content_block_start", "index": index, "content_block": block}, "content_block_start")]
    if index == 0:
        events.append(event({"type": "ping"}, "ping"))
    events += [
        event({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")
        for delta in deltas
    ]
    events.append(event({"type": "content_block_stop", "index": index}, "content_block_stop"))
    return events


def stop_reason(completion: Completion) -> str:
    """Why the message ended, in Anthropic's words."""
    if completion.invocations:
        return "tool_use"
    return "max_tokens" if completion.truncated else "end_turn"


def usage(completion: Completion, output_tokens: int) -> Json:
    """The usage member."""
    return {
        "input_tokens": completion.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output_tokens,
        "service_tier": "standard",
    }
