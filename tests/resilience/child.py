"""Another process that makes attempts: started afresh, as a forked one would share this one's database connections."""

import asyncio
import os
import time
from multiprocessing import Queue

Held = tuple[float, float]
"""When a probe's lease was won and given back, in seconds of the machine's monotonic clock."""


def run(database: str, index: int, results: "Queue[list[Held]]") -> None:
    """Entry point. Django is not set up yet, hence the late imports."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.db import connection

    connection.settings_dict["NAME"] = database
    results.put(asyncio.run(_attempts(index)))


async def _attempts(index: int) -> list[Held]:
    """Settle this process's share of outcomes, then probe again and again, through a registry of its own."""
    from resilience.registry import Registry
    from resilience.sync import Sync

    from .examples import NOW

    registry = Registry(chance=lambda: 0.0)
    sync = Sync(registry, lambda: NOW)
    await sync.round()
    await _settle(registry, index)
    held = await _probe(registry, sync)
    await sync.stop()
    return held


async def _settle(registry, index: int) -> None:
    from .test_concurrency import AT_ONCE, PATIENT, script

    async def one(pair, outcome, now) -> None:
        permit = registry.permit(pair, now)
        await registry.settle(permit, PATIENT, outcome, now=now, sibling_usable=True, request_id="")

    share = script(index)
    for start in range(0, len(share), AT_ONCE):
        await asyncio.gather(*(one(*step) for step in share[start : start + AT_ONCE]))


async def _probe(registry, sync) -> list[Held]:
    """Win a lease, hold it for a moment, give it back."""
    from resilience.core.kinds import Kind
    from resilience.core.outcome import Failure
    from resilience.core.permit import Pair, Permit

    from .examples import after
    from .test_concurrency import PROBES, PROBING

    held = []
    for number in range(PROBES):
        await sync.round()  # else a place that another process gave back would be known a second later
        won = await registry.claim(Pair("groq", "main", f"m{number}"), PROBING, after(30))
        if isinstance(won, Permit):
            began = time.monotonic()
            await asyncio.sleep(0.005)
            held.append((began, time.monotonic()))
            gone = Failure(Kind.CANCELLED)
            await registry.settle(won, PROBING, gone, now=after(30), sibling_usable=True, request_id="")
    return held
