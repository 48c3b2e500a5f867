"""The request log: nothing is lost without being counted, and nobody waits for it."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError

from routing import requestlog, requestlog_rows
from routing.dialects import DIALECTS
from routing.ids import uuid7
from routing.models import RequestLog
from routing.requestlog import RequestLogWriter, RequestRecord
from routing.requestlog_rows import write_rows
from tests.waiting import until

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def record(**columns: Any) -> RequestRecord:
    return RequestRecord(**{"id": uuid7(), "started_at": NOW, "chain": "gpt-4o"} | columns)


@asynccontextmanager
async def running() -> AsyncIterator[RequestLogWriter]:
    writer = RequestLogWriter()
    await writer.start()
    try:
        yield writer
    finally:
        await writer.stop()


@pytest.mark.django_db
def test_a_record_becomes_a_row_as_it_is() -> None:
    targets = [{"provider": "openai", "decision": "failed", "reason": "rate_limit", "status": 429, "started": 0.01}]
    said = record(
        requested_model="gpt-4o",
        stream=True,
        outcome="rescued",
        provider="groq",
        attempts=2,
        fallback=True,
        targets=targets,
        duration=1.25,
        input_tokens=7,
        cost=Decimal("0.0001234567"),
    )
    assert write_rows([said]) == 0
    row = RequestLog.objects.get()
    assert row.id == uuid.UUID(said.id)
    assert (row.started_at, row.outcome, row.provider, row.stream, row.fallback) == (NOW, "rescued", "groq", True, True)
    assert (row.targets, row.duration, row.input_tokens, row.output_tokens) == (targets, 1.25, 7, None)
    assert row.cost == Decimal("0.0001234567")


@pytest.mark.django_db
def test_columns_are_given_in_the_order_of_the_model() -> None:
    names = [field.attname for field in RequestLog._meta.concrete_fields]
    names[names.index("targets_json")] = "targets"
    assert [*names, "unmatched"] == list(RequestRecord.__dataclass_fields__)


@pytest.mark.django_db
def test_newest_first_is_by_id() -> None:
    ids = [uuid7() for _ in range(5)]
    write_rows([record(id=identifier) for identifier in ids])
    assert [str(row.id) for row in RequestLog.objects.newest_first()] == ids[::-1]


@pytest.mark.django_db
def test_writing_a_row_again_keeps_the_first() -> None:
    first = record(outcome="answered")
    write_rows([first])
    write_rows([record(id=first.id, outcome="failed"), record()])
    assert RequestLog.objects.get(id=first.id).outcome == "answered"
    assert RequestLog.objects.count() == 2


@pytest.mark.django_db
def test_what_callers_and_upstreams_choose_does_not_cost_the_row() -> None:
    targets = [{"message": "half a pair \ud800", "retry_after": 10**30}]
    awkward = record(
        chain="x" * 1000, error="bad \x00 byte \ud800", input_tokens=10**400, output_tokens=-1, targets=targets
    )
    assert write_rows([awkward]) == 0
    row = RequestLog.objects.get()
    assert (len(row.chain), row.error, row.input_tokens, row.output_tokens) == (200, "bad  byte ?", None, None)
    assert row.targets == [{"message": "half a pair ?", "retry_after": 1e30}]


def test_every_endpoint_fits_its_column() -> None:
    """PostgreSQL refuses a row that does not; SQLite takes anything."""
    longest = RequestLog._meta.get_field("client_format").max_length
    assert longest is not None
    assert max(map(len, DIALECTS)) <= longest


@pytest.mark.django_db
@pytest.mark.parametrize(
    "columns", [{"id": "no uuid"}, {"attempts": 10**30}, {"cost": Decimal("NaN")}, {"status": "x"}]
)
def test_a_row_that_can_never_be_written_costs_only_itself(columns: dict[str, Any]) -> None:
    assert write_rows([record(), record(**columns), record()]) <= 1
    assert RequestLog.objects.filter(status=200, attempts=0).count() >= 2


@pytest.mark.django_db
def test_one_row_that_the_database_refuses_does_not_cost_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    insert = requestlog_rows._insert

    def refuse_the_bad(statement: str, rows: list[list[Any]]) -> None:
        if any("bad" in row for row in rows):
            raise IntegrityError
        insert(statement, rows)

    monkeypatch.setattr(requestlog_rows, "_insert", refuse_the_bad)
    assert write_rows([record(), record(chain="bad"), record()]) == 1
    assert RequestLog.objects.count() == 2


@pytest.mark.django_db(transaction=True)
async def test_rows_are_written_soon_after_they_are_submitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requestlog, "WRITE_EVERY", 0.01)
    announced: list[str] = []
    monkeypatch.setattr("resilience.news.announce", announced.append)
    async with running() as writer:
        for _ in range(1200):
            writer.submit(record())
        await until(lambda: writer.written == 1200)
        assert await RequestLog.objects.acount() == 1200
    assert set(announced) == {"requests"}


@pytest.mark.django_db(transaction=True)
async def test_a_full_batch_does_not_wait_for_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requestlog, "WRITE_EVERY", 3600)
    async with running() as writer:
        await asyncio.sleep(0)
        for _ in range(requestlog.BATCH):
            writer.submit(record())
        await until(lambda: writer.written == requestlog.BATCH)


@pytest.mark.django_db(transaction=True)
async def test_stopping_writes_what_waits() -> None:
    writer = RequestLogWriter()
    await writer.start()
    for _ in range(700):
        writer.submit(record())
    await writer.stop()
    assert await RequestLog.objects.acount() == 700
    assert (writer.waiting, writer.dropped) == (0, 0)


def test_a_full_queue_drops_and_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requestlog, "QUEUE_BOUND", 3)
    writer = RequestLogWriter()
    for _ in range(5):
        writer.submit(record())
    assert (writer.waiting, writer.dropped) == (3, 2)


@pytest.mark.django_db(transaction=True)
async def test_a_database_that_is_away_for_a_while_costs_no_row(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(requestlog, "WRITE_EVERY", 0.01)
    monkeypatch.setattr(requestlog, "RETRY_AFTER", 0.01)
    failures = 0

    def fail(statement: str, rows: list[list[Any]]) -> None:
        nonlocal failures
        failures += 1
        raise OperationalError("gone")

    async with running() as writer:
        with monkeypatch.context() as broken:
            broken.setattr(requestlog_rows, "_insert", fail)
            ids = [uuid7() for _ in range(3)]
            for identifier in ids:
                writer.submit(record(id=identifier))
            await until(lambda: failures >= 3)
        await until(lambda: writer.written == 3)
    assert [str(row.id) async for row in RequestLog.objects.order_by("id")] == ids
    assert writer.dropped == 0
    assert [entry.message for entry in caplog.records if entry.name == "routing.requestlog"] == [
        "requestlog.write_failed"
    ]


@pytest.mark.django_db(transaction=True)
async def test_rows_that_cannot_be_written_at_the_end_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(statement: str, rows: list[list[Any]]) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(requestlog_rows, "_insert", fail)
    writer = RequestLogWriter()
    await writer.start()
    writer.submit(record())
    await writer.stop()
    assert (writer.waiting, writer.dropped) == (0, 1)


@pytest.mark.django_db(transaction=True)
async def test_it_can_be_started_again_after_it_was_stopped() -> None:
    writer = RequestLogWriter()
    for _ in range(2):
        await writer.start()
        await writer.start()
        writer.submit(record())
        await writer.stop()
    assert await RequestLog.objects.acount() == 2
    assert writer.written == 2


def test_old_rows_are_told_by_their_ids() -> None:
    from routing.ids import uuid7_floor, uuid7_time

    moment = datetime.now(UTC)
    identifier = uuid.UUID(uuid7())
    assert uuid7_floor(moment - timedelta(milliseconds=2)) < identifier < uuid7_floor(moment + timedelta(seconds=5))
    assert abs(uuid7_time(identifier) - moment) < timedelta(seconds=5)
