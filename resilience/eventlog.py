"""The event log: the core's events as rows, and the rows as people and scripts read them."""

from collections.abc import Iterable
from dataclasses import fields
from datetime import UTC, datetime
from typing import overload

from resilience.core.events import Event
from resilience.models import ResilienceEvent
from resilience.shapes import EventData

COLUMNS = frozenset({"provider", "connection", "model", "from_state", "to_state", "cause", "kind", "failure_count"})
OWN_COLUMNS = frozenset({"by", "reason"})  # of a forced state; the row has `actor` and `reason` for every action
CAUSE_LENGTH = 200


@overload
def iso(moment: datetime) -> str: ...
@overload
def iso(moment: datetime | None) -> str | None: ...
def iso(moment: datetime | None) -> str | None:
    """`2026-11-30T12:00:00.000Z`, or None."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_row(event: Event, *, at: datetime, request_id: str = "", actor: str = "", reason: str = "") -> ResilienceEvent:
    """The row of one event, not saved. An empty `actor` is the gateway itself."""
    values = {field.name: getattr(event, field.name) for field in fields(event)}
    columns = {name: values[name] or "" for name in COLUMNS & values.keys() - {"failure_count"}}
    columns["cause"] = str(columns.get("cause", ""))[:CAUSE_LENGTH]
    return ResilienceEvent(
        at=at,
        name=event.name,
        failure_count=values.get("failure_count"),
        request_id=request_id,
        actor=actor,
        reason=reason,
        data={name: _plain(value) for name, value in values.items() if name not in COLUMNS | OWN_COLUMNS},
        **columns,
    )


def events_after(after: int = 0, limit: int = 100) -> list[EventData]:
    """Events with an id above `after`, oldest first, at most `limit`."""
    return [describe(row) for row in ResilienceEvent.objects.filter(id__gt=after).order_by("id")[: max(0, limit)]]


def latest_events(limit: int = 100) -> list[EventData]:
    """The newest events, newest first."""
    return [describe(row) for row in ResilienceEvent.objects.order_by("-id")[: max(0, limit)]]


def transitions_of(provider: str, limit: int = 50) -> list[ResilienceEvent]:
    """The last transitions of a provider's breaker, newest first; forced states included."""
    rows = ResilienceEvent.objects.filter(provider=provider).exclude(to_state="").order_by("-id")
    return list(rows[:limit])


def prune_events(older_than: datetime) -> int:
    """Delete events from before `older_than`; how many there were."""
    return ResilienceEvent.objects.filter(at__lt=older_than).delete()[0]


def describe(row: ResilienceEvent) -> EventData:
    """A row as data."""
    return EventData(
        id=row.pk,
        at=iso(row.at),
        name=row.name,
        provider=row.provider,
        connection=row.connection,
        model=row.model,
        from_state=row.from_state,
        to_state=row.to_state,
        cause=row.cause,
        kind=row.kind,
        failure_count=row.failure_count,
        request_id=row.request_id,
        actor=row.actor,
        reason=row.reason,
        data=row.data,
    )


def insert(rows: Iterable[ResilienceEvent]) -> list[ResilienceEvent]:
    """Append rows; they come back with their ids."""
    return ResilienceEvent.objects.bulk_create(rows)


def _plain(value: object) -> object:
    return iso(value) if isinstance(value, datetime) else value
