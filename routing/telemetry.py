"""Counters and histograms of the request path; `/metrics` renders them beside the state of the breakers."""

from decimal import Decimal
from functools import lru_cache

from prometheus_client import Counter, Histogram

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
OVERHEAD = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5)

REQUESTS = Counter("omniroute_requests_total", "Client requests by how they ended.", ["endpoint", "outcome"])
ATTEMPTS = Counter(
    "omniroute_attempts_total", "Upstream calls by provider and kind; kind `ok` answered.", ["provider", "kind"]
)
SKIPS = Counter("omniroute_skips_total", "Targets skipped by provider and reason.", ["provider", "reason"])
FALLBACKS = Counter("omniroute_fallbacks_total", "Answers by another entry than the first.", ["chain", "provider"])
EMERGENCIES = Counter("omniroute_emergency_answers_total", "Answers by the emergency fallback.")
RESCUES = Counter(
    "omniroute_stream_rescues_total",
    "Attempts to continue a stream that broke, by prefill or replay: answered, failed, or released as it said something else.",
    ["how", "decision"],
)
DROPPED_EVENTS = Counter("omniroute_stream_events_dropped_total", "Undecodable stream events.", ["provider"])
REFUSED = Counter("omniroute_requests_refused_total", "Requests refused before any target was looked at.", ["code"])
UNMATCHED = Counter("omniroute_unmatched_errors_total", "Errors that only their status told, or nothing.", ["provider"])
DURATION = Histogram("omniroute_request_seconds", "Whole requests.", ["endpoint"], buckets=SECONDS)
FIRST_CONTENT = Histogram(
    "omniroute_first_content_seconds", "Streams: from request to first content.", ["provider"], buckets=SECONDS
)
GATEWAY_OVERHEAD = Histogram("omniroute_overhead_seconds", "The gateway's own time within a request.", buckets=OVERHEAD)
TOKENS = Counter("omniroute_tokens_total", "Tokens as counted by the providers.", ["provider", "direction"])
COST = Counter("omniroute_cost_usd_total", "What answers cost, where prices are known.", ["provider"])


@lru_cache(maxsize=4096)  # `labels()` takes a lock and builds a tuple of strings each time
def _attempts(provider: str, kind: str) -> Counter:
    return ATTEMPTS.labels(provider, kind)


@lru_cache(maxsize=4096)
def _skips(provider: str, reason: str) -> Counter:
    return SKIPS.labels(provider, reason)


@lru_cache(maxsize=256)
def _requests(endpoint: str, outcome: str) -> Counter:
    return REQUESTS.labels(endpoint, outcome)


@lru_cache(maxsize=256)
def _duration(endpoint: str) -> Histogram:
    return DURATION.labels(endpoint)


@lru_cache(maxsize=4096)
def _first_content(provider: str) -> Histogram:
    return FIRST_CONTENT.labels(provider)


@lru_cache(maxsize=4096)
def _tokens(provider: str, direction: str) -> Counter:
    return TOKENS.labels(provider, direction)


def attempt(provider: str, kind: str) -> None:
    """One upstream call ended; kind `ok` for a usable answer."""
    _attempts(provider, kind).inc()


def skip(provider: str, reason: str) -> None:
    """One target was skipped."""
    _skips(provider, reason).inc()


def unmatched(provider: str) -> None:
    """An error that no rule, code or text told."""
    UNMATCHED.labels(provider).inc()


def dropped_events(provider: str, count: int) -> None:
    """Stream events that could not be decoded."""
    if count:
        DROPPED_EVENTS.labels(provider).inc(count)


def rescue(how: str, decision: str) -> None:
    """An attempt to continue another's stream ended."""
    RESCUES.labels(how, decision).inc()


def request(endpoint: str, outcome: str, duration: float, overhead: float) -> None:
    """One client request ended. Times in seconds."""
    _requests(endpoint, outcome).inc()
    _duration(endpoint).observe(duration)
    GATEWAY_OVERHEAD.observe(overhead)


def first_content(provider: str, seconds: float) -> None:
    """A stream showed its first content."""
    _first_content(provider).observe(seconds)


def tokens(provider: str, input_tokens: int | None, output_tokens: int | None) -> None:
    """What an answer used."""
    if input_tokens:
        _tokens(provider, "input").inc(input_tokens)
    if output_tokens:
        _tokens(provider, "output").inc(output_tokens)


def cost(provider: str, usd: Decimal) -> None:
    """What an answer cost."""
    COST.labels(provider).inc(float(usd))


def fallback(chain: str, provider: str) -> None:
    """Another entry than the first answered."""
    FALLBACKS.labels(chain, provider).inc()


def emergency() -> None:
    """The last resort answered."""
    EMERGENCIES.inc()


def refused(code: str) -> None:
    """A request ended before routing: no key, no JSON, draining."""
    REFUSED.labels(code).inc()
