"""The JSON shapes of the state API beside those of `resilience.shapes`.

Requests are validated against them; answers are documented (and tested) by them.
"""

from typing import Annotated, Any

from ninja import Schema
from pydantic import ConfigDict, Field, StringConstraints

from resilience.core.breaker import Pair

Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255)]
TEN_YEARS = 10 * 365 * 86400.0
Duration = Annotated[float, Field(gt=0, le=TEN_YEARS, allow_inf_nan=False, strict=True)]


class Strict(Schema):
    """A request body: a misspelt `for` must not become "for ever"."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class BreakerAction(Strict):
    """Why, and for how long (seconds; null: until somebody ends it)."""

    reason: Reason
    duration: Duration | None = Field(None, alias="for")


class CooldownAction(Strict):
    """Which connection, and why."""

    provider: Name
    connection: Name
    reason: Reason


class PairAction(Strict):
    """Which (connection, model), and why."""

    provider: Name
    connection: Name
    model: Name
    reason: Reason

    @property
    def pair(self) -> Pair:
        """The three names as the resilience floor takes them."""
        return Pair(self.provider, self.connection, self.model)


class LockAction(PairAction):
    """The same, for how long (seconds; null: the provider's `lockout_duration`)."""

    duration: Duration | None = Field(None, alias="for")


class EventsPage(Schema):
    """Which events: those after an id, at most so many."""

    after: int = Field(0, ge=0)
    limit: int = Field(100, ge=1, le=1000)


class Target(Schema):
    """One target of a chain as the gates decide now."""

    provider: str
    connection: str
    model: str
    admitted: bool
    probe: bool
    reason: str | None
    problem: str | None
    until: str | None
    retry_after: float | None


class Explanation(Schema):
    """The targets of a request in the order in which they would be tried."""

    model: str
    chain: str | None
    strategy: str
    targets: list[Target]


class Error(Schema):
    """What every error looks like."""

    error: dict[str, Any]
