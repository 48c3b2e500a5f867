"""Client keys, with how much each was used of late."""

from collections import Counter
from datetime import datetime, timedelta

from omniroute_site.dashboard.board_rows import Count
from omniroute_site.dashboard.key_rows import KeyRow
from routing.ids import uuid7_floor
from routing.models import ClientKey, RequestLog

USED_OF = timedelta(hours=1)
MOST_ROWS = 5_000
"""Of the last hour's requests the newest that are counted: whether a key is in use shows in fewer."""


def read_keys(at: datetime) -> tuple[KeyRow, ...]:
    """Every key, by name."""
    recent = RequestLog.objects.filter(id__gte=uuid7_floor(at - USED_OF)).newest_first()
    names = list(recent.values_list("key_name", flat=True)[:MOST_ROWS])
    used = Counter(names)
    more = len(names) == MOST_ROWS
    return tuple(_row(key, Count(used[key.name], more=more)) for key in ClientKey.objects.order_by("name"))


def read_key(key_id: int, at: datetime) -> KeyRow | None:
    """One key, None if it is gone."""
    return next((row for row in read_keys(at) if row.id == key_id), None)


def _row(key: ClientKey, used: Count) -> KeyRow:
    return KeyRow(
        id=key.pk,
        name=key.name,
        hint=key.key_hint,
        scopes=tuple(key.scopes),
        models=tuple(key.models),
        requests_per_minute=key.requests_per_minute,
        enabled=key.enabled,
        created_at=key.created_at,
        used=used,
    )
