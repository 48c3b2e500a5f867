"""Requests, newest first: pages by key, never by counting."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from omniroute_site.dashboard.request_rows import RequestPage, RequestRow, page_of, row_of
from routing.models import Outcome, RequestLog

PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class RequestList:
    """A page of requests; `older` is where the next one begins."""

    rows: Sequence[RequestRow]
    older: str = ""


@dataclass(frozen=True, slots=True)
class Filter:
    """What to keep; empty keeps all."""

    chain: str = ""
    provider: str = ""
    outcome: str = ""
    before: UUID | None = None


def read_requests(kept: Filter) -> RequestList:
    """One page of requests, newest first."""
    logs = RequestLog.objects.newest_first().defer("targets_json", "error")
    if kept.chain:
        logs = logs.filter(chain=kept.chain)
    if kept.provider:
        logs = logs.filter(provider=kept.provider)
    if kept.outcome in Outcome.values:
        logs = logs.filter(outcome=kept.outcome)
    if kept.before:
        logs = logs.filter(id__lt=kept.before)
    rows = [row_of(log) for log in logs[: PAGE_SIZE + 1]]
    more = len(rows) > PAGE_SIZE
    return RequestList(rows[:PAGE_SIZE], rows[PAGE_SIZE - 1].id if more else "")


def read_request(request_id: UUID) -> RequestPage | None:
    """One request, None if it is not (or no longer) logged."""
    log = RequestLog.objects.filter(pk=request_id).first()
    return page_of(log) if log else None
