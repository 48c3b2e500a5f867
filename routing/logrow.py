"""From a request that ended to its row in the request log and its counts in the metrics."""

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
            return "answered" if job is None or job.served_by is None or job.served_by.first else "rescued"
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
        record = self._record(job, outcome, status, duration, overhead)
        if job is not None:
            _count(job, record.cost)
        requestlog.submit(record)

    def _record(self, job: Job | None, outcome: str, status: int, duration: float, overhead: float) -> RequestRecord:
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
            record.cost = pricing.cost(served.provider, served.model, served.facts, job.usage)
        return record


def _count(job: Job, cost: Decimal | None) -> None:
    for provider, _ in job.journal.unmatched:
        telemetry.unmatched(provider)
    served = job.served_by
    if served is None:
        return
    telemetry.tokens(served.provider.slug, job.usage.input_tokens, job.usage.output_tokens)
    if cost is not None:
        telemetry.cost(served.provider.slug, cost)
    if job.first_content is not None:
        telemetry.first_content(served.provider.slug, job.first_content)
    if served.emergency:
        telemetry.emergency()
    elif not served.first:
        telemetry.fallback(job.route.name, served.provider.slug)
