"""Fills a database with made-up providers, state and requests, for screenshots and browser tests.

    python -m tests.browser.seed SCENARIO      empty | healthy | fire | many

Run as a process of its own: the browser's process never touches the ORM. It removes what was there before.
"""

import os
import random
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omniroute_site.settings")
if __name__ == "__main__":
    django.setup()

import orjson
from django.contrib.auth.models import Group, User

from resilience import actions
from resilience.core.cooldown import Cooldown
from resilience.core.events import BreakerMoved, CooldownStarted, ModelLocked
from resilience.core.kinds import Kind
from resilience.core.lockout import Lockout
from resilience.core.state import Breaker, Lease, State
from resilience.core.window import Window
from resilience.models import BreakerState, ModelLockout, ResilienceEvent
from resilience.models import Cooldown as CooldownRow
from routing import client_keys
from routing.ids import uuid7_floor
from routing.models import (
    ClientKey,
    Connection,
    ErrorRule,
    FallbackChain,
    FallbackEntry,
    Provider,
    RequestLog,
    ServingProcess,
    UnmatchedError,
)
from tests.browser import PASSWORD
from tests.state import write

FLEET = {
    "anthropic": ("anthropic", ["main"]),
    "azure-eu": ("azure", ["main", "spare"]),
    "deepseek": ("openai", ["main"]),
    "gemini": ("gemini", ["eu-west", "us-east"]),
    "groq": ("openai", ["main"]),
    "mistral": ("openai", ["main"]),
    "ollama-lab": ("openai", ["main"]),
    "openai": ("openai", ["main", "batch"]),
    "together": ("openai", ["main"]),
}
CHAINS = {
    "gpt-4o": ("priority", [("openai", "gpt-4o"), ("anthropic", "claude-sonnet-4"), ("gemini", "gemini-2.5-pro"), ("groq", "llama-3.3-70b")]),
    "claude-sonnet": ("priority", [("anthropic", "claude-sonnet-4")]),
    "cheap": ("weighted", [("deepseek", "deepseek-chat"), ("together", "qwen-2.5-72b")]),
    "fast": ("priority", [("groq", "llama-3.3-70b"), ("mistral", "mistral-small")]),
}  # fmt: skip
DIRECT = {"gemini/gemini-2.5-pro": ("gemini", "gemini-2.5-pro"), "mistral/mistral-small": ("mistral", "mistral-small")}
CHANCE = random.Random(7)


def clean() -> None:
    """Remove everything the console shows."""
    for table in (RequestLog, UnmatchedError, ResilienceEvent, ModelLockout, CooldownRow, BreakerState):
        table.objects.all().delete()
    for table in (FallbackEntry, FallbackChain, Connection, Provider, ClientKey, ServingProcess):
        table.objects.all().delete()


def people() -> None:
    """One who acts and one who looks."""
    for name, group in (("alice", "operators"), ("victor", "viewers")):
        user, _created = User.objects.get_or_create(username=name, defaults={"is_staff": group == "operators"})
        user.set_password(PASSWORD)
        user.save()
        user.groups.add(Group.objects.get(name=group))


def fleet(extra: int = 0) -> None:
    """Providers, connections and chains."""
    providers = {**FLEET, **{f"edge-{n:02}": ("openai", ["main", "spare"]) for n in range(extra)}}
    titles = {"openai": "OpenAI", "azure-eu": "Azure Europe", "ollama-lab": "Ollama in the lab"}
    for slug, (wire, connections) in providers.items():
        provider = Provider.objects.create(
            slug=slug, name=titles.get(slug, slug.title()), format=wire, base_url=f"https://{slug}.example/v1"
        )
        for position, name in enumerate(connections):
            Connection.objects.create(provider=provider, slug=name, priority=position)
    tuned()
    for model, (strategy, entries) in CHAINS.items():
        chain = FallbackChain.objects.create(model=model, strategy=strategy)
        for position, (slug, upstream) in enumerate(entries):
            FallbackEntry.objects.create(
                chain=chain,
                provider=Provider.objects.get(slug=slug),
                model=upstream,
                priority=position if strategy == "priority" else 0,
                weight=3 - position if strategy == "weighted" else 1,
                enabled=not (model == "gpt-4o" and slug == "groq"),
            )


def keys() -> None:
    """Who calls: one that is used, one of a script, one switched off."""
    made = (
        ("support-bot", ["chat"], ["*"], 600),
        ("nightly-report", ["chat"], ["cheap", "gpt-4o*"], 0),
        ("grafana", ["read"], ["*"], 0),
        ("old-prototype", ["chat"], ["*"], 60),
    )
    for name, scopes, models, rate in made:
        client_keys.create(
            name, scopes=scopes, models=models, requests_per_minute=rate, actor="alice", reason="a key for each app"
        )
    old = ClientKey.objects.get(name="old-prototype")
    client_keys.switch(old.pk, enabled=False, actor="alice", reason="nobody uses it")


