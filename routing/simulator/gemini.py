"""Gemini's wire format: generateContent whole and streamed, embeddings, countTokens, models."""

import re
from dataclasses import replace
from typing import Any

import orjson

from routing.simulator.behaviour import Behaviour, Mode
from routing.simulator.completion import Call, Completion, Tool, complete, count_tokens, next_number, text_of
from routing.simulator.gemini_errors import FILTERED, REFUSAL_STATUSES, error_answer, error_document
from routing.simulator.http import Request
from routing.simulator.openai import DEFAULT_DIMENSIONS, bearer, vector
from routing.simulator.wire import Answer, ErrorAnswer, InvalidRequestError, Json, objects_in, read_object

MODELS = ("gemini-2.5-flash", "gemini-2.5-pro")

_ACTION = re.compile(r"/(?:models|tunedModels)/(?P<model>.+):(?P<action>\w+)")


class Gemini:
    """The Gemini API, v1beta."""

    name = "gemini"

    def api_key(self, request: Request) -> str:
        """The x-goog-api-key header, the `key` parameter, or a bearer token."""
        return request.headers.get("x-goog-api-key") or request.query.get("key") or bearer(request)

    def model(self, request: Request, path: str) -> str:  # noqa: ARG002 (Format's signature)
        """The model in the path."""
        action = _ACTION.fullmatch(path)
        return action["model"] if action else ""

    def answer(self, request: Request, path: str, behaviour: Behaviour) -> Answer:
        """Route by path and answer."""
        if request.method == "GET" and path == "/models":
            return Answer("", {"models": [model_card(model) for model in MODELS]})
        if request.method == "GET" and path.startswith("/models/"):
            return Answer("", model_card(path.removeprefix("/models/")))
        action = _ACTION.fullmatch(path)
        if action is None or request.method != "POST":
            raise InvalidRequestError(404, "Requested entity was not found.")
        return act(action["action"], action["model"], read_object(request.body), request=request, behaviour=behaviour)

    def refusal(self, refused: InvalidRequestError) -> ErrorAnswer:
        """An error envelope of the status name that goes with the number; Google calls a missing key 403."""
        number = 403 if refused.status == 401 else refused.status
        return ErrorAnswer(
            number, error_document(number, REFUSAL_STATUSES.get(number, "INVALID_ARGUMENT"), refused.message)
        )

    def error(self, mode: Mode, model: str, behaviour: Behaviour) -> ErrorAnswer:
        """An error in Google's words; a content filter is a 200 without candidates."""
        return error_answer(mode, model, behaviour)

    def error_event(self, error: ErrorAnswer) -> bytes:
        """A data event with the error envelope."""
        return event(error.document)


def event(document: object) -> bytes:
    """A server-sent event with the line ends Google uses."""
    return b"data: %b\r\n\r\n" % orjson.dumps(document)


