"""`/metrics`: the request path's counters (routing.telemetry) and, read at each scrape, the state of the three layers.

With several workers (PROMETHEUS_MULTIPROC_DIR, set by `serve`) every worker writes its counters to files there and a
scrape of any worker shows the sum. State is read from the database, so it is the same whoever answers; what a process
knows about itself (sync age, backlog) is that of the worker that answers.
"""

import os
from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from omniroute_site import background
from omniroute_site.api.access import reader
from omniroute_site.api.errors import error_response
from resilience import status
from resilience.core.state import State
from resilience.registry import get_registry
from routing import requestlog, telemetry  # noqa: F401 (telemetry's counters register when imported)
from routing.errors import GatewayError
from routing.live import live


@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text, for a key with the scope `read` or a person who may look."""
    try:
        reader(request)
    except GatewayError as error:
        return error_response(error)
    body = generate_latest(_counters()) + generate_latest(_state())
    return HttpResponse(body, content_type=CONTENT_TYPE_LATEST)


def _counters() -> CollectorRegistry:
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def _state() -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(StateCollector())
    return registry


class StateCollector(Collector):
    """The layers as gauges, one snapshot per scrape."""

    def collect(self) -> Iterator[Metric]:
        """Breakers, cooldowns, lockouts, then this process's own health."""
        snapshot = status.snapshot(timezone.now())
        yield from _breakers(snapshot["breakers"])
        yield from _in_force(snapshot["cooldowns"], snapshot["lockouts"])
        yield from _process()
        yield from _under_way()


def _breakers(breakers: list[status.BreakerData]) -> Iterator[Metric]:
    states = _gauge("breaker_state", "1 for the state the provider's breaker is in.", ["provider", "state"])
    forced = _gauge("breaker_forced", "1 while an operator holds it.", ["provider", "mode"])
    failures = _gauge("breaker_failures_in_a_row", "Counted failures since the last success.", ["provider"])
    for breaker in breakers:
        provider = breaker["provider"]
        for state in State:
            states.add_metric([provider, state.value.lower()], float(breaker["state"] == state.value))
        if breaker["forced"] is not None:
            forced.add_metric([provider, breaker["forced"]["mode"]], 1.0)
        failures.add_metric([provider], breaker["failure_count"])
    yield from (states, forced, failures)


def _in_force(cooldowns: list[status.CooldownData], lockouts: list[status.LockoutData]) -> Iterator[Metric]:
    labels = ["provider", "connection"]
    cooling = _gauge("cooldown_remaining_seconds", "Until the connection is used again.", [*labels, "kind"])
    for cooldown in cooldowns:
        cooling.add_metric([cooldown["provider"], cooldown["connection"], cooldown["kind"]], cooldown["remaining"])
    locked = _gauge("lockout_remaining_seconds", "Until the model is used again there.", [*labels, "model"])
    for lockout in lockouts:
        locked.add_metric([lockout["provider"], lockout["connection"], lockout["model"]], lockout["remaining"])
    yield from (cooling, locked)
    yield _number("cooldowns", "Connections cooling down.", len(cooldowns))
    yield _number("lockouts", "Pairs locked out.", len(lockouts))


def _process() -> Iterator[Metric]:
    health = get_registry().health
    age = -1.0 if health.last_sync_at is None else (timezone.now() - health.last_sync_at).total_seconds()
    yield _number("state_sync_age_seconds", "Since this process's copy was last fresh; -1: never.", age)
    yield _number("state_backlog", "Settlements of this process that wait for the database.", health.backlog)
    yield _number("state_database_up", "1 if the database answered this process last time.", health.database_ok)
    yield _number(
        "request_log_dropped", "Log rows that this process dropped, its queue being full.", requestlog.dropped()
    )


def _under_way() -> Iterator[Metric]:
    """What falls back to nothing when traffic ends; what does not is a leak."""
    calls = _gauge("calls_in_flight", "Upstream calls under way in this process.", ["provider", "connection"])
    for (provider, connection), number in dict(live.in_flight).items():
        calls.add_metric([provider, connection], number)
    yield calls
    yield _number("permits", "Attempts of this process that are not settled yet.", get_registry().health.permits)
    yield _number("tasks", "asyncio tasks of this process; a few run always.", background.tasks())
    yield _number("request_log_waiting", "Log rows of this process that are not written yet.", requestlog.waiting())


def _gauge(name: str, text: str, labels: list[str]) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"omniroute_{name}", text, labels=labels)


def _number(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"omniroute_{name}", text, value=value)
