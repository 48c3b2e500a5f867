"""Everything on the board: configuration, state, traffic and events put together."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from omniroute_site.dashboard.board_rows import Board, EventRow
from omniroute_site.dashboard.rows import NO_TRAFFIC, Circuit, ConnectionRow, Lock, Traffic
from omniroute_site.dashboard.selectors.events import latest_events
from omniroute_site.dashboard.selectors.state import Now, read_now
from omniroute_site.dashboard.selectors.traffic import read_traffic
from omniroute_site.dashboard.verdict import judge
from resilience.core.breaker import opening_time
from resilience.core.state import Breaker, State
from routing.models import Format
from routing.table import Connection, Provider

FORMATS = dict(Format.choices)


def read_board(at: datetime) -> Board:
    """Read the board as it is at `at`."""
    now = read_now(at)
    traffic, numbers = read_traffic(at)
    events = latest_events()
    circuits = [circuit_of(provider, now, traffic, events) for provider in now.table.providers.values()]
    circuits.sort(key=lambda circuit: (circuit.rank, circuit.slug))
    return Board(circuits=tuple(circuits), verdict=judge(circuits, now), numbers=numbers, events=events)


def circuit_of(provider: Provider, now: Now, traffic: Mapping[str, Traffic], events: tuple[EventRow, ...]) -> Circuit:
    """The row of one provider."""
    breaker = now.breaker(provider.slug)
    config = provider.policy.breaker
    calls, failures = breaker.window.totals(now.at, config.window)
    forced = breaker.forced
    leases = [lease.expires_at for lease in breaker.leases if lease.expires_at > now.at]
    return Circuit(
        slug=provider.slug,
        name=provider.name,
        format=FORMATS.get(provider.format, provider.format),
        enabled=provider.enabled,
        state=breaker.state.value,
        threshold=config.failure_threshold,
        forced_mode=forced.mode if forced else "",
        forced_by=forced.by if forced else "",
        forced_reason=forced.reason if forced else "",
        forced_until=forced.until if forced else None,
        failure_count=breaker.failure_count,
        failure_rate_percent=round(config.failure_rate * 100),
        minimum_calls=config.minimum_calls,
        retry_at=breaker.retry_at if breaker.state is State.OPEN else None,
        opened_at=breaker.opened_at if breaker.state in (State.OPEN, State.HALF_OPEN) else None,
        opened_by=_opened_by(provider.slug, events),
        next_wait=_next_wait(breaker, provider),
        probes=len(leases),
        lease_until=min(leases, default=None),
        last_kind=breaker.last_failure_kind.value if breaker.last_failure_kind else "",
        last_message=breaker.last_failure_message,
        last_failure_at=breaker.last_failure_at,
        window_calls=calls,
        window_failures=failures,
        connections=tuple(_connection(connection, now) for connection in provider.connections),
        traffic=traffic.get(provider.slug, NO_TRAFFIC),
    )


def _opened_by(provider: str, events: tuple[EventRow, ...]) -> str:
    """The request whose failure opened it, if that is among the events shown."""
    for event in events:
        if event.subject == provider and event.tone == "open" and event.request_id:
            return event.request_id
    return ""


def _next_wait(breaker: Breaker, provider: Provider) -> timedelta | None:
    """How long it stays open if the next probe fails; None while it is not open."""
    if breaker.state not in (State.OPEN, State.HALF_OPEN):
        return None
    kind = breaker.last_failure_kind
    cooldown = provider.policy.cooldown.for_kind(kind) if kind else timedelta(0)
    return opening_time(provider.policy.breaker, cooldown, None, breaker.open_cycles + 1, 0.0)


def _connection(connection: Connection, now: Now) -> ConnectionRow:
    cooldown = now.cooldowns.get((connection.provider, connection.slug))
    locks = [
        Lock(
            provider=lockout.provider,
            connection=lockout.connection,
            model=lockout.model,
            kind=lockout.reason.value if lockout.reason else "",
            until=lockout.until,
            failures=len(lockout.failures),
            message=lockout.message,
        )
        for lockout in now.lockouts.get((connection.provider, connection.slug), ())
        if lockout.until is not None
    ]
    return ConnectionRow(
        provider=connection.provider,
        slug=connection.slug,
        enabled=connection.enabled,
        problem=connection.problem,
        kind=cooldown.kind.value if cooldown and cooldown.kind else "",
        started_at=cooldown.started_at if cooldown else None,
        until=cooldown.until if cooldown else None,
        source=cooldown.source if cooldown else "",
        message=cooldown.message if cooldown else "",
        locks=tuple(sorted(locks, key=lambda lock: lock.model)),
    )
