"""Events as CSV: streamed a piece at a time, bounded, and with nothing that a spreadsheet would run."""

import csv
import io
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace

import orjson
from asgiref.sync import sync_to_async

from omniroute_site.dashboard.event_filter import EventFilter
from resilience.eventlog import describe
from resilience.shapes import EventData

COLUMNS = tuple(EventData.__annotations__)
MOST_ROWS = 50_000
"""More is a job for the database itself."""
PIECE = 1_000  # rows read at a time
RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 (full-width ones run too)
"""What a cell must not begin with (OWASP, CSV injection)."""


async def csv_lines(kept: EventFilter) -> AsyncIterator[str]:
    """The filtered events, newest first, at most MOST_ROWS, under a line of column names."""
    yield _written([COLUMNS])
    left = MOST_ROWS
    while left > 0:
        rows = await sync_to_async(_read)(kept, min(left, PIECE))
        if not rows:
            return
        yield _written([_cell(row[name]) for name in COLUMNS] for row in rows)  # type: ignore[literal-required]
        left -= len(rows)
        kept = replace(kept, before=rows[-1]["id"])


def _read(kept: EventFilter, limit: int) -> list[EventData]:
    return [describe(row) for row in kept.rows()[:limit]]


def _cell(value: object) -> str:
    """A value as text that stays text: an apostrophe before what a spreadsheet would take for a formula."""
    if isinstance(value, dict):
        value = orjson.dumps(value).decode()
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(RUN_BY_SPREADSHEETS) else text


def _written(rows: Iterable[Iterable[str]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()
