"""One row of the request log as JSON."""

from typing import Any
from uuid import UUID

from django.http import Http404

from routing.models import RequestLog

# in the order of a request's life; the rest of the row is internal
PLAIN = (
    "chain",
    "requested_model",
    "key_name",
    "client_format",
    "stream",
    "outcome",
    "status",
    "code",
    "provider",
    "connection",
    "model",
    "attempts",
    "fallback",
    "emergency",
    "duration",
    "first_token",
    "overhead",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "reasoning_tokens",
    "error",
    "targets",
)


def request_detail(request_id: str) -> dict[str, Any]:
    """The request with its attempts and skips in order; durations in seconds, cost in USD. Raises Http404."""
    try:
        row = RequestLog.objects.get(id=UUID(request_id))
    except (ValueError, RequestLog.DoesNotExist):
        raise Http404(f"There is no request {request_id!r} in the log. Rows are written within a second.") from None
    started_at = row.started_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        "id": str(row.id),
        "started_at": started_at,
        **{name: getattr(row, name) for name in PLAIN},
        "cost": None if row.cost is None else float(row.cost),
    }
