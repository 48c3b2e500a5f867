"""Made-up rows in every state, for the pattern page and for tests of the templates."""

from datetime import UTC, datetime, timedelta

from django.http import QueryDict

from omniroute_site.dashboard.board_rows import Board, Count, EventRow, Numbers, Phrase, Verdict
from omniroute_site.dashboard.chain_rows import Entry, Lane
from omniroute_site.dashboard.charts import bars, beats
from omniroute_site.dashboard.rows import Circuit, ConnectionRow, Lock, Traffic

NOW = datetime(2026, 11, 30, 12, 4, 55, tzinfo=UTC)
REQUEST = "019339a1-7c00-7000-8000-0f3a9c1e77aa"


def soon(seconds: float, at: datetime) -> datetime:
    """Return a moment from `at` on."""
    return at + timedelta(seconds=seconds)


def traffic(outcomes: str, *, volume: int = 8, failing: bool = False) -> Traffic:
    """Return a picture of some calls."""
    calls = [volume + position * 7 % 5 for position in range(60)]
    failures = [max(0, position - 48) if failing else 0 for position in range(60)]
    return Traffic(
        calls_path=bars(calls, 14),
        fails_path=bars(failures, 14),
        good_path=beats(outcomes, "o", 60, 0.7),
        limited_path=beats(outcomes, "l", 60, 0.85),
        failed_path=beats(outcomes, "x", 60),
        calls=sum(calls),
        failures=sum(failures),
        per_second=round(volume / 2, 1),
        first_token_p95=0.94,
    )


def circuits(at: datetime) -> tuple[Circuit, ...]:
    """Return one circuit in each state."""
    return (
        Circuit(
            "openai", "OpenAI", "OpenAI", "OPEN", 5, failure_count=5, retry_at=soon(24, at), opened_at=soon(-6, at),
            opened_by=REQUEST, next_wait=timedelta(seconds=60), last_kind="transient", window_calls=88,
            window_failures=36, last_message="The engine is currently overloaded", last_failure_at=soon(-6, at),
            connections=(ConnectionRow("openai", "main"), ConnectionRow("openai", "batch", enabled=False)),
            traffic=traffic("o" * 46 + "xxoxoxxxxx", failing=True),
        ),
        Circuit(
            "groq", "Groq", "OpenAI", "HALF_OPEN", 5, failure_count=5, next_wait=timedelta(seconds=120), probes=1,
            lease_until=soon(119, at), opened_at=soon(-61, at), last_kind="timeout",
            connections=(ConnectionRow("groq", "main"),), traffic=traffic("x" * 14, volume=1),
        ),
        Circuit(
            "mistral", "Mistral", "OpenAI", "CLOSED", 5, forced_mode="open", forced_by="alice",
            forced_reason="billing migration, do not route", forced_until=soon(6_900, at),
            connections=(ConnectionRow("mistral", "main"),), traffic=traffic("o" * 30, volume=2),
        ),
        _with_all_three_layers(at),
        Circuit(
            "cohere", "Cohere", "OpenAI", "CLOSED", 40, forced_mode="closed", forced_by="bob",
            forced_reason="their status page is wrong", connections=(ConnectionRow("cohere", "main"),),
        ),
        Circuit(
            "xai", "xAI", "OpenAI", "CLOSED", 5, connections=(
                ConnectionRow("xai", "main", kind="auth", started_at=soon(-60, at), until=soon(540, at)),
                ConnectionRow("xai", "spare", problem="environment variable XAI_KEY is not set"),
            ), traffic=traffic("o" * 60),
        ),
        *(
            Circuit(slug, slug.title(), "OpenAI", "CLOSED", 5, traffic=traffic("o" * 60, volume=volume),
                    connections=(ConnectionRow(slug, "main"), ConnectionRow(slug, "batch")))
            for volume, slug in ((8, "anthropic"), (6, "azure-eu"), (0, "ollama-lab"))
        ),
        Circuit("retired", "Retired", "OpenAI", "CLOSED", 5, enabled=False, connections=(ConnectionRow("retired", "main"),)),
    )  # fmt: skip