def processes(now: datetime, *, burning: bool) -> None:
    """Two more hosts beside the process that is looked at; on fire one is behind, and one was killed."""
    speaking = -3600.0  # they write no row of their own: this one has to do for as long as somebody looks
    spoke = {"gateway-a": (speaking, 0.4), "gateway-b": (speaking, 3.2 if burning else 0.7)}
    if burning:
        spoke["gateway-c"] = (38.0, 0.2)
    for number, (host, (silent, lag)) in enumerate(spoke.items(), 1):
        beat_at = now - timedelta(seconds=silent)
        ServingProcess.objects.create(
            id=f"seed-{number}", host=host, pid=2000 + number, role="proxy", started_at=now - timedelta(hours=5 * number),
            beat_at=beat_at, synced_at=beat_at - timedelta(seconds=lag), state_version=42, table_version=2**60,
            table_loaded_at=now - timedelta(minutes=3), in_flight=12 * number, database_ok=True, backlog=0,
            log_waiting=number, log_dropped=0, draining=False,
        )  # fmt: skip


def tuned() -> None:
    """What somebody chose: keys, numbers, rules, an account that rests."""
    Connection.objects.filter(slug="main").update(api_key_env="PROVIDER_KEY")
    Provider.objects.filter(slug="gemini").update(
        breaker_reset_timeout=60, timeout_first_token=25, cooldown_rate_limit=90, retries=2
    )
    gemini = Provider.objects.get(slug="gemini")
    gemini.connections.filter(slug="eu-west").update(max_concurrency=40, headers={"X-Team": "search"})
    Connection.objects.filter(provider__slug="openai", slug="batch").update(enabled=False)
    rules = [
        {"status": 499, "kind": "overloaded", "cooldown": 30, "name": "their balancer gives up"},
        {"code": "RESOURCE_EXHAUSTED", "pattern": "per day", "kind": "quota_exhausted"},
    ]
    ErrorRule.objects.bulk_create(
        ErrorRule(provider=gemini, position=position, **rule) for position, rule in enumerate(rules)
    )


def target(provider: str, model: str, started: float, took: float, kind: str = "", **more: Any) -> dict[str, Any]:
    """One attempt as the request log keeps it."""
    line: dict[str, Any] = {
        "provider": provider, "connection": FLEET[provider][1][0], "model": model,
        "decision": "failed" if kind else "answered", "started": started, "ended": started + took,
        "headers": started + took * 0.2,
    }  # fmt: skip
    if kind:
        line |= {"reason": kind, "status": 429 if kind == "rate_limit" else 503}
    else:
        line["first_token"] = started + took * 0.45
    return {**line, **more}


def requests(now: datetime, *, burning: bool) -> None:
    """Two and a half minutes of requests."""
    rows = []
    for number in range(900):
        at = now - timedelta(seconds=150) + timedelta(seconds=number / 6)
        age = (now - at).total_seconds()
        chain = CHANCE.choices([*CHAINS, *DIRECT], weights=[6, 2, 1, 1, 1, 0.5])[0]
        lines = _story(chain, age, burning=burning)
        last = lines[-1]
        good = last["decision"] == "answered"
        outcome = ("rescued" if len(lines) > 1 else "answered") if good else "failed"
        rows.append(
            RequestLog(
                id=_id(at, number), started_at=at, chain=chain, requested_model=chain, key_name="support-bot",
                client_format="openai", stream=number % 3 == 0, outcome=outcome, status=200 if good else 502,
                code="" if good else "upstream_error", provider=last["provider"] if good else "",
                connection=last["connection"] if good else "", model=last["model"] if good else "",
                attempts=sum(line["decision"] != "skipped" for line in lines), fallback=len(lines) > 1,
                emergency=False, targets_json=orjson.dumps(lines).decode(), duration=last.get("ended", 0.4),
                first_token=last.get("first_token"), overhead=0.0009, input_tokens=1204, output_tokens=318,
                cached_tokens=None, reasoning_tokens=None, cost=None, error="" if good else "Every target failed.",
            )
        )  # fmt: skip
    RequestLog.objects.bulk_create(rows)


def _id(at: datetime, number: int) -> str:
    floor = uuid7_floor(at).int
    return str(type(uuid7_floor(at))(int=floor | (number << 20) | CHANCE.getrandbits(20)))


