"""`GET /v1/models` as Anthropic answers it: model cards, in pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from routing.errors import invalid_request
from routing.listing import ListedModel

DEFAULT_LIMIT, MAX_LIMIT = 20, 1000  # Anthropic's own
RELEASED = "1970-01-01T00:00:00Z"  # what Anthropic says where a date is unknown


def model_info(model: ListedModel) -> dict[str, Any]:
    """One model."""
    return {
        "type": "model",
        "id": model.name,
        "display_name": model.name,
        "created_at": RELEASED,
        "lifecycle": "active",
        "max_input_tokens": model.facts.context_window,
        "max_tokens": model.facts.max_output_tokens,
    }


def model_page(models: Sequence[ListedModel], query: Mapping[str, str]) -> dict[str, Any]:
    """The page that `limit` and `after_id` or `before_id` ask for. Raises GatewayError 400."""
    limit, names = _limit(query.get("limit")), [model.name for model in models]
    if "before_id" in query:
        end = _place(names, query, "before_id")
        start = max(0, end - limit)
        has_more = start > 0
    else:
        start = _place(names, query, "after_id") + 1 if "after_id" in query else 0
        end = start + limit
        has_more = end < len(names)
    data = [model_info(model) for model in models[start:end]]
    first, last = (data[0]["id"], data[-1]["id"]) if data else (None, None)
    return {"data": data, "has_more": has_more, "first_id": first, "last_id": last}


def _limit(given: str | None) -> int:
    if given is None:
        return DEFAULT_LIMIT
    if (
        not given.isascii()
        or not given.isdigit()
        or len(given) > len(str(MAX_LIMIT))
        or not 1 <= int(given) <= MAX_LIMIT
    ):
        raise invalid_request(f"`limit` must be a whole number from 1 to {MAX_LIMIT}.", "limit")
    return int(given)


def _place(names: Sequence[str], query: Mapping[str, str], member: str) -> int:
    try:
        return names.index(query[member])
    except ValueError:
        raise invalid_request(f"`{member}` names no model of this list.", member) from None
