"""Retry hints as providers write them; `now` is Monday 2026-11-30 12:00:00 UTC."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilience.core.hints import parse_hint
from tests.core.short_runs import SHORT

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)
EPOCH = int(NOW.timestamp())


def seconds(headers: dict[str, str] | None = None, body: object = None, text: str = "") -> float | None:
    hint = parse_hint(headers or {}, body, text, NOW, DAY)
    return hint.duration.total_seconds() if hint else None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("120", 120),
        ("1.5", 1.5),
        (" 7 ", 7),
        ("0", 1),
        ("0.2", 1),
        ("90000", 86400),
        ("Mon, 30 Nov 2026 12:01:30 GMT", 90),
        ("Monday, 30-Nov-26 12:01:30 GMT", 90),
        ("Mon Nov 30 12:01:30 2026", 90),
        ("2026-11-30T12:01:30Z", 90),
        ("60s", 60),
        ("1m30s", 90),
        (str(EPOCH + 90), 90),
        (str((EPOCH + 90) * 1000), 90),
        ("9999999999", 86400),
        ("1000000000000000", 86400),
    ],
)
def test_retry_after_in_every_form(value: str, expected: float) -> None:
    assert seconds({"retry-after": value}) == expected


@pytest.mark.parametrize(
    "value",
    [
        "soon",
        "",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "-5",
        "1e400",
        "9" * 400,
        "0x10",
        "٣",
        "Mon, 99 Nov 2026 99:99:99 GMT",
        "12:30",
        "Mon, 30 Nov 2026 11:00:00 GMT",
        str(EPOCH - 90),
        "None",
        "1,5",
        ":" * 60,
    ],
)
def test_an_unusable_retry_after_is_as_if_absent(value: str) -> None:
    assert seconds({"retry-after": value}) is None
    assert seconds({"retry-after": value}, text="try again in 9s") == 9


def test_milliseconds_win_over_seconds() -> None:
    hint = parse_hint({"retry-after-ms": "90500", "retry-after": "7"}, None, "", NOW, DAY)
    assert hint is not None
    assert (hint.duration, hint.source) == (timedelta(seconds=90.5), "retry-after-ms header")
    assert seconds({"x-ms-retry-after-ms": "4000"}) == 4
    assert seconds({"retry-after-ms": "nan", "retry-after": "7"}) == 7


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "1m30s",
                "x-ratelimit-remaining-tokens": "9",
                "x-ratelimit-reset-tokens": "6ms",
            },
            90,
        ),
        ({"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "1m30s"}, None),
        ({"x-ratelimit-reset-requests": "1m30s"}, None),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "5",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "50",
            },
            50,
        ),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str((EPOCH + 33) * 1000)}, 33),
        ({"x-ratelimit-remaining-tokens-day": "0", "x-ratelimit-reset-tokens-day": "33011.38"}, 33011.38),
        ({"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2026-11-30T12:01:17Z"}, 77),
        (
            {
                "anthropic-ratelimit-requests-remaining": "49",
                "anthropic-ratelimit-requests-reset": "2026-11-30T12:00:02Z",
            },
            None,
        ),
        (
            {"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": str(EPOCH + 600)},
            600,
        ),
        ({"x-ratelimit-remaining-requests": "nan", "x-ratelimit-reset-requests": "5"}, None),
    ],
)
def test_only_an_exhausted_bucket_says_when(headers: dict[str, str], expected: float | None) -> None:
    assert seconds(headers) == expected


@pytest.mark.parametrize(
    ("body", "expected", "source"),
    [
        (
            {"error": {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "39s"}]}},
            39,
            "RetryInfo",
        ),
        ([{"error": {"details": [{"retryDelay": {"seconds": 12, "nanos": 500000000}}]}}], 12.5, "RetryInfo"),
        ({"error": {"details": [{"metadata": {"quotaResetDelay": "3h20m1.5s"}}]}}, 12001.5, "quotaResetDelay"),
        ({"error": {"resets_in_seconds": 5400}}, 5400, "resets_in_seconds"),
        ({"error": {"resets_at": EPOCH + 60}}, 60, "resets_at"),
        ({"error": {"resets_at": "2026-11-30T12:02:00Z", "resets_in_seconds": 5}}, 120, "resets_at"),
        ({"error": {"resets_in_seconds": -5, "retry_after": 8}}, 8, "retry_after"),
    ],
)
def test_hints_in_the_body(body: object, expected: float, source: str) -> None:
    hint = parse_hint({}, body, "", NOW, DAY)
    assert hint is not None
    assert (hint.duration.total_seconds(), hint.source) == (expected, source)


@pytest.mark.parametrize(
    "value", [True, None, [], {}, "soon", float("nan"), float("inf"), -1, 10**400, {"seconds": "x"}]
)
def test_an_unusable_member_is_as_if_absent(value: object) -> None:
    assert seconds(body={"error": {"retryDelay": value, "resets_in_seconds": value}}) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Please try again in 4.77s.", 4.77),
        ("Please retry after 75 seconds.", 75),
        ("Your quota resets in 3 days", 86400),
        ("Please try again in 13m38.208s. Need more?", 818.208),
        ("Please retry in 72.5s.", 72.5),
        ("try again in 1 hour and 20 minutes", 4800),
        ("Please wait 30 seconds before retrying", 30),
        ("quota will reset after 5h20m3s.", 19203),
        ("try again in 500ms", 1),
        ("You will regain access on 2026-11-30 at 13:00 UTC.", 3600),
        ("Try again at 2026-11-30T12:05:00Z.", 300),
        ("retry_after: soon. Retry-After: 30", 30),
        ("retry your request 3 times", None),
        ("limit 30000 tokens per min, try again later", None),
        ("wait for it", None),
    ],
)
def test_hints_in_prose(text: str, expected: float | None) -> None:
    assert seconds(text=text) == expected


def test_headers_win_over_body_and_body_over_text() -> None:
    body = {"error": {"retryDelay": "20s"}}
    assert seconds({"retry-after": "10"}, body, "try again in 30s") == 10
    assert seconds({}, body, "try again in 30s") == 20


def test_the_clamp_is_the_operators() -> None:
    hint = parse_hint({"retry-after": "500"}, None, "", NOW, timedelta(seconds=60))
    assert hint is not None
    assert hint.duration == timedelta(seconds=60)


@SHORT
@given(
    value=st.one_of(
        st.text(alphabet="0123456789.:-+eTZsmhd nafi,GMT", max_size=40), st.integers().map(str), st.floats().map(str)
    )
)
def test_any_value_gives_a_hint_within_bounds_or_none(value: str) -> None:
    names = ("retry-after", "retry-after-ms", "x-ratelimit-reset-requests")
    hint = parse_hint(
        {"x-ratelimit-remaining-requests": "0"} | dict.fromkeys(names, value), {"resets_at": value}, value, NOW, DAY
    )
    assert hint is None or timedelta(seconds=1) <= hint.duration <= DAY
