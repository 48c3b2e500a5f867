"""What may be kept of an error that no rule, code or text told: its shape and an example, without anything of the request.

Errors that differ only in numbers, ids and quoted values have one shape, so they are counted together and an operator can
make one rule for all of them. Providers quote what they were sent, so whatever stands in quotes or brackets is left out.
"""

import json
import re
from collections.abc import Mapping
from itertools import groupby

from .envelope import CODE_MEMBERS, MESSAGE_MEMBERS, parsed
from .outcome import Unmatched
from .redaction import MASK, redact

LEFT_OUT = "…"
NUMBER = "#"
SHAPE_LENGTH = 1_000
EXAMPLE_LENGTH = 300
PATTERN_LENGTH = 200
WORDS = 24
WORD_LENGTH = 24
DEPTH = 5
MEMBERS = 12
ITEMS = 3
NESTED_LENGTH = 4_096
"""A body in a string is looked into up to this length."""

_QUOTED = re.compile(
    r""" ".*" | ".*$ | `.*` | `.*$ | (?<!\w)'.*'(?!\w) | (?<!\w)'.*$ | [“„\u2018«].*[”\u2019»] | [“„\u2018«].*$
       | \{.*\} | \{.*$ | \[.*\] | \[.*$ """,
    re.VERBOSE,
)
"""From the first to the last mark: what is quoted may hold such marks itself."""
_MEMBER = re.compile(r"[A-Za-z@_][A-Za-z@_.-]{0,39}")
_CODE = re.compile(r"[\w.:-]{1,64}", re.ASCII)
_DIGIT = re.compile(r"\d")
_ID_DIGITS = 7
"""A code with as many digits is an id."""


def unmatched(document: object, message: str) -> Unmatched:
    """The shape of an error and its message. Bounded, never raises.

    `document` is the decoded body, None if there is none; `message` is what it says, redacted.
    """
    example = _without_quotes(message)[:EXAMPLE_LENGTH].rstrip()
    if document is None:
        return Unmatched(f"page: {_words(message)}" if message else "empty", example)
    shape = json.dumps(_shape(document, "error", 0), ensure_ascii=False, separators=(",", ":"))
    return Unmatched(shape if len(shape) <= SHAPE_LENGTH else shape[: SHAPE_LENGTH - 1] + LEFT_OUT, example)


def pattern_of(example: str) -> str:
    """A pattern for a rule: the longest run of words that other errors of the example's shape have, too; "" without one."""
    runs = groupby(
        example.split(), lambda word: _masked_word(word) == word and LEFT_OUT not in word and MASK not in word
    )
    words = max((" ".join(run) for is_plain, run in runs if is_plain), key=len, default="")
    return re.escape(words[:PATTERN_LENGTH]).replace("\\ ", " ")  # spaces are no syntax, and people read it


def _words(message: str) -> str:
    """The first words of a redacted message; numbers, ids, addresses, long words and what is quoted are masked."""
    words: list[str] = []
    for word in _without_quotes(message).split():
        mask = _masked_word(word)
        if len(words) == WORDS:
            return " ".join([*words, LEFT_OUT])
        if mask not in (LEFT_OUT, NUMBER) or words[-1:] != [mask]:
            words.append(mask)
    return " ".join(words)


def _without_quotes(line: str) -> str:
    return _QUOTED.sub(LEFT_OUT, line)


def _masked_word(word: str) -> str:
    if _DIGIT.search(word):
        return NUMBER
    is_address = "://" in word or word.startswith("/") or "@" in word or "\\" in word
    return LEFT_OUT if is_address or len(word) > WORD_LENGTH else word


def _shape(value: object, name: str, depth: int) -> object:
    """A value's place holder; codes and the words of messages stay."""
    if isinstance(value, dict):
        return _object(value, depth)
    if isinstance(value, list):
        if depth == DEPTH:
            return "list"
        shapes = [_shape(item, name, depth + 1) for item in value[:ITEMS]]
        return [shape for number, shape in enumerate(shapes) if shape not in shapes[:number]]
    if isinstance(value, bool) or value is None:
        return value
    if name in CODE_MEMBERS:
        return _code(value)
    return _text(value, name, depth) if isinstance(value, str) else "number"


def _object(value: Mapping[str, object], depth: int) -> object:
    if depth == DEPTH:
        return "object"
    members = sorted(list(value.items())[:MEMBERS])
    return {_member(name): _shape(member, name, depth + 1) for name, member in members}


def _member(name: str) -> str:
    return name if _MEMBER.fullmatch(name) else LEFT_OUT


def _code(value: object) -> str:
    code = str(value) if isinstance(value, str) or (isinstance(value, int) and abs(value) < 10**_ID_DIGITS) else ""
    is_id = len(_DIGIT.findall(code)) >= _ID_DIGITS
    return code if _CODE.fullmatch(code) and not is_id and redact(code) == code else type(value).__name__


def _text(value: str, name: str, depth: int) -> object:
    if name not in MESSAGE_MEMBERS:
        return "text"
    inner = parsed(value) if value.lstrip()[:1] in ("{", "[") and len(value) <= NESTED_LENGTH else None
    if isinstance(inner, dict | list):
        return _shape(inner, name, depth + 1) if depth < DEPTH else "text"
    return _words(redact(value))
