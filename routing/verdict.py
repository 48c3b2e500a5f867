"""What a client is told when no target answered: the rows of CONTRACT section 4's table that need the whole story."""

from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from resilience.core.permit import RefusalReason
from routing.errors import GatewayError
from routing.job import Job
from routing.journal import Line

SKIPPED_BECAUSE = {
    "disabled": "disabled",
    "breaker_open": "open",
    "breaker_half_open": "probing",
    "forced_open": "held open",
    "cooling": "cooling down",
    "locked": "locked",
    "concurrency": "at its concurrency limit",
}
BREAKER_SHUT = (RefusalReason.BREAKER_OPEN, RefusalReason.BREAKER_HALF_OPEN, RefusalReason.FORCED_OPEN)
SHUT_BY_OTHERS = (RefusalReason.CONCURRENCY, RefusalReason.BREAKER_HALF_OPEN)
SOON = 1.0  # s; a place frees as soon as a request or probe under way ends, and when that is nobody knows


def callers_mistake(failure: Failure) -> GatewayError:
    """The provider's word for it, under its status: nobody else would answer better. A number is no word."""
    status = failure.status if failure.status in (400, 409, 415, 422) else 400
    message = failure.message or "The provider refused the request as invalid."
    code = failure.code if failure.code and not failure.code.isdigit() else "invalid_request"
    return GatewayError(message, status=status, code=code, type="invalid_request_error", param=failure.param)


def content_filtered(failure: Failure) -> GatewayError:
    """A provider's safety system stopped it."""
    return GatewayError(
        failure.message or "The provider's content filter stopped this request.", status=400, code="content_filter"
    )


def exhausted(job: Job) -> GatewayError:
    """Every target was tried or skipped, and none answered."""
    failures = [failure for target, failure in job.journal.failures if not target.emergency]
    if not failures:
        return _nothing_sent(job)
    kinds = {failure.kind for failure in failures}
    untried = any(refusal.reason is not RefusalReason.DISABLED for _, refusal in job.journal.skips)
    if kinds == {Kind.CONTEXT_LENGTH} and not untried:
        return GatewayError(
            f"The request is too long for every target of {job.route.name}: {failures[-1].message}",
            status=400,
            code="context_length_exceeded",
            param="messages",
        )
    if Kind.CONTENT_FILTER in kinds:
        return content_filtered(next(failure for failure in failures if failure.kind is Kind.CONTENT_FILTER))
    status, code = 502, "upstream_error"
    if kinds == {Kind.RATE_LIMIT}:
        status, code = 429, "rate_limit_exceeded"
    elif kinds == {Kind.TIMEOUT}:
        status, code = 504, "upstream_timeout"
    return GatewayError(
        f"No target of {job.route.name} answered: {_story(job)}.",
        status=status,
        code=code,
        retry_after=job.journal.soonest,
    )


def _nothing_sent(job: Job) -> GatewayError:
    reasons = {refusal.reason for _, refusal in job.journal.skips} - {RefusalReason.DISABLED}
    soonest = job.journal.soonest
    if not reasons.isdisjoint(SHUT_BY_OTHERS):
        soonest = SOON if soonest is None else min(soonest, SOON)
    if job.route.direct and reasons and reasons <= set(BREAKER_SHUT):
        status, code = 503, "provider_circuit_open"
        message = f"The circuit of provider {job.route.entries[0].provider.slug} is open: {_story(job)}."
    else:
        cooling = reasons == {RefusalReason.COOLING}
        status, code = (429, "all_targets_cooling") if cooling else (503, "no_target_available")
        message = f"No target of {job.route.name} is available: {_story(job)}."
    return GatewayError(message, status=status, code=code, retry_after=soonest)


def _story(job: Job) -> str:
    return "; ".join(map(_sentence, job.journal.lines)) or "it has no enabled entry"


def _sentence(line: Line) -> str:
    """One target: `openai open for 24 s`, `groq/main failed (timeout)`."""
    if line["decision"] == "skipped":
        what = SKIPPED_BECAUSE.get(line["reason"], line["reason"])
    else:
        status = f", status {line['status']}" if "status" in line else ""
        what = f"{line['decision']} ({line.get('reason', '')}{status})"
    wait = f" for {line['retry_after']:.0f} s" if line.get("retry_after") else ""
    name = line["provider"] if what in ("open", "held open", "probing") else f"{line['provider']}/{line['connection']}"
    return f"{name} {what}{wait}"
