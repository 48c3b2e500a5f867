"""Numbers and stops of a chat completions request, checked: what every translation needs of them."""

from collections.abc import Mapping
from typing import Any

from routing.errors import invalid_request
from routing.table import ModelFacts

LENGTHS = ("max_completion_tokens", "max_tokens")  # the first that is given holds


def output_limit(body: Mapping[str, Any], facts: ModelFacts, cap: int | None) -> int | None:
    """Most output tokens: what the client wants, at most what the model can do, at most `cap`; None if nobody says.

    Asking for more than the model's own limit gets the limit: it could not say more anyway, and providers answer 400.
    """
    limits = [limit for limit in (_wanted(body), cap) if limit is not None]
    if limits and facts.max_output_tokens:
        limits.append(facts.max_output_tokens)
    return min(limits, default=None)


def _wanted(body: Mapping[str, Any]) -> int | None:
    for name in LENGTHS:
        value = body.get(name)
        if value is None:
            continue
        if type(value) is not int or value < 1:
            raise invalid_request(f"`{name}` must be a whole number of at least 1.", name)
        return value
    return None


def number(body: Mapping[str, Any], name: str) -> int | float | None:
    """A member that must be a number. Raises GatewayError 400."""
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise invalid_request(f"`{name}` must be a number.", name)
    return value


def stops(body: Mapping[str, Any]) -> list[str]:
    """Stop sequences, which may come as one string. Raises GatewayError 400."""
    value = body.get("stop")
    if value is None:
        return []
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(stop, str) for stop in value):
        raise invalid_request("`stop` must be a string or a list of strings.", "stop")
    return [stop for stop in value if stop]
