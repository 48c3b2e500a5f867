"""Deletes what is past its retention, in batches, so that nothing else waits long for the database."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from routing.ids import uuid7_floor
from routing.models import RequestLog, UnmatchedError

BATCH = 5_000


def prune_requests(older_than: datetime) -> int:
    """Delete request log rows from before a moment; return how many. Their ids tell their time."""
    limit, deleted = uuid7_floor(older_than), 0
    while True:
        old = list(RequestLog.objects.filter(pk__lt=limit).order_by("pk").values_list("pk", flat=True)[:BATCH])
        if not old:
            return deleted
        deleted += RequestLog.objects.filter(pk__lte=old[-1]).delete()[0]


def prune_unmatched(older_than: datetime) -> int:
    """Delete unmatched errors not seen since a moment; return how many shapes."""
    return UnmatchedError.objects.filter(last_seen_at__lt=older_than).delete()[0]


def request_limit() -> datetime:
    """Return the moment before which request log rows are past retention."""
    return timezone.now() - timedelta(days=settings.REQUEST_LOG_RETENTION_DAYS)


def event_limit() -> datetime:
    """Return the moment before which events are past retention."""
    return timezone.now() - timedelta(days=settings.EVENT_RETENTION_DAYS)
