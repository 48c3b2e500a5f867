"""What came of trying a connection, in words: what happened, and what to do about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from omniroute_site.dashboard.selectors.events import label_of
from resilience.core.kinds import Kind
from routing.trial import Trial

ADVICE: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.AUTH: "Put in another key: this one is wrong, revoked, or not for this address.",
        Kind.RATE_LIMIT: "The key is good; the account is at its limit. Wait, or ask the provider for a higher one.",
        Kind.QUOTA_EXHAUSTED: "The key is good; the account has no credit left. Top it up, or raise its limit.",
        Kind.TIMEOUT: "It is slow or out of reach. Try again; if it stays so, look at its status page.",
        Kind.OVERLOADED: "The key was not judged: the provider is overloaded. Try again in a moment.",
        Kind.MODEL_UNAVAILABLE: "There is no list of models here. Check the base URL, which ends with the version "
        "(…/v1). A server without such a list may still answer chats.",
        Kind.LOCAL: "Set it where the gateway runs and restart it, or put in a key. Nothing was sent.",
    }
)
UNREACHED = "Check the base URL's host and port, DNS, and the way out of this network."
ELSE = "Check the base URL; the provider's status page may know more."


@dataclass(frozen=True, slots=True)
class Told:
    """A trial as people read it."""

    tone: str
    verdict: str
    said: str
    advice: str
    address: str
    seconds: float


def tell(trial: Trial) -> Told:
    """Put it in words."""
    failure = trial.failure
    address = trial.address.partition("?")[0]
    if failure is None:
        models = f"{trial.models} model{'' if trial.models == 1 else 's'} listed"
        said = f"Status {trial.status}, {models}. The key was not refused."
        return Told("ok", "Answers", said, "", address, trial.seconds)
    status = f"Status {trial.status}: " if trial.status else ""
    verdict = label_of(failure.kind).capitalize()
    if failure.kind is Kind.LOCAL:
        verdict, advice = "Not tried", ADVICE[Kind.LOCAL]
    elif not trial.reached:
        verdict, advice = "Not reached", UNREACHED
    elif 300 <= (trial.status or 0) < 400:
        advice = "The address answers with a redirect, which is not followed. Put in the address it leads to."
    elif trial.status == 404:
        advice = ADVICE[Kind.MODEL_UNAVAILABLE]
    else:
        advice = ADVICE.get(failure.kind, ELSE)
    tone = "degraded" if failure.kind in (Kind.RATE_LIMIT, Kind.OVERLOADED) else "open"
    return Told(tone, verdict, f"{status}“{failure.message}”", advice, address, trial.seconds)
