"""Error answers: the real ones of `tests/core/provider_answers`, spoiled; bytes that are no answer at all."""

from datetime import timedelta
from random import Random
from typing import NamedTuple

import orjson

from resilience.core.classify import UNMATCHED, ErrorFormat, ErrorRule, classify_envelope, classify_http, find_error
from resilience.core.envelope import CODE_LENGTH, CODE_MEMBERS, MESSAGE_MEMBERS, NESTED_MEMBERS, decode
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from resilience.core.redaction import MESSAGE_LENGTH
from resilience.core.unmatched import EXAMPLE_LENGTH, SHAPE_LENGTH, pattern_of
from tests.core.test_classify import ANSWERS
from tests.fuzz.hints import MOMENTS, headers, sentence
from tests.fuzz.spoil import BYTES, JUNK, cut, spoiled, written

DAY = timedelta(days=1)
NAMES = tuple(
    sorted({*CODE_MEMBERS, *MESSAGE_MEMBERS, *NESTED_MEMBERS, "choices", "finish_reason", "object", "headers"})
)
BODIES = tuple(orjson.dumps(answer["body"]) for _, answer in ANSWERS if isinstance(answer.get("body"), dict))
PAGES = (
    *(answer["text"].encode() for _, answer in ANSWERS if "text" in answer),
    *(b"<!DOCTYPE html><html><head><title>Not here</title></head></html>", b'data: {"error":{"code":429}}\n\n', b"[]"),
)
STATUSES = (*(answer["status"] for _, answer in ANSWERS), 0, -1, 200, 204, 302, 401, 402, 403, 418, 425, 451, 503, 1000)
RULES = (
    (),
    (ErrorRule(429, None, None, Kind.OVERLOADED, None, "a"), ErrorRule(None, "1302", None, Kind.AUTH, DAY, "b")),
    (
        ErrorRule(None, None, r"\blimit\b.{0,40}quota", Kind.RATE_LIMIT, None, "c"),
        ErrorRule(400, None, "([", Kind.AUTH, None, "d"),
    ),
)
HUGE = 1 / 2000
"""The share of bodies of up to 300 KB."""


class Error(NamedTuple):
    """One input."""

    fmt: ErrorFormat
    status: int
    headers: dict[str, str]
    body: bytes
    rules: tuple[ErrorRule, ...]
    in_a_200: bool


def make(chance: Random) -> Error:
    return Error(
        chance.choice(tuple(ErrorFormat)),
        chance.choice(STATUSES),
        headers(chance) if chance.random() < 0.3 else {},
        _body(chance),
        chance.choice(RULES),
        chance.random() < 0.25,
    )


def check(error: Error) -> None:
    fmt, status, heads, body, rules, in_a_200 = error
    now = MOMENTS[0]
    if not in_a_200:
        _sound(classify_http(fmt, status, heads, body, now=now, max_cooldown=DAY, rules=rules))
    elif (found := find_error(fmt, decode(body))) is not None:
        _sound(classify_envelope(fmt, found, 200, heads, now=now, max_cooldown=DAY, rules=rules))


def _sound(failure: Failure) -> None:
    assert isinstance(failure.kind, Kind)
    assert failure.message
    assert len(failure.message) <= MESSAGE_LENGTH
    assert failure.code is None or 0 < len(failure.code) <= CODE_LENGTH
    orjson.dumps([failure.message, failure.code, failure.rule])  # what a client may be told
    assert (failure.unmatched is not None) == (failure.decided_by in UNMATCHED)
    if failure.unmatched is not None:
        shape, example = failure.unmatched.shape, failure.unmatched.example
        assert 0 < len(shape) <= SHAPE_LENGTH
        assert len(example) <= EXAMPLE_LENGTH
        orjson.dumps([shape, example, pattern_of(example)])


def _body(chance: Random) -> bytes:
    kind = chance.random()
    if kind < HUGE:
        piece = chance.choice(
            (*BODIES, *PAGES, *BYTES, b'{"error":', b'{"error":[', b"rate limit retry in ", b"model ")
        )
        return (piece or b" ") * chance.randint(1, 300_000 // (len(piece) or 1))
    if kind < 0.55:
        return written(spoiled(chance, chance.choice(BODIES), NAMES))
    if kind < 0.7:
        return cut(chance, chance.choice(BODIES), BYTES)
    if kind < 0.8:
        message = {"message": sentence(chance).encode("utf-8", "replace").decode()}
        return written({"error": message | {chance.choice(NAMES): orjson.loads(chance.choice(JUNK))}})
    if kind < 0.9:
        return cut(chance, chance.choice(PAGES), BYTES)
    return chance.randbytes(chance.randint(0, 80))
