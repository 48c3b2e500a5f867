"""The rules an operator adds to the classification, and the wire formats they apply to."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from .kinds import Kind


class ErrorFormat(StrEnum):
    """Whose error envelope is to be read. Azure speaks OPENAI."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


@dataclass(frozen=True, slots=True)
class ErrorRule:
    """An operator's rule: what is not None must match.

    `pattern` is a regular expression (`patterns.py`), searched in the message on one line with single spaces.
    One that cannot be read is in no message.
    """

    status: int | None
    code: str | None
    pattern: str | None
    kind: Kind
    cooldown: timedelta | None
    name: str
