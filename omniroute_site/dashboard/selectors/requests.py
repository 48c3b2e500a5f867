"""Requests, newest first: pages by key, never by counting, and never through more rows than a page can wait for.

A text is looked for within a window of rows: no index finds a word in an error message. What the window does not reach
is one more page, which begins where it ended.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from omniroute_site.dashboard.board_rows import Count
from omniroute_site.dashboard.request_rows import RequestPage, RequestRow, page_of, row_of
from routing.ids import uuid7_floor, uuid7_time
from routing.models import Outcome, RequestLog
from routing.querysets import RequestLogQuerySet

PAGE_SIZE = 50
WINDOW = 10_000  # rows that one search looks through
MOST_NEW = 99  # counted

Logs = RequestLogQuerySet[RequestLog]


@dataclass(frozen=True, slots=True)
class RequestList:
    """A page of requests.

    `older`: where the next one begins; `searched_to`: when the window of a search ended, if it did before the log;
    `newest`: what came since has a higher id.
    """

    rows: Sequence[RequestRow]
    older: str = ""
    searched_to: datetime | None = None
    newest: str = ""


@dataclass(frozen=True, slots=True)
class Filter:
    """What to keep; empty keeps all."""

    chain: str = ""
    provider: str = ""
    outcome: str = ""
    rescued: bool = False
    key: str = ""
    text: str = ""
    before: UUID | None = None

    @property
    def given(self) -> dict[str, str]:
        """The same as fields of a form, on its first page."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self) if field.name != "before")
        return {name: "on" if value is True else value for name, value in values if value}

    @property
    def query(self) -> str:
        """The same in an address."""
        return urlencode(self.given)

    @property
    def narrows(self) -> bool:
        """Whether it leaves anything out."""
        return replace(self, before=None) != Filter()

    def rows(self) -> Logs:
        """The requests kept, newest first, whatever text they hold."""
        logs = RequestLog.objects.newest_first()
        if self.chain:
            logs = logs.filter(chain=self.chain)
        if self.provider:
            logs = logs.filter(provider=self.provider)
        if self.outcome in Outcome.values:
            logs = logs.filter(outcome=self.outcome)
        if self.rescued:
            logs = logs.filter(outcome=Outcome.RESCUED)
        if self.key:
            logs = logs.filter(key_name=self.key)
        if self.before:
            logs = logs.filter(id__lt=self.before)
        return logs


def read_requests(kept: Filter) -> RequestList:
    """One page of requests, newest first."""
    began = uuid7_floor(timezone.now())
    logs, window_end = kept.rows(), None
    whole_id = _as_id(kept.text)
    if whole_id is not None:
        logs = logs.filter(id=whole_id)
    if kept.text and whole_id is None:
        logs, window_end = _within_window(logs)
        rows = [row_of(log) for log in _mentioning(logs, kept.text, PAGE_SIZE + 1)]
    else:
        rows = [row_of(log) for log in logs.defer("targets_json", "error")[: PAGE_SIZE + 1]]
    newest = rows[0].id if rows and not kept.before and not kept.text else str(began)
    if len(rows) > PAGE_SIZE:
        return RequestList(rows[:PAGE_SIZE], rows[PAGE_SIZE - 1].id, None, newest)
    if window_end is not None:
        return RequestList(rows, str(window_end), uuid7_time(window_end), newest)
    return RequestList(rows, newest=newest)


def count_newer(kept: Filter, seen: UUID) -> Count:
    """How many requests came since `seen` was the newest, as far as it is worth counting."""
    logs = replace(kept, before=None).rows().filter(id__gt=seen)
    if kept.text:
        logs, _end = _within_window(logs)
        found = sum(1 for _log in _mentioning(logs, kept.text, MOST_NEW + 1))
    else:
        found = logs[: MOST_NEW + 1].count()
    return Count(min(found, MOST_NEW), more=found > MOST_NEW)


def newest_request(at: datetime) -> str:
    """The id of the newest request in the log, empty without one: what tells open pages that there is news."""
    del at
    newest = RequestLog.objects.newest_first().values_list("id", flat=True).first()
    return str(newest or "")


def read_request(request_id: UUID) -> RequestPage | None:
    """One request, None if it is not (or no longer) logged."""
    log = RequestLog.objects.filter(pk=request_id).first()
    return page_of(log) if log else None


def _as_id(text: str) -> UUID | None:
    try:
        return UUID(text.strip())
    except ValueError:
        return None


def _within_window(logs: Logs) -> tuple[Logs, UUID | None]:
    """The newest WINDOW of them, and the id of the last one if there are more."""
    end = logs.values_list("id", flat=True)[WINDOW - 1 : WINDOW].first()
    return (logs.filter(id__gte=end), end) if end else (logs, None)


def _mentioning(logs: Logs, text: str, limit: int) -> Iterator[RequestLog]:
    """Those whose id, model or error, or that of an attempt, holds the text: at most `limit`, newest first."""
    text = text.strip(" …")  # ids are shown by their end
    likely = Q(requested_model__icontains=text) | Q(code__icontains=text) | Q(error__icontains=text)
    likely |= Q(id__icontains=text) | Q(targets_json__icontains=text)
    wanted = text.casefold()
    for log in logs.filter(likely).iterator(chunk_size=200):
        if any(wanted in one.casefold() for one in _texts(log)):
            yield log
            limit -= 1
        if not limit:
            return


def _texts(log: RequestLog) -> Iterator[str]:
    """What people look for; the rest of an attempt is names of members and numbers."""
    yield from (str(log.pk), log.requested_model, log.model, log.code, log.error)
    for target in log.targets:
        yield from (str(target.get(name) or "") for name in ("model", "code", "message"))
