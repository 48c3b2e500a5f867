"""The processes and how far each can be trusted to know the state."""

from datetime import datetime, timedelta

from omniroute_site.dashboard.process_rows import Processes, ProcessRow
from routing import heartbeat
from routing.models import ServingProcess
from routing.table_compile import read_version

STALE_AFTER = timedelta(seconds=heartbeat.BEAT_EVERY * 4)
GONE_AFTER = timedelta(minutes=1)
LATE_AFTER = 2.0  # s; twice what is promised, so that a busy second is no alarm
TABLE_GRACE = timedelta(seconds=2)  # a table is in force everywhere a second after it was written


def read_processes(at: datetime) -> Processes:
    """Read what every process last said."""
    table_version = read_version()
    here = heartbeat.here()
    return Processes(tuple(_row(process, at, table_version, here) for process in ServingProcess.objects.all()))


def _row(process: ServingProcess, at: datetime, table_version: int, here: str) -> ProcessRow:
    lag = (process.beat_at - process.synced_at).total_seconds() if process.synced_at else None
    # a version is the time of its writing, in microseconds (see routing.querysets)
    older = process.table_version < table_version
    behind = older and process.beat_at.timestamp() - table_version / 1e6 > TABLE_GRACE.total_seconds()
    return ProcessRow(
        id=process.pk,
        host=process.host,
        pid=process.pid,
        role=process.role,
        state=_state(process, at, late=lag is None or lag > LATE_AFTER, behind=behind),
        started_at=process.started_at,
        beat_at=process.beat_at,
        lag=None if lag is None else round(max(0.0, lag), 1),
        state_version=process.state_version,
        table_loaded_at=process.table_loaded_at,
        table_behind=behind,
        in_flight=process.in_flight,
        database_ok=process.database_ok,
        backlog=process.backlog,
        log_waiting=process.log_waiting,
        log_dropped=process.log_dropped,
        here=process.pk == here,
    )


def _state(process: ServingProcess, at: datetime, *, late: bool, behind: bool) -> str:
    silent = at - process.beat_at
    if silent > GONE_AFTER:
        return "gone"
    if silent > STALE_AFTER:
        return "stale"
    if process.draining:
        return "draining"
    return "behind" if late or behind or not process.database_ok else "live"
