"""How Google says no: google.rpc.Status documents with their details."""

from routing.simulator.behaviour import Behaviour, Mode
from routing.simulator.wire import ErrorAnswer, Json, seconds

# number, status name, message
_ERRORS: dict[Mode, tuple[int, str, str]] = {
    Mode.RATE_LIMIT: (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."),
    Mode.QUOTA: (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."),
    Mode.ERROR: (500, "INTERNAL", "An internal error has occurred. Please retry or report."),
    Mode.OVERLOADED: (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    Mode.AUTH: (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    Mode.MODEL_MISSING: (404, "NOT_FOUND", "models/{model} is not found for API version v1beta, or is not supported for generateContent."),
    Mode.CONTEXT_LENGTH: (400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
    Mode.CONTENT_FILTER: (400, "INVALID_ARGUMENT", "The prompt was blocked by the safety system."),
    Mode.INVALID: (400, "INVALID_ARGUMENT", "* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0]."),
}  # fmt: skip

# The same words go with both; which limit was hit stands in the quota's id alone.
_QUOTA_IDS = {
    Mode.RATE_LIMIT: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
    Mode.QUOTA: "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
}

REFUSAL_STATUSES = {403: "PERMISSION_DENIED", 404: "NOT_FOUND"}

FILTERED: Json = {
    "blockReason": "SAFETY",
    "safetyRatings": [{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True}],
}


def error_document(number: int, status: str, message: str, details: list[Json] | None = None) -> Json:
    """Google's error envelope."""
    error: Json = {"code": number, "message": message, "status": status}
    return {"error": error | ({"details": details} if details else {})}


def error_answer(mode: Mode, model: str, behaviour: Behaviour) -> ErrorAnswer:
    """The error of a mode; a retry_after is told as RetryInfo in the body, since Google sends no header."""
    number, status, message = _ERRORS[mode]
    number = behaviour.status or number
    details = details_of(mode, model)
    if behaviour.retry_after is not None:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        details.append({"@type": kind, "retryDelay": f"{seconds(behaviour.retry_after)}s"})
    words = behaviour.message or message.format(model=model)
    return ErrorAnswer(number, error_document(number, status, words, details))


def details_of(mode: Mode, model: str) -> list[Json]:
    """The machine-readable part of an error."""
    if mode in _QUOTA_IDS:
        violation = {
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
            "quotaId": _QUOTA_IDS[mode],
            "quotaDimensions": {"model": model, "location": "global"},
            "quotaValue": "50",
        }
        return [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}]
    if mode is Mode.AUTH:
        kind = "type.googleapis.com/google.rpc.ErrorInfo"
        return [{"@type": kind, "reason": "API_KEY_INVALID", "domain": "googleapis.com"}]
    return []
