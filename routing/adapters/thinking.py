"""How hard to think: OpenAI's effort as the token budgets that other formats take."""

from collections.abc import Mapping
from typing import Any

from routing.errors import invalid_request

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
LEAST_BUDGET = 1024  # tokens; Anthropic's minimum, and too few to be worth it elsewhere


def effort(body: Mapping[str, Any]) -> str | None:
    """`reasoning_effort`, or the `effort` of a `reasoning` object. Raises GatewayError 400."""
    name, value = "reasoning_effort", body.get("reasoning_effort")
    if value is None:
        reasoning = body.get("reasoning")
        name, value = "reasoning", reasoning.get("effort") if isinstance(reasoning, dict) else None
    if value is None:
        return None
    if value not in EFFORTS:
        raise invalid_request(f"`{name}` must be one of {', '.join(EFFORTS)}.", name)
    return str(value)


def budget_within(wanted: int, limit: int | None) -> int | None:
    """Tokens to think with, so that at least half of the output limit is left for the answer; None if too few."""
    if limit is None:
        return wanted
    if limit <= LEAST_BUDGET:
        return None
    return min(wanted, max(LEAST_BUDGET, limit // 2))
