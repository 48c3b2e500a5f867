"""The shape of a write of state: one short transaction, and what is told after it.

The number is the new value of the one `StateVersion` row. Incrementing it first makes writers queue up behind each other
on every backend, so the rows need no locks of their own, and a version seen means that all up to it are committed.
A write that turns out to change nothing is rolled back, the number included, and tells nobody. In a batch of the backlog
a write is a savepoint of the batch's transaction. If the connection dies in a commit nobody knows whether it was one:
the write is then repeated, and one failure may count twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TypeVar

from django.db import connection, models, transaction

from resilience import eventlog, news, rows
from resilience.change import Change
from resilience.core.cooldown import Cooldown
from resilience.core.events import Event
from resilience.core.lockout import Lockout
from resilience.core.state import Breaker
from resilience.models import BreakerState, ModelLockout, ResilienceEvent
from resilience.models import Cooldown as CooldownRow
from resilience.signals import resilience_event

DELETE_AT_MOST = 5000  # rows; what is left over goes the next time

Row = TypeVar("Row", bound=models.Model)

NEXT_VERSION = """
INSERT INTO resilience_stateversion (id, value) VALUES (1, 1)
ON CONFLICT (id) DO UPDATE SET value = resilience_stateversion.value + 1 RETURNING value
"""


@dataclass(frozen=True, slots=True)
class Note:
    """What the event log keeps beside the event. An empty actor is the gateway itself."""

    at: datetime
    request_id: str = ""
    actor: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """The values of one write, as (before, after); events say what happened between them."""

    breakers: Sequence[tuple[Breaker, Breaker]] = ()
    cooldowns: Sequence[tuple[Cooldown, Cooldown]] = ()
    lockouts: Sequence[tuple[Lockout, Lockout]] = ()
    events: Sequence[Event] = field(default=())

    def changes(self) -> bool:
        """Whether any value differs."""
        pairs = (*self.breakers, *self.cooldowns, *self.lockouts)
        return any(before is not after and before != after for before, after in pairs)


def write(work: Callable[[], Draft], note: Note, *, tell: bool = True) -> Change:
    """Run `work` as the only writer and save what it changed; `tell` the other processes at once, or let them poll."""
    with transaction.atomic():
        version = _next_version()
        draft = work()
        written = draft.changes() or bool(draft.events)
        if written:
            _save(draft, version)
            logged = _log(draft.events, note)
            transaction.on_commit(partial(_publish, draft.events, logged, tell=tell))
        else:
            transaction.set_rollback(True)
    return Change(
        version=version if written else version - 1,
        written=written,
        breakers=tuple(after for _, after in draft.breakers),
        cooldowns=tuple(after for _, after in draft.cooldowns),
        lockouts=tuple(after for _, after in draft.lockouts),
        events=tuple(draft.events),
    )


def delete_lockouts(idle: Callable[[Lockout], bool]) -> int:
    """Delete the rows that are `idle`, as the only writer; how many there were. Copies may keep them: they say nothing."""
    with transaction.atomic():
        _next_version()
        keys = [row.pk for row in ModelLockout.objects.all() if idle(rows.to_lockout(row))][:DELETE_AT_MOST]
        return ModelLockout.objects.filter(pk__in=keys).delete()[0]


def _next_version() -> int:
    with connection.cursor() as cursor:
        cursor.execute(NEXT_VERSION)
        return int(cursor.fetchone()[0])


def _save(draft: Draft, version: int) -> None:
    """Insert or update the rows whose values differ, one statement per table."""
    breakers = [rows.from_breaker(after, version) for before, after in draft.breakers if before != after]
    cooldowns = [rows.from_cooldown(after, version) for before, after in draft.cooldowns if before != after]
    lockouts = [rows.from_lockout(after, version) for before, after in draft.lockouts if before != after]
    _upsert(BreakerState.objects, breakers, ["provider"], rows.BREAKER_FIELDS)
    _upsert(CooldownRow.objects, cooldowns, ["provider", "connection"], rows.COOLDOWN_FIELDS)
    _upsert(ModelLockout.objects, lockouts, ["provider", "connection", "model"], rows.LOCKOUT_FIELDS)


def _upsert(manager: models.Manager[Row], found: list[Row], key: list[str], fields: Sequence[str]) -> None:
    if found:
        manager.bulk_create(found, update_conflicts=True, unique_fields=key, update_fields=fields)


def _log(events: Sequence[Event], note: Note) -> list[ResilienceEvent]:
    if not events:
        return []
    return eventlog.insert(
        eventlog.to_row(
            event,
            at=note.at,
            request_id=note.request_id,
            actor=rows.storable(note.actor),
            reason=rows.storable(note.reason),
        )
        for event in events
    )


def _publish(events: Sequence[Event], logged: Sequence[ResilienceEvent], *, tell: bool) -> None:
    """After the commit. Receivers may raise: `send_robust` logs it, the state stands."""
    for event, row in zip(events, logged, strict=True):
        resilience_event.send_robust(type(event), event=event, row=row)
    if tell:
        news.announce("state")
