"""Records of requests → rows of the request log, many at a time."""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

import orjson
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, connection, transaction
from django.db.models.constants import OnConflict

from resilience.core.outcome import Failure

logger = logging.getLogger(__name__)

Prepare = dict[int, Callable[[Any, Any], Any]]
"""What prepares the values that need it, by their position."""
REFUSALS = (DataError, IntegrityError, ValidationError, ValueError, TypeError, ArithmeticError)
"""What a row raises that can never be written; a database that is away raises something else."""
_PREPARED = {"id", "started_at", "cost"}
MAX_TEXT = 4_000
MAX_INTEGER = 2_147_483_647


@dataclass(slots=True)
class RequestRecord:
    """One client request, as `routing.models.RequestLog` keeps it. Durations are seconds.

    A target is {"provider", "connection", "model", "decision": "answered" | "failed" | "skipped" | "released",
    "reason", "status", "retry_after", "message", "rule", "decided_by", "started", "headers", "first_token", "ended",
    "emergency"}, its times counted from the start of the request.
    """

    id: str
    started_at: datetime
    chain: str = ""
    requested_model: str = ""
    key_name: str = ""
    client_format: str = "openai"
    stream: bool = False
    outcome: str = "answered"
    status: int = 200
    code: str = ""
    provider: str = ""
    connection: str = ""
    model: str = ""
    attempts: int = 0
    fallback: bool = False
    emergency: bool = False
    targets: list[dict[str, Any]] = field(default_factory=list)
    duration: float = 0.0
    first_token: float | None = None
    overhead: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: Decimal | None = None
    error: str = ""
    unmatched: Sequence[tuple[str, Failure]] = ()
    """Providers and their errors that nobody knows; counted apart (`routing.unmatched`), no column."""


def write_rows(batch: Sequence[RequestRecord]) -> int:
    """Insert rows; return how many the database refused for what they hold. Raises when it cannot be reached.

    A row that is stored already is left alone: a batch whose answer was lost may be written again.
    Does what `bulk_create(ignore_conflicts=True)` does at a third of its price (30 µs of CPU per row, not 87, which
    the writer's thread takes from the event loop): that prepares each value by its field, and three need it.
    """
    statement, prepare = _statement()
    try:
        _insert(statement, [_row(record, prepare) for record in batch])
    except REFUSALS:
        return sum(not _inserted_alone(statement, prepare, record) for record in batch)
    return 0


def _statement() -> tuple[str, Prepare]:
    """Return the INSERT of this database, and what prepares the values that need it, by position."""
    from routing.models import RequestLog  # this module is imported by the path, before apps may be ready

    operations, meta = connection.ops, RequestLog._meta  # noqa: SLF001 (documented API)
    fields = meta.concrete_fields
    columns = ", ".join(operations.quote_name(str(field.column)) for field in fields)
    statement = " ".join(
        (
            operations.insert_statement(on_conflict=OnConflict.IGNORE),
            operations.quote_name(meta.db_table),
            f"({columns}) VALUES ({', '.join(['%s'] * len(fields))})",
            operations.on_conflict_suffix_sql(fields, OnConflict.IGNORE, [], []),
        )
    )
    return statement, {n: field.get_db_prep_save for n, field in enumerate(fields) if field.attname in _PREPARED}


def _insert(statement: str, rows: Sequence[list[Any]]) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(statement, rows)


def _inserted_alone(statement: str, prepare: Prepare, record: RequestRecord) -> bool:
    """One bad row must not keep its batch from being written for ever."""
    try:
        _insert(statement, [_row(record, prepare)])
    except REFUSALS as error:
        logger.warning("requestlog.row_refused", extra={"request_id": record.id, "error": type(error).__name__})
        return False
    return True


def _row(record: RequestRecord, prepare: Prepare) -> list[Any]:
    row = _columns(record)
    for number, prepared in prepare.items():
        row[number] = prepared(row[number], connection)
    return row


def _columns(record: RequestRecord) -> list[Any]:
    """Return the values in the order of the model's columns."""
    return [
        record.id,
        record.started_at,
        storable(record.chain, 200),
        storable(record.requested_model, 200),
        record.key_name,
        record.client_format,
        record.stream,
        record.outcome,
        record.status,
        storable(record.code, 64),
        record.provider,
        record.connection,
        storable(record.model, 200),
        record.attempts,
        record.fallback,
        record.emergency,
        _json(record.targets),
        record.duration,
        record.first_token,
        record.overhead,
        _count(record.input_tokens),
        _count(record.output_tokens),
        _count(record.cached_tokens),
        _count(record.reasoning_tokens),
        record.cost,
        storable(record.error, MAX_TEXT),
    ]


def storable(value: str, longest: int) -> str:
    """Cut what callers and upstreams chose, and drop what PostgreSQL has no text for."""
    if not value:
        return value
    if "\x00" in value or not value.isprintable():
        value = value.replace("\x00", "").encode("utf-8", "replace").decode()
    return value[:longest]


def _json(targets: list[dict[str, Any]]) -> str:
    try:
        return orjson.dumps(targets, default=str).decode()
    except TypeError:  # half a surrogate pair or a giant integer, from an upstream's error
        return json.dumps(targets, ensure_ascii=False, default=str).encode("utf-8", "replace").decode()


def _count(value: int | None) -> int | None:
    """Upstreams report tokens; nonsense must not cost the row."""
    return value if value is None or 0 <= value <= MAX_INTEGER else None
