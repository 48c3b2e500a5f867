"""From a request that ended to its row in the request log and its counts in the metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from routing import pricing, requestlog, telemetry
from routing.adapters.base import ClientRequest
from routing.errors import GatewayError
from routing.job import Job
from routing.requestlog import RequestRecord

CLIENT_CLOSED = 499  # nginx's status for a client that left
REFUSED = frozenset({"no_target_available", "all_targets_cooling", "provider_circuit_open", "draining"})


@dataclass(slots=True)
class Visit:
    """What is known of a request from its first byte on. `clock` is of the loop's clock, in seconds."""

    id: str
    started_at: datetime
    clock: float
    key_name: str = ""
    endpoint: str = ""
    requested_model: str = ""
    stream: bool = False
    error: GatewayError | None = None
    left: bool = False

    def asked(self, endpoint: str, request: ClientRequest) -> None:
        """The body was read and makes sense."""
        self.endpoint = endpoint
        self.requested_model = request.model
        self.stream = request.stream

    def refused(self, error: GatewayError) -> None:
        """The client was told that there is no answer."""
        self.error = error

    def client_left(self) -> None:
        """Nobody is there to be answered."""
        self.left = True

    def outcome(self, job: Job | None) -> str:
        """One word for the request log."""
        if self.left:
            return "client_closed"
        if self.error is None:
            return "rescued" if job is not None and job.rescued else "answered"
        if self.error.code == "stream_interrupted":
            return "interrupted"
        if self.error.code in REFUSED:
            return "refused"
        return "rejected" if self.error.status < 500 and not (job and self.error.status == 429) else "failed"

    def finish(self, job: Job | None, status: int, at: float) -> None:
        """Count the request, and log it if it got as far as a body that makes sense."""
        if not self.endpoint:
            return
        outcome = self.outcome(job)
        duration = at - self.clock
        overhead = max(0.0, duration - (job.journal.upstream_time if job else 0.0))
        telemetry.request(self.endpoint, outcome, duration, overhead)
        record = self._record(job, outcome, status, duration=duration, overhead=overhead)
        for provider, _ in record.unmatched:
            telemetry.unmatched(provider)
        if job is not None:
            costs = _costs(job)
            known = [cost for cost in costs if cost is not None]
            record.cost = sum(known, Decimal()) if known else None
            _count(job, costs)
        requestlog.submit(record)

    def _record(self, job: Job | None, outcome: str, status: int, *, duration: float, overhead: float) -> RequestRecord:
        served = job.served_by if job else None
        record = RequestRecord(
            id=self.id,
            started_at=self.started_at,
            chain=job.route.name if job else "",
            requested_model=self.requested_model,
            key_name=self.key_name,
            client_format=self.endpoint,
            stream=self.stream,
            outcome=outcome,
            status=status or CLIENT_CLOSED,
            code=self.error.code if self.error else "",
            error=self.error.message if self.error else "",
            duration=duration,
            overhead=overhead,
        )
        if job is not None:
            record.attempts = job.journal.calls
            record.targets = job.journal.lines
            record.unmatched = job.journal.unmatched
            record.first_token = job.first_content
            usage = job.usage
            record.input_tokens, record.output_tokens = usage.input_tokens, usage.output_tokens
            record.cached_tokens, record.reasoning_tokens = usage.cached_tokens, usage.reasoning_tokens
        if served is not None and job is not None:
            record.provider, record.connection = served.provider.slug, served.connection.slug
            record.model = served.model
            record.fallback, record.emergency = not served.first, served.emergency
        return record


def _costs(job: Job) -> list[Decimal | None]:
    """Each part of the answer at its own model's price."""
    return [pricing.cost(target.provider, target.model, target.facts, usage) for target, usage in job.parts]


def _count(job: Job, costs: Sequence[Decimal | None]) -> None:
    """Also what broke off, or was left: its tokens were made, and are paid for."""
    for (target, usage), cost in zip(job.parts, costs, strict=True):
        telemetry.tokens(target.provider.slug, usage.input_tokens, usage.output_tokens)
        if cost is not None:
            telemetry.cost(target.provider.slug, cost)
    if job.first_content is not None:
        telemetry.first_content(job.parts[0][0].provider.slug, job.first_content)
    served = job.served_by
    if served is None:
        return
    if served.emergency:
        telemetry.emergency()
    elif not served.first:
        telemetry.fallback(job.route.name, served.provider.slug)
