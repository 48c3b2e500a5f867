"""What real providers answer, and what it means."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from resilience.core.classify import ErrorFormat, ErrorRule, classify_envelope, classify_http
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)
OPENAI, ANTHROPIC, GEMINI = ErrorFormat.OPENAI, ErrorFormat.ANTHROPIC, ErrorFormat.GEMINI


def classify(
    fmt: ErrorFormat, status: int, body: object = b"", headers: dict[str, str] | None = None, rules=()
) -> Failure:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return classify_http(fmt, status, headers or {}, raw, NOW, DAY, rules)


def openai(message: str, code: object = None, type_: str | None = None) -> dict[str, object]:
    return {"error": {"message": message, "type": type_, "param": None, "code": code}}


def anthropic(type_: str, message: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": type_, "message": message}, "request_id": "req_1"}


def gemini(code: int, status: str, message: str, *details: dict[str, object]) -> dict[str, object]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


def error_info(reason: str, **metadata: str) -> dict[str, object]:
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "metadata": metadata}


def quota_failure(quota_id: str) -> dict[str, object]:
    violation = {"quotaId": quota_id, "quotaDimensions": {"model": "gemini-2.0-flash"}}
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}


HTML = b"<!DOCTYPE html><html><head><title>Not here</title></head><body>no</body></html>"

CASES = [
    # OpenAI
    (OPENAI, 429, openai("Rate limit reached for requests", "rate_limit_exceeded", "requests"), Kind.RATE_LIMIT),
    (
        OPENAI,
        429,
        openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
        Kind.QUOTA_EXHAUSTED,
    ),
    (OPENAI, 400, openai("Billing hard limit has been reached", "billing_hard_limit_reached"), Kind.QUOTA_EXHAUSTED),
    (
        OPENAI,
        429,
        openai("Your account is not active, please check your billing details", "billing_not_active"),
        Kind.QUOTA_EXHAUSTED,
    ),
    (OPENAI, 401, openai("Incorrect API key provided: sk-x", "invalid_api_key", "invalid_request_error"), Kind.AUTH),
    (
        OPENAI,
        403,
        openai("Country, region, or territory not supported", "unsupported_country_region_territory"),
        Kind.AUTH,
    ),
    (
        OPENAI,
        404,
        openai("The model `x` does not exist or you do not have access to it.", "model_not_found"),
        Kind.MODEL_UNAVAILABLE,
    ),
    (
        OPENAI,
        404,
        openai("This is not a chat model and thus not supported in the v1/chat/completions endpoint."),
        Kind.MODEL_UNAVAILABLE,
    ),
    (
        OPENAI,
        403,
        openai("Project `proj` does not have access to model `gpt-5`", "model_not_found"),
        Kind.MODEL_UNAVAILABLE,
    ),
    (OPENAI, 400, openai("maximum context length is 8192 tokens", "context_length_exceeded"), Kind.CONTEXT_LENGTH),
    (OPENAI, 400, openai("string too long", "string_above_max_length"), Kind.CONTEXT_LENGTH),
    (
        OPENAI,
        400,
        openai("Unsupported parameter: 'max_tokens' is not supported with this model.", "unsupported_parameter"),
        Kind.INVALID_REQUEST,
    ),
    (
        OPENAI,
        400,
        openai("Invalid prompt: your prompt was flagged as potentially violating our usage policy.", "invalid_prompt"),
        Kind.CONTENT_FILTER,
    ),
    (
        OPENAI,
        400,
        openai("max_tokens is too large: 50000. This model supports at most 16384 completion tokens"),
        Kind.INVALID_REQUEST,
    ),
    (OPENAI, 503, openai("Slow down", "slow_down"), Kind.OVERLOADED),
    (OPENAI, 500, openai("The server had an error", None, "server_error"), Kind.TRANSIENT),
    # Azure
    (
        OPENAI,
        429,
        {
            "error": {
                "code": "429",
                "message": "exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 75 seconds.",
            }
        },
        Kind.RATE_LIMIT,
    ),
    (
        OPENAI,
        400,
        {"error": {"code": None, "message": "filtered", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
        Kind.CONTENT_FILTER,
    ),
    (
        OPENAI,
        404,
        {"error": {"code": "DeploymentNotFound", "message": "The API deployment for this resource does not exist."}},
        Kind.MODEL_UNAVAILABLE,
    ),
    (OPENAI, 401, {"error": {"code": "401", "message": "Access denied due to invalid subscription key"}}, Kind.AUTH),
    (OPENAI, 401, {"statusCode": 401, "message": "Unauthorized. Access token is missing"}, Kind.AUTH),
    # Groq
    (
        OPENAI,
        413,
        openai("Request too large ... tokens per minute (TPM): Limit 6000", "rate_limit_exceeded", "tokens"),
        Kind.CONTEXT_LENGTH,
    ),
    (
        OPENAI,
        400,
        openai("The model `x` has been decommissioned and is no longer supported.", "model_decommissioned"),
        Kind.MODEL_UNAVAILABLE,
    ),
    (
        OPENAI,
        429,
        openai(
            "Rate limit reached ... on tokens per minute. Upgrade at https://console.groq.com/settings/billing",
            "rate_limit_exceeded",
            "tokens",
        ),
        Kind.RATE_LIMIT,
    ),
    (OPENAI, 503, openai("Service Unavailable", None, "internal_server_error"), Kind.TRANSIENT),
    # DeepSeek, Mistral, Together, Moonshot, Cerebras, Zhipu, Qwen
    (OPENAI, 402, openai("Insufficient Balance", "invalid_request_error", "unknown_error"), Kind.QUOTA_EXHAUSTED),
    (OPENAI, 400, openai("Model Not Exist", "invalid_request_error", "invalid_request_error"), Kind.MODEL_UNAVAILABLE),
    (OPENAI, 400, openai("Content Exists Risk", "invalid_request_error"), Kind.CONTENT_FILTER),
    (OPENAI, 401, {"message": "Unauthorized", "request_id": "x"}, Kind.AUTH),
    (
        OPENAI,
        429,
        {
            "object": "error",
            "message": "Service tier capacity exceeded for this model.",
            "type": "service_tier_capacity_exceeded",
            "code": "3505",
        },
        Kind.RATE_LIMIT,
    ),
    (
        OPENAI,
        400,
        {"object": "error", "message": "Invalid model: nope", "type": "invalid_model", "code": "1500"},
        Kind.MODEL_UNAVAILABLE,
    ),
    (
        OPENAI,
        400,
        {
            "object": "error",
            "message": {
                "detail": [
                    {"msg": "prompt contains 40000 tokens, too large for model with 32768 maximum context length"}
                ]
            },
        },
        Kind.CONTEXT_LENGTH,
    ),
    (
        OPENAI,
        422,
        {"object": "error", "message": {"detail": [{"type": "missing", "loc": ["body"], "msg": "Field required"}]}},
        Kind.INVALID_REQUEST,
    ),
    (
        OPENAI,
        422,
        {"error": {"message": "`inputs` tokens + `max_new_tokens` must be <= 4097", "type": "Input validation error"}},
        Kind.CONTEXT_LENGTH,
    ),
    (
        OPENAI,
        429,
        openai(
            "Your account is suspended, please check your plan and billing details",
            None,
            "exceeded_current_quota_error",
        ),
        Kind.QUOTA_EXHAUSTED,
    ),
    (OPENAI, 429, openai("The engine is currently overloaded", None, "engine_overloaded_error"), Kind.OVERLOADED),
    (
        OPENAI,
        404,
        openai("Not found the model or Permission denied", None, "resource_not_found_error"),
        Kind.MODEL_UNAVAILABLE,
    ),
    (
        OPENAI,
        429,
        {
            "message": "Tokens per minute limit exceeded",
            "type": "too_many_tokens_error",
            "code": "token_quota_exceeded",
        },
        Kind.RATE_LIMIT,
    ),
    (
        OPENAI,
        429,
        {"error": {"code": "1113", "message": "您的账户已欠费,请充值后重试。余额不足"}},
        Kind.QUOTA_EXHAUSTED,
    ),
    (
        OPENAI,
        400,
        openai("Input data may contain inappropriate content.", "data_inspection_failed"),
        Kind.CONTENT_FILTER,
    ),
    (OPENAI, 400, openai("Range of input length should be [1, 30720]", "invalid_parameter_error"), Kind.CONTEXT_LENGTH),
    # OpenRouter
    (
        OPENAI,
        402,
        {"error": {"code": 402, "message": "Insufficient credits. Add more using https://openrouter.ai/credits"}},
        Kind.QUOTA_EXHAUSTED,
    ),
    (OPENAI, 403, {"error": {"code": 403, "message": "Key limit exceeded (total limit)."}}, Kind.QUOTA_EXHAUSTED),
    (
        OPENAI,
        403,
        {
            "error": {
                "code": 403,
                "message": "openai/x requires moderation on OpenInference. Your input was flagged",
                "metadata": {"reasons": ["violence"]},
            }
        },
        Kind.CONTENT_FILTER,
    ),
    (OPENAI, 404, {"error": {"code": 404, "message": "No endpoints found for foo/bar."}}, Kind.MODEL_UNAVAILABLE),
    (
        OPENAI,
        404,
        {"error": {"code": 404, "message": "No endpoints found that support image input"}},
        Kind.INVALID_REQUEST,
    ),
    (OPENAI, 400, {"error": {"code": 400, "message": "foo is not a valid model ID"}}, Kind.MODEL_UNAVAILABLE),
    (
        OPENAI,
        429,
        {
            "error": {
                "code": 429,
                "message": "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day",
            }
        },
        Kind.QUOTA_EXHAUSTED,
    ),
    (OPENAI, 429, {"error": {"code": 429, "message": "Rate limit exceeded: free-models-per-min."}}, Kind.RATE_LIMIT),
    (
        OPENAI,
        400,
        {
            "error": {
                "code": 400,
                "message": "Provider returned error",
                "metadata": {"raw": '{"error":{"message":"too long","code":"context_length_exceeded"}}'},
            }
        },
        Kind.CONTEXT_LENGTH,
    ),
    # Ollama, vLLM, llama.cpp, FastAPI, LiteLLM, Bedrock behind a proxy
    (OPENAI, 403, {"error": "this model requires a subscription, upgrade for access"}, Kind.MODEL_UNAVAILABLE),
    (OPENAI, 404, {"error": 'model "llama9" not found, try pulling it first'}, Kind.MODEL_UNAVAILABLE),
    (
        OPENAI,
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 32768 tokens.",
            "type": "BadRequestError",
            "code": 400,
        },
        Kind.CONTEXT_LENGTH,
    ),
    (
        OPENAI,
        404,
        {"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404},
        Kind.MODEL_UNAVAILABLE,
    ),
    (
        OPENAI,
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size",
                "type": "exceed_context_size_error",
            }
        },
        Kind.CONTEXT_LENGTH,
    ),
    (OPENAI, 503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, Kind.TRANSIENT),
    (OPENAI, 401, {"detail": "Invalid token"}, Kind.AUTH),
    (
        OPENAI,
        400,
        openai("litellm.ContextWindowExceededError", None, "ContextWindowExceededError"),
        Kind.CONTEXT_LENGTH,
    ),
    (
        OPENAI,
        400,
        openai("Budget has been exceeded! Current cost: 1.0", "400", "budget_exceeded"),
        Kind.QUOTA_EXHAUSTED,
    ),
    (
        OPENAI,
        400,
        {"__type": "com.amazon.coral.service#ThrottlingException", "message": "Too many requests"},
        Kind.RATE_LIMIT,
    ),
    (
        OPENAI,
        429,
        [
            gemini(
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota, please check your plan and billing details.",
                quota_failure("GenerateRequestsPerMinutePerProjectPerModel"),
            )
        ],
        Kind.RATE_LIMIT,
    ),
    (OPENAI, 400, [gemini(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")], Kind.AUTH),
    # Anthropic
    (ANTHROPIC, 529, anthropic("overloaded_error", "Overloaded"), Kind.OVERLOADED),
    (ANTHROPIC, 429, anthropic("rate_limit_error", "would exceed your organization's rate limit"), Kind.RATE_LIMIT),
    (ANTHROPIC, 401, anthropic("authentication_error", "invalid x-api-key"), Kind.AUTH),
    (
        ANTHROPIC,
        403,
        anthropic("permission_error", "Your API key does not have permission to use the specified resource."),
        Kind.AUTH,
    ),
    (
        ANTHROPIC,
        403,
        anthropic("permission_error", "Your account does not have access to model claude-x"),
        Kind.MODEL_UNAVAILABLE,
    ),
    (ANTHROPIC, 404, anthropic("not_found_error", "model: claude-nope"), Kind.MODEL_UNAVAILABLE),
    (ANTHROPIC, 413, anthropic("request_too_large", "Request exceeds the maximum size"), Kind.CONTEXT_LENGTH),
    (
        ANTHROPIC,
        400,
        anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
        Kind.QUOTA_EXHAUSTED,
    ),
    (
        ANTHROPIC,
        400,
        anthropic(
            "invalid_request_error",
            "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
        ),
        Kind.QUOTA_EXHAUSTED,
    ),
    (ANTHROPIC, 400, anthropic("invalid_request_error", "This organization has been disabled."), Kind.AUTH),
    (
        ANTHROPIC,
        400,
        anthropic("invalid_request_error", "prompt is too long: 209303 tokens > 200000 maximum"),
        Kind.CONTEXT_LENGTH,
    ),
    (
        ANTHROPIC,
        400,
        anthropic(
            "invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"
        ),
        Kind.CONTEXT_LENGTH,
    ),
    (
        ANTHROPIC,
        400,
        anthropic("invalid_request_error", "Output blocked by content filtering policy"),
        Kind.CONTENT_FILTER,
    ),
    (
        ANTHROPIC,
        400,
        anthropic(
            "invalid_request_error", "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens"
        ),
        Kind.INVALID_REQUEST,
    ),
    (ANTHROPIC, 400, anthropic("invalid_request_error", "messages.0.content: Field required"), Kind.INVALID_REQUEST),
    (ANTHROPIC, 400, anthropic("invalid_request_error", "model: Field required"), Kind.INVALID_REQUEST),
    (ANTHROPIC, 402, anthropic("billing_error", "There is an issue with your billing"), Kind.QUOTA_EXHAUSTED),
    (ANTHROPIC, 500, anthropic("api_error", "Internal server error"), Kind.TRANSIENT),
    (ANTHROPIC, 504, anthropic("timeout_error", "Request timed out"), Kind.TIMEOUT),
    # Gemini
    (GEMINI, 400, gemini(400, "INVALID_ARGUMENT", "API key not valid.", error_info("API_KEY_INVALID")), Kind.AUTH),
    (
        GEMINI,
        403,
        gemini(403, "PERMISSION_DENIED", "Generative Language API has not been used", error_info("SERVICE_DISABLED")),
        Kind.AUTH,
    ),
    (
        GEMINI,
        403,
        gemini(
            403, "PERMISSION_DENIED", "This API method requires billing to be enabled.", error_info("BILLING_DISABLED")
        ),
        Kind.QUOTA_EXHAUSTED,
    ),
    (GEMINI, 400, gemini(400, "FAILED_PRECONDITION", "User location is not supported for the API use."), Kind.AUTH),
    (
        GEMINI,
        404,
        gemini(404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta"),
        Kind.MODEL_UNAVAILABLE,
    ),
    (
        GEMINI,
        429,
        gemini(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
        Kind.RATE_LIMIT,
    ),
    (
        GEMINI,
        429,
        gemini(
            429, "RESOURCE_EXHAUSTED", "exceeded", quota_failure("GenerateRequestsPerDayPerProjectPerModel-FreeTier")
        ),
        Kind.QUOTA_EXHAUSTED,
    ),
    (
        GEMINI,
        429,
        gemini(429, "RESOURCE_EXHAUSTED", "No capacity", error_info("MODEL_CAPACITY_EXHAUSTED", model="x")),
        Kind.OVERLOADED,
    ),
    (
        GEMINI,
        429,
        gemini(429, "RESOURCE_EXHAUSTED", "Quota exceeded for metric: generate_requests_per_model_per_day, limit: 250"),
        Kind.QUOTA_EXHAUSTED,
    ),
    (GEMINI, 503, gemini(503, "UNAVAILABLE", "The model is overloaded."), Kind.OVERLOADED),
    (GEMINI, 500, gemini(500, "INTERNAL", "An internal error has occurred."), Kind.TRANSIENT),
    (GEMINI, 504, gemini(504, "DEADLINE_EXCEEDED", "Deadline expired"), Kind.TIMEOUT),
    (
        GEMINI,
        400,
        gemini(
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200045) exceeds the maximum number of tokens allowed (1048576).",
        ),
        Kind.CONTEXT_LENGTH,
    ),
    (GEMINI, 400, gemini(400, "INVALID_ARGUMENT", "Please use a valid role: user, model."), Kind.INVALID_REQUEST),
    # Statuses alone, pages, odd bodies
    (OPENAI, 408, b"", Kind.TIMEOUT),
    (OPENAI, 504, HTML, Kind.TIMEOUT),
    (OPENAI, 524, HTML, Kind.TIMEOUT),
    (OPENAI, 502, HTML, Kind.TRANSIENT),
    (OPENAI, 520, HTML, Kind.TRANSIENT),
    (ANTHROPIC, 529, b"", Kind.OVERLOADED),
    (OPENAI, 302, b"", Kind.TRANSIENT),
    (OPENAI, 101, b"", Kind.TRANSIENT),
    (OPENAI, 999, b"", Kind.TRANSIENT),
    (OPENAI, 404, HTML, Kind.TRANSIENT),
    (OPENAI, 404, b"404 page not found", Kind.TRANSIENT),
    (OPENAI, 404, b"model 'x' not found", Kind.MODEL_UNAVAILABLE),
    (OPENAI, 403, HTML, Kind.TRANSIENT),
    (OPENAI, 401, HTML, Kind.AUTH),
    (OPENAI, 404, {"detail": "Not Found"}, Kind.MODEL_UNAVAILABLE),
    (OPENAI, 410, {"error": "gone"}, Kind.MODEL_UNAVAILABLE),
    (OPENAI, 409, {"error": "conflict"}, Kind.INVALID_REQUEST),
    (OPENAI, 415, b"", Kind.INVALID_REQUEST),
    (OPENAI, 400, "just a string", Kind.INVALID_REQUEST),
    (OPENAI, 429, [], Kind.RATE_LIMIT),
    (OPENAI, 402, None, Kind.QUOTA_EXHAUSTED),
    (OPENAI, 500, {"error": {"code": 429, "message": "slow down"}}, Kind.RATE_LIMIT),
    (OPENAI, 400, b'data: {"error":{"code":"context_length_exceeded"}}\n\n', Kind.CONTEXT_LENGTH),
]


@pytest.mark.parametrize(
    ("fmt", "status", "body", "kind"), CASES, ids=[f"{c[0]}-{c[1]}-{str(c[2])[:60]}" for c in CASES]
)
def test_the_kind_of_a_providers_answer(fmt: ErrorFormat, status: int, body: object, kind: Kind) -> None:
    failure = classify(fmt, status, body)
    assert (failure.kind, failure.rule) == (kind, failure.rule)
    assert failure.rule.startswith(f"{fmt}: ")


def test_a_daily_quota_of_google_is_the_models() -> None:
    daily = classify(
        GEMINI, 429, gemini(429, "RESOURCE_EXHAUSTED", "", quota_failure("RequestsPerDayPerProjectPerModel"))
    )
    minute = classify(
        GEMINI, 429, gemini(429, "RESOURCE_EXHAUSTED", "", quota_failure("RequestsPerMinutePerProjectPerModel"))
    )
    account = classify(OPENAI, 429, openai("You exceeded your current quota", "insufficient_quota"))
    assert (daily.model_scope, minute.model_scope, account.model_scope) == (True, False, False)


def test_an_operators_rule_comes_before_the_table_and_is_named() -> None:
    rule = ErrorRule(429, "insufficient_quota", r"exceeded\s+your", Kind.OVERLOADED, timedelta(seconds=7), "soft quota")
    failure = classify(OPENAI, 429, openai("You exceeded  your current quota", "insufficient_quota"), rules=[rule])
    assert (failure.kind, failure.cooldown, failure.rule) == (
        Kind.OVERLOADED,
        timedelta(seconds=7),
        "operator: soft quota",
    )


@pytest.mark.parametrize(
    ("status", "code", "pattern"),
    [
        (500, None, None),
        (429, "other", None),
        (429, None, "nothing like it"),
        (429, None, "([unclosed"),
        (None, None, None),
    ],
)
def test_an_operators_rule_needs_all_it_names(status: int | None, code: str | None, pattern: str | None) -> None:
    rule = ErrorRule(status, code, pattern, Kind.AUTH, None, "no match")
    assert classify(OPENAI, 429, openai("slow", "rate_limit_exceeded"), rules=[rule]).kind is Kind.RATE_LIMIT


def test_an_operators_rule_matches_a_numeric_code() -> None:
    rule = ErrorRule(None, "1302", None, Kind.OVERLOADED, None, "zhipu")
    assert classify(OPENAI, 429, openai("busy", 1302), rules=[rule]).kind is Kind.OVERLOADED


@pytest.mark.parametrize(
    ("envelope", "kind", "status"),
    [
        ({"error": {"message": "Provider returned error", "code": 429}}, Kind.RATE_LIMIT, 429),
        (
            {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}},
            Kind.QUOTA_EXHAUSTED,
            None,
        ),
        ({"error": {"message": "The server is overloaded", "type": "server_error"}}, Kind.TRANSIENT, 500),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, Kind.OVERLOADED, 529),
        ({"error": {"message": "bad value", "type": "invalid_request_error"}}, Kind.INVALID_REQUEST, 400),
        ({"error": "rate limit exceeded"}, Kind.RATE_LIMIT, None),
        ({"error": "something broke"}, Kind.TRANSIENT, None),
        ("Internal Server Error", Kind.TRANSIENT, None),
    ],
)
def test_an_error_inside_a_200(envelope: object, kind: Kind, status: int | None) -> None:
    failure = classify_envelope(OPENAI if "type" not in str(envelope) else ANTHROPIC, envelope, 200, {}, NOW, DAY)
    assert (failure.kind, failure.status) == (kind, status)


def test_headers_of_a_200_give_no_hint() -> None:
    headers = {"retry-after": "30"}
    failure = classify_envelope(OPENAI, {"error": {"code": 429, "message": "slow"}}, 200, headers, NOW, DAY)
    assert failure.hint is None


def test_the_message_quotes_no_key_and_is_short() -> None:
    secrets = ["sk-proj-abcdef123456AbCd", "AIzaSyA1234567890abcdefghijk", "gsk_abcdefghijklmnop", "hunter2hunter2"]
    text = f"Incorrect API key provided: {secrets[0]}. {secrets[1]} {secrets[2]} Bearer {secrets[3]} " + "x" * 2000
    message = classify(OPENAI, 401, openai(text)).message
    assert not [secret for secret in secrets if secret in message]
    assert len(message) <= 500


def test_a_page_is_told_by_its_title() -> None:
    assert classify(OPENAI, 502, HTML).message == "Not here"


def test_an_empty_answer_still_has_a_message() -> None:
    assert classify(OPENAI, 500, b"").message == "status 500, no message"
