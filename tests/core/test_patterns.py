"""Operators' patterns: found as they were written, and done in time whatever they are."""

from datetime import UTC, datetime, timedelta

import pytest

from resilience.core.classify import ErrorFormat, ErrorRule, classify_envelope
from resilience.core.envelope import TEXT_LENGTH
from resilience.core.kinds import Kind
from resilience.core.outcome import DecidedBy
from resilience.core.patterns import LONGEST_PATTERN, TOO_LARGE, read_pattern


def decided_by(pattern: str, message: str) -> DecidedBy | None:
    rule = ErrorRule(None, None, pattern, Kind.OVERLOADED, None, "mine")
    envelope = {"error": {"message": message}}
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    return classify_envelope(
        ErrorFormat.OPENAI, envelope, 500, {}, now=now, max_cooldown=timedelta(days=1), rules=[rule]
    ).decided_by


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(a|aa)+$",
        r"^(a*)*$",
        r"(\w+\s?)+$",
        r"(.*a){40}$",
        r"(a?){499}a{499}$",
        r"(a+a+)+b",
        r"(((a?){31}){31})b",
    ],
)
def test_a_pattern_that_backtracking_would_never_end_is_searched_to_the_end(pattern: str) -> None:
    """With the ways through 4,095 letters tried one by one, the sun would be gone before most of these are done."""
    assert decided_by(pattern, "a" * (TEXT_LENGTH - 1) + "!") is DecidedBy.STATUS


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (r"engine \d+ is cold", "the Engine 7\n  is\tcold"),
        ("ПРЕВЫШЕН ЛИМИТ", "Превышен лимит запросов"),
        ("é", "É"),
        ("余额.{0,20}不足", "您的余额目前不足"),
        (r"modèle \pL+ épuisé", "Modèle général épuisé"),
        ("^over$", "over"),
        (r"(?P<what>quota|credit)s? (?:spent|gone)\.", "Credits gone."),
    ],
)
def test_a_pattern_is_searched_in_one_line_without_regard_to_case(pattern: str, message: str) -> None:
    assert decided_by(pattern, message) is DecidedBy.RULE


def test_half_a_character_in_a_message_does_no_harm() -> None:
    assert decided_by("cold", "cold \ud800") is DecidedBy.RULE


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(", "must be a regular expression; RE2 says “missing ): (”."),
        ("quota(?! left)", "There is no lookaround: put a rule for the exception before this one"),
        ("(?<!no )quota", "There is no lookaround"),
        (r"(a)\1", "There are no backreferences"),
        (r"over\Z", r"\Z is written \z"),
        *((pattern, "it never backtracks") for pattern in ("a++", "(?>a)")),
        ("a{,5}", "must say {0,n} for {,n}"),
        ("a.{1,300}b", TOO_LARGE),
        (r"\pL{900}", TOO_LARGE),
        ("a{1001}", "invalid repetition size"),
        ("a" * (LONGEST_PATTERN + 1), "must be at most 500 characters"),
        ("\ud800", "half a character"),
    ],
)
def test_what_cannot_be_searched_says_what_to_do_and_is_in_nothing(pattern: str, problem: str) -> None:
    assert problem in read_pattern(pattern).problem
    assert decided_by(pattern, "quota over aaaa b") is DecidedBy.STATUS


@pytest.mark.parametrize(
    "pattern", ["a" * LONGEST_PATTERN, r"\.\(\)\-\#\&\~", "slow.*(?:down|up)", r"quota.{0,200}per[ _]?day", r"\pL+"]
)
def test_a_pattern_as_people_write_it_is_not_too_large(pattern: str) -> None:
    assert read_pattern(pattern).problem == ""