def model_card(model: str) -> Json:
    """A row of the model list."""
    methods = ["generateContent", "countTokens", "embedContent"]
    limits = {"inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536}
    return {
        "name": f"models/{model}",
        "version": "001",
        "displayName": model,
        **limits,
        "supportedGenerationMethods": methods,
    }


def act(action: str, model: str, document: Json, *, request: Request, behaviour: Behaviour) -> Answer:
    """Do what the part after the model's colon says. Raises InvalidRequestError."""
    if action == "embedContent":
        return Answer(model, {"embedding": embedding(document)})
    if action == "batchEmbedContents":
        return Answer(model, embed_batch(objects_in(document.get("requests")), model))
    call = read_contents(document, model)
    if action == "countTokens":
        return Answer(model, {"totalTokens": call.input_tokens})
    if action not in ("generateContent", "streamGenerateContent"):
        raise InvalidRequestError(404, f"Unknown method {action}.", model=model)
    if behaviour.mode is Mode.CONTENT_FILTER:
        document = {
            "promptFeedback": FILTERED,
            "modelVersion": model,
            "usageMetadata": {"promptTokenCount": call.input_tokens},
        }
        return replace(packed([document], model, action, request), shows_mode=True)
    completion = complete(call, behaviour.words, behaviour.text)
    head = {"modelVersion": model, "responseId": f"sim{next_number()}"}
    if action == "generateContent":
        return Answer(
            model,
            {
                "candidates": candidates(call.choices, parts(completion), finish(completion)),
                "usageMetadata": usage(completion),
                **head,
            },
        )
    return packed(list(chunks(call, completion, head)), model, action, request)


def packed(documents: list[Json], model: str, action: str, request: Request) -> Answer:
    """Documents as a stream of events, as the one array that goes without `alt=sse`, or alone."""
    if action == "generateContent":
        return Answer(model, documents[0])
    if request.query.get("alt") != "sse":
        return Answer(model, documents)
    return Answer(model, events=[event(document) for document in documents], lead=0)


def read_contents(document: Json, model: str) -> Call:
    """A generateContent request as a Call. Raises InvalidRequestError."""
    contents = document.get("contents")
    if not isinstance(contents, list) or not contents or not all(isinstance(content, dict) for content in contents):
        raise InvalidRequestError(400, "* GenerateContentRequest.contents: contents is not specified", model=model)
    for content in contents:
        if content.get("role", "user") not in ("user", "model", "function"):
            raise InvalidRequestError(400, "Please use a valid role: user, model.", model=model)
    texts = [text_of(content.get("parts")) for content in contents]
    users = [
        text for content, text in zip(contents, texts, strict=True) if content.get("role", "user") == "user" and text
    ]
    system, config = member(document, "systemInstruction"), member(document, "generationConfig")
    calling = member(member(document, "toolConfig"), "functionCallingConfig")
    limit, count = config.get("maxOutputTokens"), config.get("candidateCount")
    return Call(
        model=model,
        prompt=users[-1] if users else "",
        prefill=texts[-1] if contents[-1].get("role") == "model" else "",
        input_tokens=count_tokens(*texts, text_of(system.get("parts"))),
        max_tokens=limit if isinstance(limit, int) else None,
        choices=count if isinstance(count, int) and 1 <= count <= 8 else 1,
        tools=() if calling.get("mode") == "NONE" else read_tools(document.get("tools")),
        forced=read_forced(calling),
        called=read_called(contents),
        answers_user=not has_result(contents[-1]),
        schema=config.get("responseSchema") or config.get("responseJsonSchema"),
        json_wanted=config.get("responseMimeType") == "application/json",
    )


def read_forced(calling: Json) -> str | None:
    """The name of the function that must be called, "" for any, None if none must."""
    if calling.get("mode") != "ANY":
        return None
    allowed = calling.get("allowedFunctionNames")
    return str(allowed[0]) if isinstance(allowed, list) and allowed else ""


def read_called(contents: list[Json]) -> tuple[str, ...]:
    """The functions called since the user last brought more than results."""
    called: list[str] = []
    for content in contents:
        if content.get("role", "user") == "user" and not has_result(content):
            called = []
        calls = [member(part, "functionCall") for part in objects_in(content.get("parts"))]
        called += [name for call in calls if isinstance(name := call.get("name"), str)]
    return tuple(called)


def has_result(content: Json) -> bool:
    """Whether a content brings a function's result back."""
    return any("functionResponse" in part for part in objects_in(content.get("parts")))


def member(document: Json, name: str) -> Json:
    """An object inside an object, in either of the spellings Google takes; empty if there is none."""
    snake = re.sub(r"[A-Z]", lambda capital: "_" + capital[0].lower(), name)
    found = document.get(name, document.get(snake))
    return found if isinstance(found, dict) else {}


def read_tools(tools: object) -> tuple[Tool, ...]:
    """The functions offered."""
    declared = [tool.get("functionDeclarations", tool.get("function_declarations")) for tool in objects_in(tools)]
    return tuple(
        Tool(function["name"], function.get("parameters") or function.get("parametersJsonSchema"))
        for functions in declared
        for function in objects_in(functions)
        if isinstance(function.get("name"), str)
    )


def parts(completion: Completion) -> list[Json]:
    """The parts of a finished candidate."""
    if completion.invocations:
        return [{"functionCall": {"name": call.name, "args": call.arguments}} for call in completion.invocations]
    return [{"text": completion.text}]


def candidates(count: int, said: list[Json], reason: str | None) -> list[Json]:
    """Candidates that all say the same."""
    ending: dict[str, Any] = {} if reason is None else {"finishReason": reason}
    return [{"content": {"parts": said, "role": "model"}, **ending, "index": index} for index in range(count)]


def chunks(call: Call, completion: Completion, head: Json) -> list[Json]:
    """The documents of a stream; the last brings the reason it ended, each brings the usage so far."""
    if completion.invocations:
        said = [[part] for part in parts(completion)]
    else:
        said = [[{"text": piece}] for piece in completion.pieces] + [[{"text": ""}]]
    last = len(said) - 1
    documents = []
    for index, part in enumerate(said):
        reason = finish(completion) if index == last else None
        counted = usage(completion, None if index == last else index + 1)
        documents.append({"candidates": candidates(call.choices, part, reason), "usageMetadata": counted, **head})
    return documents


def finish(completion: Completion) -> str:
    """Why the candidate ended, in Google's words (a function call is a STOP)."""
    return "MAX_TOKENS" if completion.truncated else "STOP"


def usage(completion: Completion, output_tokens: int | None = None) -> Json:
    """The usageMetadata member."""
    output = completion.output_tokens if output_tokens is None else output_tokens
    total = completion.input_tokens + output
    return {"promptTokenCount": completion.input_tokens, "candidatesTokenCount": output, "totalTokenCount": total}


def embed_batch(requests: list[Json], model: str) -> Json:
    """A vector for each request, all of which must name the path's model. Raises InvalidRequestError."""
    for index, row in enumerate(requests):
        if row.get("model") != f"models/{model}":
            place = f"* BatchEmbedContentsRequest.requests[{index}].model"
            raise InvalidRequestError(400, f"{place}: the model must be models/{model}", model=model)
    tokens = sum(count_tokens(text_of(member(row, "content").get("parts"))) for row in requests)
    return {"embeddings": [embedding(row) for row in requests], "usageMetadata": {"promptTokenCount": tokens}}


def embedding(document: Json) -> Json:
    """A vector for one content. Raises InvalidRequestError."""
    text = text_of(member(document, "content").get("parts"))
    if not text:
        raise InvalidRequestError(400, "* EmbedContentRequest.content: contents is not specified")
    size = document.get("outputDimensionality")
    return {"values": vector(text, size if isinstance(size, int) and 1 <= size <= 4096 else DEFAULT_DIMENSIONS)}
