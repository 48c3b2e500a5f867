"""`python -m tests.bench.pages`: how long the console's pages take on the server when there is a lot to show.

Fills a database of its own (SQLite in a temporary folder, or the empty one in TEST_DATABASE_URL) with 50 providers, 500
connections, 200 chains and a million requests, and asks for every page as an operator, in this process: what is measured
is the page, without network and without other load.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

PROVIDERS, CONNECTIONS_EACH, CHAINS, REQUESTS = 50, 10, 200, 1_000_000
EVENTS = 20_000
SPAN = timedelta(days=10)
LIMIT = 0.150  # s of server time a page may take
ROUNDS = 15
BATCH = 20_000
NO_PAGES = ("acts", "act", "patterns", "lock", "create-key", "events-csv", "requests-newer", "provider-switch")
FILTERED = (
    ("/requests/", "outcome=failed"),
    ("/requests/", "key=app-3"),
    ("/requests/", "text=upstream_error"),
    ("/requests/", "text=nothing+like+that"),
    ("/events/", "type=cooldowns"),
    ("/events/", "type=people"),
    ("/events/", "actor=nobody"),
    ("/events/", "provider=p07&until=2020-01-01T00:00"),
    ("/explain/", "model=model-000&hold=p00&later=1+min"),
)
ROOM_FOR_ROUNDS = 3  # the first are not measured: caches and connections warm up


@dataclass(frozen=True, slots=True)
class Timing:
    """One page. Times in seconds."""

    path: str
    status: int
    median: float
    worst: float
    cpu: float  # of the median round: what it would take on an idle machine, for SQLite waits for nobody
    queries: int
    size: int


def fill(now: datetime, requests: int) -> None:
    """Write the configuration, the requests and the events."""
    from routing.models import Connection, FallbackChain, FallbackEntry, Provider

    providers = [Provider(slug=f"p{n:02}", base_url=f"https://p{n:02}.example/v1") for n in range(PROVIDERS)]
    Provider.objects.bulk_create(providers)
    Connection.objects.bulk_create(
        Connection(provider=provider, slug=f"c{n}", priority=n)
        for provider in providers
        for n in range(CONNECTIONS_EACH)
    )
    chains = FallbackChain.objects.bulk_create(FallbackChain(model=f"model-{n:03}") for n in range(CHAINS))
    FallbackEntry.objects.bulk_create(
        FallbackEntry(chain=chain, provider=providers[(n + step) % PROVIDERS], model=f"upstream-{step}", priority=step)
        for n, chain in enumerate(chains)
        for step in range(4)
    )
    trouble(now)
    events(now)
    log(now, requests)


def trouble(now: datetime) -> None:
    """A tenth of the providers open, cooling or locked."""
    from resilience import actions, store
    from resilience.core.kinds import Kind
    from resilience.core.outcome import Failure
    from resilience.core.permit import Pair, Permit
    from resilience.core.policy import DEFAULT_POLICY

    for n in range(0, PROVIDERS, 10):
        actions.force_open(f"p{n:02}", actor="bench", reason="a drill")
        actions.lock(Pair(f"p{n + 1:02}", "c0", "upstream-1"), actor="bench", reason="a drill", duration=SPAN)
        permit = Permit(f"p{n + 2:02}", "c0", "upstream-0", 0, None, now, f"bench-{n}")
        store.settle(
            permit, DEFAULT_POLICY, Failure(kind=Kind.RATE_LIMIT, message="slow down"), now, 0.0, sibling_usable=True
        )


def events(now: datetime) -> None:
    """A long history."""
    from resilience.models import ResilienceEvent

    ResilienceEvent.objects.bulk_create(
        (
            ResilienceEvent(
                at=now - SPAN + SPAN * (n / EVENTS), name="breaker_moved", provider=f"p{n % PROVIDERS:02}",
                from_state="CLOSED", to_state="OPEN", cause="failures in a row", kind="transient", failure_count=5,
            )
            for n in range(EVENTS)
        ),
        batch_size=BATCH,
    )  # fmt: skip


def log(now: datetime, requests: int) -> None:
    """Requests, evenly over the span until now."""
    from routing.models import RequestLog

    began = time.monotonic()
    for start in range(0, requests, BATCH):
        RequestLog.objects.bulk_create(
            rows(now, range(start, min(requests, start + BATCH)), requests), batch_size=BATCH
        )
        done = min(requests, start + BATCH)
        sys.stderr.write(f"\r{done:,} requests written, {time.monotonic() - began:.0f} s")
    sys.stderr.write("\n")


def rows(now: datetime, numbers: Sequence[int], requests: int) -> "Iterator[object]":
    """Request log rows."""
    from uuid import UUID

    from routing.ids import uuid7_floor
    from routing.models import RequestLog

    answered = (
        '[{"provider":"%s","connection":"c0","model":"upstream-0","decision":"answered","started":0.0,"ended":1.0}]'
    )
    for n in numbers:
        at = now - SPAN + SPAN * (n / requests)
        provider = f"p{n % PROVIDERS:02}"
        bad = n % 50 == 0
        yield RequestLog(
            id=UUID(int=uuid7_floor(at).int | n), started_at=at, chain=f"model-{n % CHAINS:03}",
            requested_model=f"model-{n % CHAINS:03}", key_name=f"app-{n % 7}", client_format="openai", stream=False,
            outcome="failed" if bad else "answered", status=502 if bad else 200, code="upstream_error" if bad else "",
            provider="" if bad else provider, connection="" if bad else "c0", model="" if bad else "upstream-0",
            attempts=1, fallback=False, emergency=False, targets_json=answered % provider, duration=1.0,
            first_token=0.3, overhead=0.001, input_tokens=900, output_tokens=200, cost=None,
            error="Every target failed." if bad else "",
        )  # fmt: skip


def paths() -> list[str]:
    """Every page of the console that takes no argument, and one of each that does."""
    from django.urls import reverse

    from omniroute_site.dashboard.urls import pages
    from routing.models import FallbackChain, Provider, RequestLog

    request = RequestLog.objects.order_by("-id")[0]
    chain, provider = FallbackChain.objects.all()[0], Provider.objects.all()[0]
    found = []
    for page in pages:
        arguments = {
            name: {"request_id": request.pk, "chain_id": chain.pk, "page": "board", "slug": provider.slug}.get(name)
            for name in page.pattern.converters
        }
        if page.name not in NO_PAGES and None not in arguments.values():
            found.append(reverse(f"dashboard:{page.name}", kwargs=arguments))
    return [
        *found,
        *(f"{path}?{query}" for path, query in FILTERED),
        f"/requests/?chain={chain.model}",
        "/live/chains/",
    ]


def measure(path: str) -> Timing:
    """Ask for one page again and again."""
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client()
    client.force_login(User.objects.get(username="bench"), "django.contrib.auth.backends.ModelBackend")
    took, busy = [], []
    for _round in range(ROUNDS + ROOM_FOR_ROUNDS):
        began, cpu = time.perf_counter(), time.process_time()
        answer = client.get(path)
        took.append(time.perf_counter() - began)
        busy.append(time.process_time() - cpu)
    with CaptureQueriesContext(connection) as captured:
        client.get(path)
    kept, cpu = sorted(took[ROOM_FOR_ROUNDS:]), sorted(busy[ROOM_FOR_ROUNDS:])[ROUNDS // 2]
    return Timing(path, answer.status_code, kept[ROUNDS // 2], kept[-1], cpu, len(captured), len(answer.content))


def table(timings: Sequence[Timing]) -> str:
    """What was measured, for people."""
    lines = [f"{'page':<44}{'median':>9}{'worst':>9}{'CPU':>9}{'queries':>9}{'KB':>7}"]
    for each in timings:
        late = "" if each.median <= LIMIT else f"  over {LIMIT * 1000:.0f} ms"
        figures = f"{each.median * 1000:>6.0f} ms{each.worst * 1000:>6.0f} ms{each.cpu * 1000:>6.0f} ms{each.queries:>9}{each.size / 1000:>7.0f}"
        lines.append(f"{each.path[:43]:<44}{figures}{late}" + ("" if each.status == 200 else f"  status {each.status}"))
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Exit code 1 if a page is over the limit or is none."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pages", description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS, help="rows in the request log (1000000)")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="omniroute-bench-") as folder:
        os.environ.setdefault("TEST_DATABASE_URL", f"sqlite:///{Path(folder) / 'pages.sqlite3'}")
        os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
        import django

        django.setup()
        from django.contrib.auth.models import User
        from django.core.management import call_command
        from django.utils import timezone

        call_command("migrate", verbosity=0)
        User.objects.create_superuser("bench", password="bench")
        fill(timezone.now(), asked.requests)
        timings = [measure(path) for path in paths()]
    sys.stdout.write(table(timings) + "\n")
    return int(any(each.median > LIMIT or each.status != 200 for each in timings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
