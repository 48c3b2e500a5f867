"""What came back from an attempt: a success, or a failure with its kind."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from .kinds import RULES, Kind, KindRule

HintSource: TypeAlias = str
"""Where a hint was found, as shown to operators: "retry-after header", "RetryInfo", "error text"."""


@dataclass(frozen=True, slots=True)
class Hint:
    """How long the provider asked us to stay away."""

    duration: timedelta
    source: HintSource


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
    model_scope: bool = False
    """The spent quota is the model's, not the account's: the pair is locked instead of cooling the connection."""
    rule: str = ""
    """The row of the classification table, or the operator's rule, that decided the kind."""
    cooldown: timedelta | None = None
    """The cooldown an operator's rule asks for; it replaces both hint and configuration."""

    @property
    def effects(self) -> KindRule:
        """What this kind does to the layers."""
        return RULES[self.kind]


Outcome: TypeAlias = Success | Failure

SUCCESS = Success()
