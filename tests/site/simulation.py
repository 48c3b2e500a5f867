"""The simulated providers beside a test, and a configuration that calls them."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from routing.simulator import Simulator

PRIMARY = "openai:sim-primary"  # control names: format and API key
SECOND = "openai:sim-second"


@contextmanager
def running() -> Iterator[Simulator]:
    """A simulator on a free port, in a thread with a loop of its own."""
    loop = asyncio.new_event_loop()
    started = threading.Event()
    stopped = asyncio.Event()
    simulator = Simulator("127.0.0.1", 0)

    async def run() -> None:
        async with simulator:
            started.set()
            await stopped.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()))
    thread.start()
    started.wait(10)
    try:
        yield simulator
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join()
        loop.close()


def configuration(simulator: Simulator, key: str) -> str:
    """A primary that opens at its third failure and is tried again after a second, and a second provider."""
    primary, second = (
        {
            "slug": slug,
            "format": "openai",
            "base_url": f"{simulator.url}/openai/v1",
            "breaker": {"failure_threshold": 3, "reset_timeout": 1, "jitter": 0},
            "lockout": {"max_attempts": 100},
            "retries": 0,
            "connections": [{"slug": "main", "api_key": f"sim-{slug}"}],
        }
        for slug in ("primary", "second")
    )
    document = {
        "providers": [primary, second],
        "chains": [{"model": "gpt-4o", "entries": [{"provider": "primary"}, {"provider": "second", "priority": 1}]}],
        "keys": [{"name": "test", "key": key, "scopes": ["chat", "read", "operate"]}],
    }
    return json.dumps(document)


def calls(simulator: Simulator, name: str) -> int:
    """How often a provider was asked since the log was cleared."""
    return len(list(simulator.log.named(name)))
