"""How hard to think: OpenAI's effort as the token budgets that other formats take."""

from collections.abc import Mapping
from typing import Any

from routing.adapters.parameters import object_member
from routing.errors import invalid_request

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
LEAST_BUDGET = 1024  # tokens; Anthropic's minimum, and too few to be worth it elsewhere


def effort(body: Mapping[str, Any]) -> str | None:
    """`reasoning_effort`, or the `effort` of a `reasoning` object. Raises GatewayError 400."""
    name = effort_member(body)
    value = object_member(body, name).get("effort") if name == "reasoning" else body.get(name)
    if value is None:
        return None
    if value not in EFFORTS:
        raise invalid_request(f"`{name}` must be one of {', '.join(EFFORTS)}.", name)
    return str(value)


def effort_member(body: Mapping[str, Any]) -> str:
    """By which of the two it was asked for."""
    return "reasoning" if body.get("reasoning_effort") is None else "reasoning_effort"


def budget_within(wanted: int, limit: int | None) -> int | None:
    """Tokens to think with, so that at least half of the output limit is left for the answer; None if too few."""
    if limit is None:
        return wanted
    if limit <= LEAST_BUDGET:
        return None
    return min(wanted, max(LEAST_BUDGET, limit // 2))
