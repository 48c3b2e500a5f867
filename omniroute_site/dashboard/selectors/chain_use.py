"""Which entries of a chain have answered of late."""

from datetime import datetime, timedelta

from routing.ids import uuid7_floor
from routing.models import RequestLog

LATELY = timedelta(days=7)
MOST_ROWS = 5_000
"""Of a chain's requests the newest that are looked at: an entry that answered none of them is as good as untested."""


def answered_lately(chain: str, at: datetime) -> tuple[set[tuple[str, str]], int]:
    """The (provider, model) that answered, and how many requests were looked at."""
    recent = RequestLog.objects.filter(chain=chain, id__gte=uuid7_floor(at - LATELY)).newest_first()
    rows = list(recent.values_list("provider", "model")[:MOST_ROWS])
    return {(provider, model) for provider, model in rows if provider}, len(rows)
