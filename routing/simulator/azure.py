"""Azure OpenAI: OpenAI's bodies behind deployment paths, with its own key header, errors and stream opening."""

import re

import orjson

from routing.simulator.behaviour import Behaviour, Mode
from routing.simulator.http import Request
from routing.simulator.openai import OpenAI, bearer, error_document, retry_after_header
from routing.simulator.openai_chat import chat
from routing.simulator.wire import Answer, ErrorAnswer, InvalidRequestError, Json, event, read_object, seconds

_DEPLOYMENT = re.compile(r"/openai/deployments/(?P<model>[^/]+)(?P<rest>/.+)")
_V1 = "/openai/v1"
_MODELS = "/openai/models"

_ERRORS: dict[Mode, tuple[int, str, str]] = {
    Mode.RATE_LIMIT: (429, "429", "Requests to the ChatCompletions_Create Operation have exceeded call rate limit of your current pricing tier."),
    Mode.ERROR: (500, "InternalServerError", "The server had an error while processing your request."),
    Mode.OVERLOADED: (503, "NoCapacity", "The system is currently experiencing high demand and cannot process your request."),
    Mode.AUTH: (401, "401", "Access denied due to invalid subscription key or wrong API endpoint."),
    Mode.MODEL_MISSING: (404, "DeploymentNotFound", "The API deployment for this resource does not exist."),
}  # fmt: skip

_FILTERED = {
    "hate": {"filtered": True, "severity": "high"},
    "self_harm": {"filtered": False, "severity": "safe"},
    "sexual": {"filtered": False, "severity": "safe"},
    "violence": {"filtered": False, "severity": "safe"},
}


class Azure(OpenAI):
    """Azure OpenAI with `/openai/deployments/{deployment}/…?api-version=…`, and its newer `/openai/v1/…`."""

    name = "azure"

    def api_key(self, request: Request) -> str:
        """The api-key header, or a bearer token of Entra ID."""
        return request.headers.get("api-key") or bearer(request)

    def model(self, request: Request, path: str) -> str:
        """The deployment in the path, else the body's `model`."""
        deployment = _DEPLOYMENT.fullmatch(path)
        return deployment["model"] if deployment else super().model(request, path)

    def answer(self, request: Request, path: str, behaviour: Behaviour) -> Answer:
        """As OpenAI, the deployment standing in for the model."""
        if path.startswith(_V1):
            return super().answer(request, path.removeprefix(_V1), behaviour)
        if path == _MODELS and request.query.get("api-version"):
            return super().answer(request, "/models", behaviour)
        deployment = _DEPLOYMENT.fullmatch(path)
        if deployment is None or not request.query.get("api-version"):
            raise InvalidRequestError(404, "Resource not found", code="404")
        if request.method != "POST":
            raise InvalidRequestError(405, f"Not allowed to {request.method} on {path}.")
        document = read_object(request.body)
        document["model"] = deployment["model"]
        if deployment["rest"] != "/chat/completions":
            plain = Request("POST", deployment["rest"], {}, request.headers, orjson.dumps(document))
            return super().answer(plain, deployment["rest"], behaviour)
        answer = chat(document, deployment["model"], behaviour)
        if not answer.stream:
            return answer
        # Azure opens a stream with the prompt's filter results and no choices
        opening = {"choices": [], "created": 0, "id": "", "model": "", "object": "", "prompt_filter_results": []}
        return Answer(answer.model, events=[event(opening), *answer.events], lead=answer.lead + 1)

    def error(self, mode: Mode, model: str, behaviour: Behaviour) -> ErrorAnswer:
        """Azure's own words where they differ from OpenAI's."""
        if mode is Mode.CONTENT_FILTER:
            return ErrorAnswer(behaviour.status or 400, filtered(behaviour), retry_after_header(behaviour))
        if mode not in _ERRORS:
            return super().error(mode, model, behaviour)
        status, code, message = _ERRORS[mode]
        headers = retry_after_header(behaviour)
        if behaviour.retry_after is not None:
            headers["retry-after-ms"] = seconds(behaviour.retry_after * 1000)
        words = behaviour.message or message
        return ErrorAnswer(behaviour.status or status, {"error": {"code": code, "message": words}}, headers)


def filtered(behaviour: Behaviour) -> Json:
    """The error of Azure's content management policy."""
    message = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
    document = error_document(behaviour.message or message, None, "content_filter", "prompt")
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": _FILTERED}
    document["error"] |= {"status": 400, "innererror": inner}
    return document
