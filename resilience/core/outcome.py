"""What came back from an attempt: a success, or a failure with its kind."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TypeAlias

from .kinds import RULES, Kind, KindRule

HintSource: TypeAlias = str
"""Where a hint was found, as shown to operators: "retry-after header", "RetryInfo", "error text"."""


@dataclass(frozen=True, slots=True)
class Hint:
    """How long the provider asked us to stay away."""

    duration: timedelta
    source: HintSource


class DecidedBy(StrEnum):
    """What told the kind of a provider's error, the most telling first."""

    RULE = "rule"
    CODE = "code"
    TEXT = "text"
    STATUS = "status"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Unmatched:
    """What may be kept of an error that only its status told, or nothing (`unmatched.py`)."""

    shape: str
    """The document with its values replaced; equal for equal errors."""
    example: str
    """One message, without secrets and without what it quotes."""


@dataclass(frozen=True, slots=True)
class Success:
    """A usable answer; of a stream, one that has ended well."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt that gave no usable answer."""

    kind: Kind
    message: str = ""
    status: int | None = None
    code: str | None = None
    hint: Hint | None = None
    param: str | None = None
    """The member of the request that the provider says it is about."""
    model_scope: bool = False
    """The spent quota is the model's, not the account's: the pair is locked instead of cooling the connection."""
    rule: str = ""
    """The row of the classification table, or the operator's rule, that decided the kind."""
    cooldown: timedelta | None = None
    """The cooldown an operator's rule asks for; it replaces both hint and configuration."""
    decided_by: DecidedBy | None = None
    """None where no error of the provider was read: a network failure, an answer that is none."""
    unmatched: Unmatched | None = None
    """For the collection from which operators make rules."""

    @property
    def effects(self) -> KindRule:
        """What this kind does to the layers."""
        return RULES[self.kind]


Outcome: TypeAlias = Success | Failure

SUCCESS = Success()
