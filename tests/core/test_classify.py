"""What real providers answer, and what it means."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

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
    return classify_http(fmt, status, headers or {}, raw, now=NOW, max_cooldown=DAY, rules=rules)


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
ANSWERS = [
    (ErrorFormat(path.stem), json.loads(line))
    for path in sorted((Path(__file__).parent / "provider_answers").glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize(("fmt", "answer"), ANSWERS, ids=[f"{fmt}-{str(answer)[:90]}" for fmt, answer in ANSWERS])
def test_the_kind_of_a_providers_answer(fmt: ErrorFormat, answer: dict[str, Any]) -> None:
    """One answer a line in `provider_answers/`: `status`, `body` (JSON) or `text`, and the `kind` it must be."""
    body = answer["text"].encode() if "text" in answer else answer["body"]
    failure = classify(fmt, answer["status"], body)
    assert failure.kind == answer["kind"], failure.rule
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
    failure = classify_envelope(
        OPENAI if "type" not in str(envelope) else ANTHROPIC, envelope, 200, {}, now=NOW, max_cooldown=DAY
    )
    assert (failure.kind, failure.status) == (kind, status)


def test_headers_of_a_200_give_no_hint() -> None:
    headers = {"retry-after": "30"}
    failure = classify_envelope(
        OPENAI, {"error": {"code": 429, "message": "slow"}}, 200, headers, now=NOW, max_cooldown=DAY
    )
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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no sk-abcdef here", "no [key] here"),
        ("no R8_abcdef here", "no [key] here"),
        ("no AIzaSyabcd here", "no [key] here"),
        ("no ya29.abcd here", "no [key] here"),
        ("no eyJhbGciOiJIUzI1NiJ9.e30.x here", "no [key] here"),
        ("at https://x/y?key=abc&z=1", "at https://x/y?key=[key]&z=1"),
        ("with bearer abc, so", "with bearer [key], so"),
        ("Incorrect API key provided: abc", "Incorrect API key provided: [key]"),
        ("Bad KEY: abcdefgh", "Bad KEY: [key]"),
        ("no task-list, no skeleton", "no task-list, no skeleton"),
    ],
)
def test_keys_in_a_message_are_masked(text: str, shown: str) -> None:
    assert classify(OPENAI, 401, openai(text)).message == shown
