"""`manage.py prune`, for a daily timer."""

from typing import Any

from django.core.management.base import BaseCommand

from resilience.eventlog import prune_events
from routing.retention import event_limit, prune_requests, prune_unmatched, request_limit


class Command(BaseCommand):
    help = "Delete request log rows and events past REQUEST_LOG_RETENTION_DAYS and EVENT_RETENTION_DAYS."

    def handle(self, *args: Any, **options: Any) -> None:
        requests, events = request_limit(), event_limit()
        self.stdout.write(f"{prune_requests(requests)} requests from before {requests:%Y-%m-%d %H:%M} UTC deleted.")
        self.stdout.write(f"{prune_unmatched(requests)} unmatched errors not seen since then deleted.")
        self.stdout.write(f"{prune_events(events)} events from before {events:%Y-%m-%d %H:%M} UTC deleted.")