def _with_all_three_layers(at: datetime) -> Circuit:
    lock = Lock("gemini", "us-east", "gemini-2.5-pro", "timeout", soon(192, at), 5)
    cooling = ConnectionRow(
        "gemini",
        "eu-west",
        kind="rate_limit",
        started_at=soon(-9, at),
        until=soon(51, at),
        source="retry-after header",
        message="Quota exceeded for requests per minute",
    )
    return Circuit(
        "gemini", "Gemini", "Gemini", "DEGRADED", 5, failure_count=3, last_kind="timeout", window_calls=52,
        window_failures=14, last_message="no first token within 10 s", last_failure_at=soon(-4, at),
        connections=(cooling, ConnectionRow("gemini", "us-east", locks=(lock,))),
        traffic=traffic("o" * 44 + "xooxoxlloxooxxxo"),
    )  # fmt: skip


def events(at: datetime) -> tuple[EventRow, ...]:
    """Return one event of each kind."""
    return (
        EventRow(8, soon(-1, at), "probe", "groq", "half-open", detail="retry time passed", request_id=REQUEST),
        EventRow(
            7, soon(-24, at), "open", "openai", "open", "for 30 s", detail="failures in a row · transient failure",
            request_id=REQUEST,
        ),
        EventRow(6, soon(-26, at), "degraded", "openai", "degraded", detail="failures in a row"),
        EventRow(
            5, soon(-103, at), "degraded", "gemini/eu-west", "cooling", "for 120 s",
            detail="rate limited · from retry-after header", request_id=REQUEST,
        ),
        EventRow(4, soon(-135, at), "degraded", "gemini/us-east", "locked gemini-2.5-pro", "for 2 min", detail="timed out"),
        EventRow(
            3, soon(-292, at), "forced", "mistral", "held open", until=soon(6_900, at), actor="alice",
            reason="billing migration, do not route",
        ),
        EventRow(2, soon(-368, at), "ok", "together", "closed", detail="probes succeeded"),
    )  # fmt: skip


def board(at: datetime) -> Board:
    """Return a board on fire."""
    verdict = Verdict(
        (
            Phrase("Two of nine providers are out: "), Phrase("openai", tone="open"), Phrase(" is open, retrying "),
            Phrase("", until=soon(24, at)), Phrase(", "), Phrase("mistral", tone="forced"), Phrase(" is held open. "),
            Phrase("gpt-4o is answered by anthropic."),
        ), "2 out", "open",
    )  # fmt: skip
    numbers = Numbers(9.8, Count(312), Count(4), 0.94)
    return Board(circuits(at), verdict, numbers, events(at))


def healthy_verdict() -> Verdict:
    """Return a verdict with nothing wrong."""
    return Verdict((Phrase("All 9 providers healthy."),), "All healthy", "ok")


def lanes(at: datetime) -> tuple[Lane, ...]:
    """Return lanes with entries in every standing."""

    def entry(provider: str, model: str, tone: str, word: str, **more: object) -> Entry:
        values = {
            "connection": "", "weight": 1.0, "off": False, "until": None, "answers": False,
            "skipped": False, "share_percent": 0, **more,
        }  # fmt: skip
        return Entry(provider, model, tone=tone, word=word, **values)  # type: ignore[arg-type]

    first = (
        entry("openai", "gpt-4o", "open", "open", until=soon(24, at), skipped=True, share_percent=58),
        entry("anthropic", "claude-sonnet-4", "ok", "answers now", answers=True, share_percent=38),
        entry("gemini", "gemini-2.5-pro", "degraded", "locked on us-east", until=soon(190, at), skipped=True),
        entry("groq", "llama-3.3-70b", "off", "disabled", off=True),
    )
    others = (
        entry("deepseek", "deepseek-chat", "ok", "weight 3", answers=True, share_percent=61),
        entry("together", "qwen-2.5-72b", "ok", "weight 2", answers=True, share_percent=39, connection="spare"),
    )
    return (
        Lane(1, "gpt-4o", "priority", first, requests=Count(5_000, more=True), rescued_percent=41),
        Lane(2, "cheap", "weighted", others, requests=Count(214)),
        Lane(3, "claude", "priority", (entry("anthropic", "claude-sonnet-4", "ok", "chain disabled"),),
             enabled=False, warnings=("One provider only: nothing to fall back to.",)),
    )  # fmt: skip


def chain_form() -> QueryDict:
    """Return a chain as the editor sends it, with mistakes and without a reason."""
    return QueryDict("model=gpt-4o&strategy=priority&entry=a&entry=b&a-provider=nobody&a-weight=1&b-weight=0")
