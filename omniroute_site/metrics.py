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

from omniroute_site.api.access import reader
from omniroute_site.api.errors import error_response
from resilience import status
from resilience.core.breaker import State
from resilience.registry import get_registry
from routing import requestlog, telemetry  # noqa: F401 (telemetry's counters register when imported)
from routing.errors import GatewayError


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
        now = timezone.now()
        snapshot = status.snapshot(now)
        yield from self._breakers(snapshot["breakers"])
        yield from self._connections(snapshot["cooldowns"], snapshot["lockouts"])
        yield from self._process()

    def _breakers(self, breakers: list[dict[str, object]]) -> Iterator[Metric]:
        states = GaugeMetricFamily(
            "omniroute_breaker_state", "1 for the state the provider's breaker is in.", labels=["provider", "state"]
        )
        forced = GaugeMetricFamily(
            "omniroute_breaker_forced", "1 while an operator holds it.", labels=["provider", "mode"]
        )
        failures = GaugeMetricFamily("omniroute_breaker_failures_in_a_row", "failure_count.", labels=["provider"])
        for breaker in breakers:
            provider = str(breaker["provider"])
            for state in State:
                states.add_metric([provider, state.value.lower()], float(breaker["state"] == state.value))
            hold = breaker["forced"]
            if isinstance(hold, dict):
                forced.add_metric([provider, str(hold["mode"])], 1.0)
            failures.add_metric([provider], float(str(breaker["failure_count"])))
        yield from (states, forced, failures)

    def _connections(self, cooldowns: list[dict[str, object]], lockouts: list[dict[str, object]]) -> Iterator[Metric]:
        cooling = GaugeMetricFamily(
            "omniroute_cooldown_remaining_seconds",
            "Until the connection is used again.",
            labels=["provider", "connection", "kind"],
        )
        for cooldown in cooldowns:
            labels = [str(cooldown["provider"]), str(cooldown["connection"]), str(cooldown["kind"] or "")]
            cooling.add_metric(labels, float(str(cooldown["remaining"])))
        locked = GaugeMetricFamily(
            "omniroute_lockout_remaining_seconds",
            "Until the model is used again there.",
            labels=["provider", "connection", "model"],
        )
        for lockout in lockouts:
            labels = [str(lockout["provider"]), str(lockout["connection"]), str(lockout["model"])]
            locked.add_metric(labels, float(str(lockout["remaining"])))
        yield from (cooling, locked)
        yield GaugeMetricFamily("omniroute_cooldowns", "Connections cooling down.", value=len(cooldowns))
        yield GaugeMetricFamily("omniroute_lockouts", "Pairs locked out.", value=len(lockouts))

    def _process(self) -> Iterator[Metric]:
        health = get_registry().health
        age = -1.0 if health.last_sync_at is None else (timezone.now() - health.last_sync_at).total_seconds()
        yield GaugeMetricFamily("omniroute_state_sync_age_seconds", "Since the copy was fresh; -1: never.", value=age)
        yield GaugeMetricFamily(
            "omniroute_state_backlog", "Settlements waiting for the database.", value=health.backlog
        )
        yield GaugeMetricFamily(
            "omniroute_state_database_up", "1 if it answered last time.", value=float(health.database_ok)
        )
        yield GaugeMetricFamily(
            "omniroute_request_log_dropped", "Log rows dropped, queue full.", value=requestlog.dropped()
        )