def _story(chain: str, age: float, *, burning: bool) -> list[dict[str, Any]]:
    choices = [DIRECT[chain]] if chain in DIRECT else CHAINS[chain][1]
    provider, model = CHANCE.choice(choices) if chain == "cheap" else choices[0]
    took = CHANCE.uniform(0.4, 2.2)
    if burning and provider == "openai" and age < 26:
        wait = CHANCE.uniform(0.1, 0.4)
        if age < 8:
            skip = {"provider": "openai", "connection": "main", "model": model, "decision": "skipped",
                    "reason": "breaker_open", "retry_after": 24.0}  # fmt: skip
            return [skip, target("anthropic", "claude-sonnet-4", 0.0, took)]
        if CHANCE.random() < 0.7:
            failed = target(provider, model, 0.0, wait, "transient", message="The engine is currently overloaded")
            return [
                failed,
                {**failed, "started": wait * 2, "ended": wait * 3},
                target("anthropic", "claude-sonnet-4", wait * 3, took),
            ]
    if burning and provider == "groq" and age < 90 and CHANCE.random() < 0.8:
        return [target(provider, model, 0.0, 0.3, "timeout", message="no first token within 10 s")]
    if burning and provider == "gemini" and age < 40 and CHANCE.random() < 0.4:
        return [target(provider, model, 0.0, 0.3, CHANCE.choice(["timeout", "rate_limit"]))]
    if burning and CHANCE.random() < 0.01:
        return [target(provider, model, 0.0, 0.2, "rate_limit")]
    return [target(provider, model, 0.0, took)]


def fire(now: datetime) -> None:
    """Every state at once."""

    def ago(seconds: float) -> datetime:
        return now - timedelta(seconds=seconds)

    def ahead(seconds: float) -> datetime:
        return now + timedelta(seconds=seconds)

    window = Window(((int(ago(30).timestamp()), 88, 36),))
    overloaded = "503: The engine is currently overloaded, please try again later"
    open_ = Breaker("openai", State.OPEN, failure_count=5, last_failure_kind=Kind.TRANSIENT, last_failure_at=ago(6),
                    last_failure_message=overloaded, opened_at=ago(6), retry_at=ahead(240), window=window, generation=4)  # fmt: skip
    slow = Breaker("gemini", State.DEGRADED, failure_count=3, last_failure_kind=Kind.TIMEOUT, last_failure_at=ago(4),
                   last_failure_message="no first token within 10 s", window=Window(((int(ago(20).timestamp()), 52, 14),)), generation=1)  # fmt: skip
    probing = Breaker("groq", State.HALF_OPEN, failure_count=5, last_failure_kind=Kind.TIMEOUT, last_failure_at=ago(70),
                      opened_at=ago(130), open_cycles=1, leases=(Lease("one", ahead(119)),), generation=9)  # fmt: skip
    cooling = Cooldown("gemini", "eu-west", Kind.RATE_LIMIT, ahead(151), ago(29), ago(29), 1, "retry-after header",
                       "Quota exceeded for requests per minute", 429)  # fmt: skip
    locked = Lockout("gemini", "us-east", "gemini-2.5-pro", tuple(ago(n) for n in (90, 70, 55, 40, 30)), Kind.TIMEOUT,
                     ago(30), ahead(192), ago(30), 1, "no first token within 10 s")  # fmt: skip
    write(breakers=[open_, slow, probing], cooldowns=[cooling], lockouts=[locked])
    request = str(RequestLog.objects.filter(outcome="rescued").latest("id").pk)
    events = [
        (368, BreakerMoved("together", "HALF_OPEN", "CLOSED", "probes succeeded", 0, None, None, 3), ""),
        (135, ModelLocked("gemini", "us-east", "gemini-2.5-pro", Kind.TIMEOUT, ahead(192), 5, "failures"), request),
        (29, CooldownStarted("gemini", "eu-west", Kind.RATE_LIMIT, ahead(151), "retry-after header", 1), request),
        (9, BreakerMoved("openai", "CLOSED", "DEGRADED", "failures in a row", 3, Kind.TRANSIENT, None, 3), ""),
        (6, BreakerMoved("openai", "DEGRADED", "OPEN", "failures in a row", 5, Kind.TRANSIENT, ahead(24), 4), request),
        (1, BreakerMoved("groq", "OPEN", "HALF_OPEN", "retry time passed", 5, None, None, 9), request),
    ]
    from resilience.eventlog import insert, to_row

    insert([to_row(event, at=ago(age), request_id=cause) for age, event, cause in events])
    unmatched(now)
    actions.force_open("mistral", actor="alice", reason="billing migration, do not route", duration=timedelta(hours=2))


def unmatched(now: datetime) -> None:
    """Errors that nobody knows."""
    for status, code, example, kind, count in (
        (529, "melted", "engine # is cold, come back later", "overloaded", 1_204),
        (418, "", "I am a teapot", "transient", 7),
    ):
        UnmatchedError.objects.create(
            provider="groq", digest=str(status), status=status, code=code, shape="{}", example=example, kind=kind,
            count=count, first_seen_at=now - timedelta(days=2), last_seen_at=now - timedelta(seconds=80),
        )  # fmt: skip


def seed(scenario: str) -> None:
    """Bring the database into a scenario."""
    now = datetime.now(UTC)
    clean()
    people()
    if scenario == "empty":
        return
    fleet(extra=41 if scenario == "many" else 0)
    keys()
    ResilienceEvent.objects.update(at=now - timedelta(hours=3))  # made long before what is on fire
    processes(now, burning=scenario != "healthy")
    requests(now, burning=scenario != "healthy")
    if scenario != "healthy":
        fire(now)


if __name__ == "__main__":
    seed(sys.argv[1])
