"""Made-up rows and forms of the pages about providers, for the pattern page."""

from datetime import datetime, timedelta

from omniroute_site.dashboard.provider_forms import ConnectionForm
from omniroute_site.dashboard.provider_rows import (
    Account,
    Fleet,
    FleetRow,
    RuleRow,
    Setting,
    SettingGroup,
    UnmatchedRow,
)
from omniroute_site.dashboard.rows import ConnectionRow
from omniroute_site.dashboard.samples import circuits
from omniroute_site.dashboard.trial_words import Told, tell
from omniroute_site.dashboard.tunable_words import SECTIONS
from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from resilience.core.patterns import read_pattern
from routing.trial import Trial

ADDRESS = "https://api.openai.com/v1/models"


def fleet(at: datetime) -> Fleet:
    """Return a provider in each state."""
    return Fleet(tuple(FleetRow(circuit, f"https://{circuit.slug}.example/v1") for circuit in circuits(at)))


def accounts(at: datetime) -> tuple[Account, ...]:
    """Return a connection in each state; the slugs are those of no tile on the page."""
    until = at + timedelta(seconds=51)
    rows = (
        ConnectionRow("sample", "ready"),
        ConnectionRow("sample", "cooling", kind="rate_limit", started_at=at, until=until, source="retry-after header"),
        ConnectionRow("sample", "unusable", problem="environment variable SAMPLE_KEY is not set"),
        ConnectionRow("sample", "disabled", enabled=False),
    )
    keys = ("…wxyz", "stored", "env:SAMPLE_KEY", "")
    return tuple(
        Account(row, key, "", priority, 1.0, 40 * priority, ("X-Team",) if priority else ())
        for priority, (row, key) in enumerate(zip(rows, keys, strict=True))
    )


def trials() -> tuple[Told, ...]:
    """Return what trials come to."""
    return (
        tell(Trial(ADDRESS, None, status=200, seconds=0.23, models=42)),
        tell(Trial(ADDRESS, Failure(Kind.RATE_LIMIT, "Rate limit reached for requests"), status=429, seconds=0.12)),
        tell(Trial(ADDRESS, Failure(Kind.AUTH, "Incorrect API key provided: [key]"), status=401, seconds=0.12)),
        tell(Trial(ADDRESS, Failure(Kind.TRANSIENT, "cannot connect (Connection refused)"), reached=False, seconds=5)),
        tell(Trial(failure=Failure(Kind.LOCAL, "environment variable SAMPLE_KEY is not set"), reached=False)),
    )


def settings() -> SettingGroup:
    """Return some numbers, one of them chosen."""
    return SettingGroup(
        *SECTIONS["timeouts"],
        (
            Setting("To connect", "timeouts.connect", "5 s", chosen=False),
            Setting("To the first token", "timeouts.first_token", "25 s", chosen=True),
        ),
    )


def rules() -> tuple[RuleRow, ...]:
    """Return a rule with everything, one with little and one that never fires."""
    lookahead = "quota(?! left)"
    return (
        RuleRow("sample", 0, "their balancer", 499, "edge_timeout", "gave up", "overloaded", timedelta(seconds=30)),
        RuleRow("sample", 1, "", None, "", "per day", "quota_exhausted", None),
        RuleRow("sample", 2, "", None, "", lookahead, "quota_exhausted", None, read_pattern(lookahead).problem),
    )


def unmatched(at: datetime) -> tuple[UnmatchedRow, ...]:
    """Return errors that nobody knows, one of them beyond what is kept."""
    first = at - timedelta(days=2)
    return (
        UnmatchedRow(
            "sample", 529, "melted", "engine # is cold, come back later", "overloaded", 1_204, first, at, "status=529"
        ),
        UnmatchedRow("sample", None, "", "", "transient", 3, first, at),
    )


def sheet() -> ConnectionForm:
    """Return a form at its worst: mistakes, and somebody else has saved."""
    form = ConnectionForm({"weight": "heavy", "headers": "no colon"}, auto_id="sample-sheet-%s")
    form.is_valid()
    form.compare({"weight": "2", "base_url": "https://eu.example/v1"})
    return form
