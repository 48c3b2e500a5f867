"""Made-up lockouts, keys, processes, requests and explanations in every state, for the pattern page."""

from datetime import datetime, timedelta
from decimal import Decimal

from omniroute_site.dashboard.board_rows import Count
from omniroute_site.dashboard.explain_rows import Candidate, Explained, Gate
from omniroute_site.dashboard.key_rows import KeyRow
from omniroute_site.dashboard.lockout_rows import LockoutRow, Lockouts
from omniroute_site.dashboard.process_rows import Processes, ProcessRow
from omniroute_site.dashboard.request_rows import OUTCOME_TONES, RequestRow
from omniroute_site.dashboard.samples import REQUEST, events, soon
from omniroute_site.dashboard.selectors.events import EventList
from omniroute_site.dashboard.selectors.requests import RequestList
from routing.models import Outcome


def lockouts(at: datetime) -> Lockouts:
    """Return a lock after failures, and one set by hand."""
    return Lockouts(
        (
            LockoutRow(
                "gemini", "us-east", "gemini-2.5-pro", soon(140, at), locked_at=soon(-52, at), kind="timeout", failures=5,
                message="no first token within 10 s", request_id=REQUEST,
            ),
            LockoutRow(
                "groq", "main", "llama-3.3-70b", soon(7_000, at), locked_at=soon(-200, at), actor="alice",
                message="wrong answers since this morning",
            ),
        )
    )  # fmt: skip


def event_list(at: datetime) -> EventList:
    """Return a page of events with an older one."""
    return EventList(events(at), older=1)


def keys(at: datetime) -> tuple[KeyRow, ...]:
    """Return a key that is used, one of a script, and one switched off."""

    def key(
        number: int, name: str, used: Count, *scopes: str, models: tuple[str, ...] = ("*",), rate: int = 0
    ) -> KeyRow:
        made_at = soon(-86_400 * number, at)
        return KeyRow(number, name, "a4Kl", scopes, models, rate, number != 3, made_at, used)

    return (
        key(1, "support-bot", Count(5_000, more=True), "chat", rate=600),
        key(2, "nightly-report", Count(12), "chat", "read", models=("cheap", "gpt-4o*")),
        key(3, "old-prototype", Count(0), "chat", rate=60),
    )


def processes(at: datetime) -> Processes:
    """Return a process in each state."""

    def process(number: int, state: str, *, silent: float = 1, lag: float | None = 0.4, ok: bool = True) -> ProcessRow:
        return ProcessRow(
            id=f"sample-{number}", host=f"gateway-{number}", pid=4_000 + number, role="proxy", state=state,
            started_at=soon(-7_200 * number, at), beat_at=soon(-silent, at), lag=lag, state_version=1_204,
            table_loaded_at=soon(-90, at), table_behind=number == 3, in_flight=12 * number, database_ok=ok,
            backlog=0 if ok else 7, log_waiting=number, log_dropped=0 if ok else 120, here=number == 1,
        )  # fmt: skip

    return Processes(
        (
            process(1, "live"), process(2, "behind", lag=3.2), process(3, "behind", ok=False, lag=None),
            process(4, "draining"), process(5, "stale", silent=14), process(6, "gone", silent=95),
        )
    )  # fmt: skip


def requests(at: datetime) -> RequestList:
    """Return a request that ended in each way."""

    def row(number: int, outcome: Outcome) -> RequestRow:
        good = outcome in (Outcome.ANSWERED, Outcome.RESCUED)
        return RequestRow(
            id=f"{REQUEST[:-2]}{number:02}", started_at=soon(-number, at), chain="gpt-4o", key_name="support-bot",
            outcome=outcome.value, label=outcome.value.replace("_", " "), tone=OUTCOME_TONES[outcome],
            status=200 if good else 502, code="" if good else "upstream_error",
            target="anthropic/main" if good else "", model="claude-sonnet-4" if good else "", attempts=number,
            fallback=outcome is Outcome.RESCUED, emergency=number == 1, stream=True, duration=1.2,
            first_token=0.4 if good else None, input_tokens=1_204, output_tokens=318 if good else None,
            cost=Decimal("0.0084") if good else None,
        )  # fmt: skip

    return RequestList([row(number, outcome) for number, outcome in enumerate(Outcome)], older=REQUEST)


def explained(at: datetime) -> Explained:
    """Return a question with something supposed, and a target at each gate."""
    reasons = ("forced_open", "breaker_open", "cooling", "locked", "probe", "", "concurrency", "disabled")
    waits = {"breaker_open": 24.0, "cooling": 51.0, "locked": 192.0}

    def gate(reason: str) -> Gate:
        wait = waits.get(reason)
        until = None if wait is None else soon(wait, at)
        return Gate(reason, until, None if wait is None else timedelta(seconds=wait))

    candidates = tuple(
        Candidate(f"provider-{number}", "main", "gpt-4o", Gate() if reason != "disabled" else gate(reason), gate(reason),
                  first=reason == "probe", dropped=("seed", "metadata") if number == 3 else (),
                  refused="`logit_bias` cannot be expressed for this provider." if number == 4 else "")
        for number, reason in enumerate(reasons, 1)
    )  # fmt: skip
    return Explained(
        "gpt-4o", "gpt-4o", "weighted", candidates, answers_now=candidates[0].key, supposed=True, events=events(at)[1:4],
        failing=9, reached=5, later=timedelta(minutes=2), emergency="free/small-free",
    )  # fmt: skip
