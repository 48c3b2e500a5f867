"""What is kept of errors that nobody knows: enough to make a rule of, nothing of the request."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from resilience.core.classify import ErrorFormat, ErrorRule, classify_envelope, classify_http
from resilience.core.kinds import Kind
from resilience.core.outcome import DecidedBy, Failure
from resilience.core.unmatched import pattern_of
from tests.core.test_classify import ANSWERS

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)
PROMPT = 'my cat\'s name is Fluffy, "the cat"'


def read(status: int, body: object, *rules: ErrorRule) -> Failure:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return classify_http(ErrorFormat.OPENAI, status, {}, raw, now=NOW, max_cooldown=DAY, rules=rules)


def said(message: str, **members: object) -> dict[str, object]:
    return {"error": {"message": message, **members}}


@pytest.mark.parametrize(
    ("status", "body", "decided_by"),
    [
        (400, said("x", code="insufficient_quota"), DecidedBy.CODE),
        (400, said("Your credit balance is too low"), DecidedBy.TEXT),
        (418, said("x"), DecidedBy.RULE),
        (402, said("x"), DecidedBy.STATUS),
        (500, b"", DecidedBy.STATUS),
        (404, b"<title>Not here</title>", DecidedBy.STATUS),
    ],
)
def test_a_failure_says_what_told_its_kind(status: int, body: object, decided_by: DecidedBy) -> None:
    failure = read(status, body, ErrorRule(418, None, None, Kind.OVERLOADED, None, "teapot"))
    assert failure.decided_by is decided_by
    assert (failure.unmatched is not None) == (decided_by is DecidedBy.STATUS)


@pytest.mark.parametrize(
    ("envelope", "decided_by"),
    [(said("x", type="server_error"), DecidedBy.CODE), (said("something broke"), DecidedBy.NOTHING)],
)
def test_an_error_in_a_200_has_no_status_to_be_told_by(envelope: object, decided_by: DecidedBy) -> None:
    failure = classify_envelope(ErrorFormat.OPENAI, envelope, 200, {}, now=NOW, max_cooldown=DAY)
    assert (failure.decided_by, failure.unmatched is not None) == (decided_by, decided_by is DecidedBy.NOTHING)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (said("Engine 7 is cold, retry 3"), said("Engine 12 is cold, retry 9")),
        (said("Bad value 'a' given"), said("Bad value 'it is b' given")),
        (said("x", request_id="req_1"), said("x", request_id="req_2")),
        (said("x", code=1302, param=None), {"error": {"param": None, "code": 1302, "message": "x"}}),
        (said("x", items=[1, 2, 3]), said("x", items=[7])),
        (said("x", type="a1b2c3d4e5f6a7b8"), said("x", type="b1b2c3d4e5f6a7b9")),
    ],
)
def test_errors_that_differ_in_what_is_the_requests_own_have_one_shape(one: object, other: object) -> None:
    shapes = {failure.unmatched.shape for body in (one, other) if (failure := read(400, body)).unmatched}
    assert len(shapes) == 1


def test_errors_that_say_something_else_have_other_shapes() -> None:
    bodies = [said("Engine is cold"), said("Engine is gone"), said("x", code=1), said("x", code=2), b"", b"page", []]
    assert len({failure.unmatched.shape for body in bodies if (failure := read(400, body)).unmatched}) == len(bodies)


@pytest.mark.parametrize(
    "body",
    [
        said(f"Bad value '{PROMPT}' given"),
        said(f'Bad value "{PROMPT}" given'),
        said(f"Bad value `{PROMPT}` given"),
        said(f"Bad value \u201c{PROMPT}\u201d given"),
        said(f"Bad value '{PROMPT}"),
        said(f"1 error: [{{'type': 'missing', 'input': {{'messages': {PROMPT}}}}}]"),
        said(f"1 error: {{messages: {PROMPT}"),
        said("x", input={"messages": [{"content": PROMPT}]}),
        said("x", code=PROMPT),
        said("x", **{PROMPT: 1}),
        said("x", metadata={"raw": json.dumps(said(f"Bad '{PROMPT}'"))}),
        {"detail": [{"loc": ["body"], "msg": "Field required", "input": {"prompt": PROMPT}}]},
    ],
    ids=lambda body: str(body)[:60],
)
def test_what_an_error_quotes_of_the_request_is_left_out(body: object) -> None:
    kept = read(400, body).unmatched
    assert kept is not None
    assert "cat" not in kept.shape + kept.example
    assert "Fluffy" not in kept.shape + kept.example


def test_keys_are_left_out() -> None:
    kept = read(401, said("Denied: sk-proj-abc_DEF-xyz", code="sk-proj-abc_DEF-xyz")).unmatched
    assert kept is not None
    assert "sk-proj" not in kept.shape + kept.example


@pytest.mark.parametrize(
    "body", [said("word " * 10_000), {f"a{n}b": said("x") for n in range(500)}, [[[[[[[[said("x")]]]]]]]], b"w" * 10**6]
)
def test_what_is_kept_is_small(body: object) -> None:
    kept = read(400, body).unmatched
    assert kept is not None
    assert (len(kept.shape) <= 1000, len(kept.example) <= 300) == (True, True)


def test_a_rule_of_the_pattern_of_matches_the_error_they_are_from() -> None:
    tried = 0
    for fmt, answer in ANSWERS:
        body = answer["text"] if "text" in answer else json.dumps(answer["body"])
        args = (fmt, answer["status"], {}, body.encode())
        kept = classify_http(*args, now=NOW, max_cooldown=DAY).unmatched
        if kept is None or not (pattern := pattern_of(kept.example)):
            continue
        tried += 1
        rule = ErrorRule(answer["status"], None, pattern, Kind.OVERLOADED, None, "made of it")
        failure = classify_http(*args, now=NOW, max_cooldown=DAY, rules=[rule])
        assert failure.decided_by is DecidedBy.RULE, (pattern, body)
    assert tried > 40


@pytest.mark.parametrize(
    ("example", "pattern"),
    [
        ("Engine 7 is cold, retry 3 times", "is cold, retry"),
        ("Denied for [key] … here", "Denied for"),
        ("…", ""),
        ("", ""),
        ("all is plain", "all is plain"),
        ("so (it) is.", r"so \(it\) is\."),
    ],
)
def test_the_pattern_is_the_longest_run_without_a_mask(example: str, pattern: str) -> None:
    assert pattern_of(example) == pattern
