"""Operators' patterns, searched by RE2: in a time that grows with the text, whatever the pattern (docs/adr/0008)."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import re2

LONGEST_PATTERN = 500
"""Characters."""
LONGEST_PROGRAM = 2_000
"""Instructions of RE2; `.{0,200}` has 1,800. An ordinary pattern has 20 and takes 5 µs, the worst of 2,000 0.2 s (ADR 8)."""
MEMORY = 8 * 1024 * 1024
"""Bytes that a pattern's automaton may grow to; an ordinary one has 5 KB."""

TOO_LARGE = r"is too large: write * or + for a long {n,m}, \S for \pL, or make several rules of it"
_ADVICE = {
    ("(?=", "(?!", "(?<"): " There is no lookaround: put a rule for the exception before this one.",
    ("(?>", "*+", "++", "?+"): " Nothing needs to be possessive or atomic: it never backtracks.",
    ("\\", "(?P"): r" There are no backreferences; \Z is written \z, and \u20ac \x{20ac}.",
}
"""By how what RE2 complains of begins."""
_NO_LOWER_BOUND = re.compile(r"(?<!\\)\{,\d*\}")


class _Program(Protocol):
    """What is used of `re2`, which has no types."""

    programsize: int

    def search(self, text: bytes) -> object | None: ...


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that was read. With a `problem` it is in no text."""

    problem: str = ""
    """What is wrong with it, to finish "the pattern …"."""
    _program: _Program | None = None

    def is_in(self, text: bytes) -> bool:
        """Whether it is found in a text in UTF-8, case ignored."""
        return self._program is not None and self._program.search(text) is not None


@lru_cache(maxsize=1024)
def read_pattern(pattern: str) -> Pattern:
    r"""Read what an operator wrote; never raises. `\w`, `\d` and `\b` mean ASCII, `.` and `\S` characters of any script."""
    if len(pattern) > LONGEST_PATTERN:
        return Pattern(f"must be at most {LONGEST_PATTERN} characters")
    if _NO_LOWER_BOUND.search(pattern):
        return Pattern("must say {0,n} for {,n}")  # RE2 would look for these very characters
    try:
        program: _Program = re2.compile(pattern, _options())
    except UnicodeEncodeError:
        return Pattern("must be a regular expression: it holds half a character")
    except re2.error as error:
        return Pattern(_explained(error.args[0].decode(errors="replace")))
    return Pattern(_program=program) if program.programsize <= LONGEST_PROGRAM else Pattern(TOO_LARGE)


def _options() -> re2.Options:
    options = re2.Options()
    options.case_sensitive = False
    options.never_capture = True
    options.log_errors = False
    options.max_mem = MEMORY
    return options


def _explained(reason: str) -> str:
    if reason.startswith("pattern too large"):
        return TOO_LARGE
    begins = reason.rpartition(": ")[2]
    advice = next((advice for those, advice in _ADVICE.items() if begins.startswith(those)), "")
    return f"must be a regular expression; RE2 says “{reason}”.{advice}"
