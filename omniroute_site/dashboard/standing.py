"""Who would answer a chain now: the gates of RESILIENCE section 7, asked of the state without touching it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from omniroute_site.dashboard.selectors.state import Now
from resilience.core.breaker import check
from resilience.core.permit import NeedsLease, Refusal, RefusalReason
from routing.table import Chain, Connection, Entry


class Gate(StrEnum):
    """What becomes of an entry."""

    OPEN_TO_CALLS = "answers"
    PROBE = "probe"
    SKIPPED = "skipped"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether an entry can take a call, and if not, why and until when."""

    gate: Gate
    why: str = ""
    until: datetime | None = None

    @property
    def usable(self) -> bool:
        """Whether an ordinary call would be sent to it."""
        return self.gate is Gate.OPEN_TO_CALLS


REASONS = {
    RefusalReason.BREAKER_OPEN: "open",
    RefusalReason.BREAKER_HALF_OPEN: "probing",
    RefusalReason.FORCED_OPEN: "held open",
}


def standing_of(entry: Entry, now: Now) -> Standing:
    """Where an entry stands: its switches first, then breaker, cooldown, lockout, as the request path asks them."""
    provider = entry.provider
    if not entry.enabled or not provider.enabled:
        return Standing(Gate.DISABLED, "disabled" if provider.enabled else f"{provider.slug} is disabled")
    verdict = check(now.breaker(provider.slug), provider.policy.breaker, now.at)
    if isinstance(verdict, Refusal):
        return Standing(Gate.SKIPPED, REASONS.get(verdict.reason, verdict.reason.value), verdict.until)
    candidates = [c for c in provider.connections if entry.connection in (None, c.slug)]
    refusals = [_refusal(connection, entry.model, now) for connection in candidates]
    if not refusals:
        return Standing(Gate.DISABLED, "no connection")
    if None not in refusals:
        return min((r for r in refusals if r), key=lambda r: (r.until is None, r.until or now.at))
    if isinstance(verdict, NeedsLease):
        return Standing(Gate.PROBE, "the next call is a probe")
    return Standing(Gate.OPEN_TO_CALLS)


def _refusal(connection: Connection, model: str, now: Now) -> Standing | None:
    """Why this connection takes no call for this model, None if it does."""
    if not connection.usable:
        return Standing(Gate.DISABLED, connection.problem or "disabled")
    cooldown = now.cooldowns.get((connection.provider, connection.slug))
    if cooldown is not None:
        return Standing(Gate.SKIPPED, f"{connection.slug} cooling", cooldown.until)
    lockout = now.lockout(connection.provider, connection.slug, model)
    if lockout is not None:
        return Standing(Gate.SKIPPED, f"locked on {connection.slug}", lockout.until)
    return None


def answers_first(chain: Chain, now: Now) -> Entry | None:
    """The entry of the lowest priority number that would take a call now, None if there is none."""
    return next((entry for entry in chain.entries if standing_of(entry, now).usable), None)


def chosen_first(chain: Chain) -> Entry | None:
    """The entry the operator put first, switched-off ones aside."""
    return next((entry for entry in chain.entries if entry.enabled and entry.provider.enabled), None)
