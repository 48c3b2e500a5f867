"""Bodies nobody should send: never an exception, never slow, never a wrong turn."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilience.core.classify import ErrorFormat, classify_envelope, classify_http, find_error
from resilience.core.kinds import Kind
from tests.core.short_runs import SHORT

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)

NASTY = [
    b"\xff\xfe\x00{",
    b"[" * 100_000,
    b'{"error":' * 50_000,
    b'{"error":{"code":' + b"9" * 400 + b"}}",
    b'{"error":{"code":' + b"9" * 6000 + b"}}",
    b'{"error":{"code":NaN,"message":Infinity}}',
    b'{"error":{"message":"' + b"model " * 60_000 + b'"}}',
    b'{"error":{"message":"' + b"rate limit retry in " * 20_000 + b'"}}',
    b"<html>" * 60_000,
    b"<title" * 60_000,
    b" " * 2_000_000,
    b'{"error":{"details":[' + b'{"metadata":{}},' * 5_000 + b"{}]}}",
    b'{"error":null}',
    b'{"error":{"code":true,"message":["a",1,null,{"x":[]}],"status":{},"type":[]}}',
    b'{"error":{"metadata":{"raw":"{\\"error\\":' + b"{\\\\" * 1000 + b'"}}}',
    b'"' + b"x" * 300_000 + b'"',
    b"null",
    b"true",
    b"0",
    '\ufeff{"error":{"code":"insufficient_quota"}}'.encode(),
]


@pytest.mark.parametrize("body", NASTY, ids=[str(body[:20]) for body in NASTY])
@pytest.mark.parametrize("fmt", list(ErrorFormat))
def test_a_nasty_body_is_decided_by_its_status(fmt: ErrorFormat, body: bytes) -> None:
    assert classify_http(fmt, 500, {}, body, now=NOW, max_cooldown=DAY).kind in {Kind.TRANSIENT, Kind.QUOTA_EXHAUSTED}
    assert classify_http(fmt, 429, {"retry-after": "9" * 500}, body, now=NOW, max_cooldown=DAY).kind in {
        Kind.RATE_LIMIT,
        Kind.QUOTA_EXHAUSTED,
    }


@pytest.mark.parametrize("half", ["\\ud800", "x\\uDFFFy", "\\udc00\\ud83d"])
def test_half_a_character_can_be_told_to_a_client(half: str) -> None:
    body = f'{{"error":{{"message":"{half} \\ud83d\\ude00","code":"{half}"}}}}'.encode()
    failure = classify_http(ErrorFormat.OPENAI, 400, {}, body, now=NOW, max_cooldown=DAY)
    assert "\N{GRINNING FACE}" in failure.message
    assert f"{failure.message}{failure.code}{failure.unmatched}".encode()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "model", "{", "429", "3s", "rate limit", "é"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "error",
                    "code",
                    "message",
                    "status",
                    "details",
                    "metadata",
                    "raw",
                    "headers",
                    "choices",
                    "retryDelay",
                    "type",
                    "detail",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@SHORT
@given(document=JSON, status=st.integers(100, 999), fmt=st.sampled_from(ErrorFormat))
def test_any_json_gives_a_kind(document: object, status: int, fmt: ErrorFormat) -> None:
    for failure in (
        classify_http(fmt, status, {}, json.dumps(document).encode(), now=NOW, max_cooldown=DAY),
        classify_envelope(fmt, document, 200, {}, now=NOW, max_cooldown=DAY),
    ):
        assert isinstance(failure.kind, Kind)
        assert len(failure.message) <= 500
    find_error(fmt, document)


@SHORT
@given(body=st.binary(max_size=200), status=st.integers(-1, 1000))
def test_any_bytes_give_a_kind(body: bytes, status: int) -> None:
    assert isinstance(classify_http(ErrorFormat.OPENAI, status, {}, body, now=NOW, max_cooldown=DAY).kind, Kind)


ANSWER = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"content": "Error: 429 insufficient_quota"}, "finish_reason": "stop"}],
}


@pytest.mark.parametrize(
    ("fmt", "document"),
    [
        (ErrorFormat.OPENAI, ANSWER),
        (ErrorFormat.OPENAI, {**ANSWER, "error": None}),
        (ErrorFormat.OPENAI, {**ANSWER, "error": {"message": None, "code": None}}),
        (ErrorFormat.OPENAI, {"object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 3}}),
        (ErrorFormat.OPENAI, {"object": "chat.completion", "choices": []}),
        (ErrorFormat.OPENAI, {"object": "list", "data": []}),
        (ErrorFormat.ANTHROPIC, {"type": "message_start", "message": {"id": "msg_1"}}),
        (ErrorFormat.ANTHROPIC, {"type": "message", "content": [{"type": "text", "text": "error"}]}),
        (ErrorFormat.ANTHROPIC, {"type": "ping"}),
        (ErrorFormat.GEMINI, {"candidates": [{"content": {"parts": [{"text": "error"}]}}]}),
        (ErrorFormat.GEMINI, [{"candidates": []}]),
        (ErrorFormat.OPENAI, None),
        (ErrorFormat.OPENAI, 5),
    ],
)
def test_an_answer_is_not_an_error(fmt: ErrorFormat, document: object) -> None:
    assert find_error(fmt, document) is None


@pytest.mark.parametrize(
    ("fmt", "document"),
    [
        (ErrorFormat.OPENAI, {"error": {"message": "x"}}),
        (ErrorFormat.OPENAI, {"error": "x"}),
        (ErrorFormat.OPENAI, {**ANSWER, "error": {"code": 502}}),
        (ErrorFormat.OPENAI, {"object": "error", "message": "x"}),
        (ErrorFormat.OPENAI, [{"error": {"code": 429}}]),
        (ErrorFormat.OPENAI, {"detail": "Not Found"}),
        (ErrorFormat.OPENAI, {"message": "Unauthorized"}),
        (
            ErrorFormat.OPENAI,
            {"choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}},
        ),
        (ErrorFormat.OPENAI, {"choices": [{"finish_reason": "error", "error": {"code": 502, "message": "x"}}]}),
        (ErrorFormat.OPENAI, {"choices": [{"delta": {}, "finish_reason": "error"}]}),
        (ErrorFormat.OPENAI, "Internal Server Error"),
        (ErrorFormat.ANTHROPIC, {"type": "error", "error": {"type": "overloaded_error"}}),
        (ErrorFormat.GEMINI, {"error": {"code": 503, "status": "UNAVAILABLE"}}),
        (ErrorFormat.GEMINI, [{"error": {"code": 503}}]),
    ],
)
def test_an_error_is_found_in_a_200(fmt: ErrorFormat, document: object) -> None:
    assert find_error(fmt, document) is not None


def test_an_error_beside_a_broken_answer_is_read_without_the_answer() -> None:
    document = {"choices": [{"message": {"content": "insufficient_quota"}}], "error": {"code": 502, "message": "gone"}}
    found = find_error(ErrorFormat.OPENAI, document)
    assert classify_envelope(ErrorFormat.OPENAI, found, 200, {}, now=NOW, max_cooldown=DAY).kind is Kind.TRANSIENT
