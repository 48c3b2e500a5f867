"""Clients that write down every transition that an answer lets them see."""

import http.client
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.site.processes import KEY
from tests.stage import Json

HEADERS = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
ROUNDING = 0.005  # s; answers and events have milliseconds
SHUTS = {"breaker_moved": "retry_at", "cooldown_started": "until", "model_locked": "until"}
EVENTS = {  # the reason a client reads: what must have happened for it; a failure may have shut any gate
    "breaker_open": {"breaker_moved"},
    "cooling": {"cooldown_started"},
    "locked": {"model_locked"},
    "transient": {"breaker_moved"},
    "rate_limit": {"breaker_moved", "cooldown_started"},
    "model_unavailable": {"breaker_moved", "model_locked"},
}


SHUT = frozenset({"breaker_open", "cooling", "locked"})
"""Reasons for which a target was not called."""


@dataclass(frozen=True)
class Fact:
    """A gate that a client was told to be shut, until a time between two times."""

    reason: str
    provider: str
    connection: str
    model: str
    earliest: float  # epoch seconds
    latest: float

    def is_told_by(self, event: Json) -> bool:
        """Whether this event of the log is the transition that the client saw."""
        if event["name"] not in EVENTS[self.reason] or event["provider"] != self.provider:
            return False
        if event["connection"] not in ("", self.connection) or event["model"] not in ("", self.model):
            return False
        until = event["data"][SHUTS[event["name"]]]
        return until is not None and self.earliest <= datetime.fromisoformat(until).timestamp() <= self.latest


@dataclass
class Notes:
    """What the witnesses of one life of the gateway saw."""

    facts: list[Fact] = field(default_factory=list)
    overflows: int = 0  # failures that leave nothing but a count
    states: list[Json] = field(default_factory=list)  # breakers as the state API gave them
    saw: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)

    def take(self, document: Json, sent: float, received: float) -> None:
        """Write down what an error says about its targets."""
        for target in document.get("error", {}).get("omniroute", {}).get("targets", ()):
            reason = target.get("reason")
            if reason == "context_length":
                self.overflows += 1
            if reason in EVENTS and "retry_after" in target:
                wait = target["retry_after"]
                where = (target["provider"], target["connection"], target["model"])
                self.facts.append(Fact(reason, *where, sent + wait - ROUNDING, received + wait + ROUNDING))
                self.saw.set()


_numbers = itertools.count(1)


def asked_for() -> Iterable[str]:
    """Models whose answers say something, in turn."""
    for number in _numbers:
        yield from ("primary/x", "pair/x", f"google/gone-{number}", f"google/gone-{number}", "azure/x")


def watch(port: int, notes: Notes) -> None:
    """Ask until the gateway is gone."""
    models = iter(asked_for())

    def ask(connection: http.client.HTTPConnection) -> None:
        body = {"model": next(models), "messages": [{"role": "user", "content": "Hello"}]}
        sent = time.time()
        connection.request("POST", "/v1/chat/completions", json.dumps(body), HEADERS)
        answer = json.loads(connection.getresponse().read())
        notes.take(answer, sent, time.time())

    _until_gone(port, notes, ask)


def watch_state(port: int, notes: Notes) -> None:
    """Read the state API until the gateway is gone."""

    def look(connection: http.client.HTTPConnection) -> None:
        connection.request("GET", "/api/resilience/", headers=HEADERS)
        notes.states += json.loads(connection.getresponse().read())["breakers"]

    _until_gone(port, notes, look)


def _until_gone(port: int, notes: Notes, once: Callable[[http.client.HTTPConnection], Any]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        while not notes.over.is_set():
            once(connection)
    except (OSError, http.client.HTTPException):
        pass  # killed in the middle of an answer
    finally:
        connection.close()


def lost(notes: Notes, events: list[Json], breakers: list[Json], overflows: int) -> list[str]:
    """What was seen and is not known any more. overflows: seen in all lives together."""
    found = [f"{fact}" for fact in notes.facts if not any(map(fact.is_told_by, events))]
    now = {one["provider"]: one for one in breakers}
    for seen in notes.states:
        kept = now[seen["provider"]]
        same = all(kept[name] == seen[name] for name in ("state", "retry_at", "open_cycles"))
        if kept["generation"] < seen["generation"] or (kept["generation"] == seen["generation"] and not same):
            found.append(f"seen {seen}, kept {kept}")
    counted = now["azure"]["kind_counts"].get("context_length", 0)
    if counted < overflows:
        found.append(f"{overflows} failures were seen, {counted} are counted")
    return found
