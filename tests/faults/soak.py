"""Traffic of every kind against providers that fail in every way; afterwards nothing may be left of it."""

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from routing.simulator.behaviour import Mode
from tests.faults.readings import Reading, left_over, read
from tests.faults.visitors import LONG_ANSWER, STARES_FOR, Tally, stare, visit
from tests.stage import Json, Stage

VISITORS = 30
STARERS = 2
FAULT_EVERY = 0.7  # s
SAMPLE_EVERY = 10.0  # s
SOCKETS_KEPT = 65.0  # s; an idle socket to a provider is closed when it is seen to be older than 30 s, each 30 s
BACKUP = "openai"  # what holds for an account that is not named
ACCOUNTS = ("primary-one", "pair-one", "pair-two", "anthropic", "gemini", "azure", BACKUP)
PROVIDERS: Json = {  # so impatient that hundreds of breakers open and close within minutes
    "breaker": {"failure_threshold": 3, "reset_timeout": 0.5, "max_backoff_multiplier": 2},
    "cooldown_by_kind": {"rate_limit": 1, "quota_exhausted": 1, "auth": 1},
    "max_cooldown": 5,
    "lockout": {"lockout_duration": 1, "max_lockout_duration": 2},
    "timeouts": {"connect": 1, "first_token": 1, "response": 2, "idle": 1, "total": 6},
    "retries": 1,
    "retry_backoff": 0.05,
}
MAY_GROW = 1.05  # memory of the last quarter of a soak against that of its second


@dataclass
class Soak:
    """What a soak showed. `samples` hold one reading each ten seconds."""

    seconds: float
    tally: Tally
    before: Reading
    after: Reading
    samples: list[Reading]
    complaints: list[str]  # lines of the gateway's log that say error

    def problems(self) -> list[str]:
        """All that must not be."""
        found = left_over(self.before, self.after) + self.tally.wrong[:5] + self.complaints[:5]
        early, late = self.memory()
        if late > early * MAY_GROW:
            found.append(f"memory grew from {early:.1f} to {late:.1f} MB")
        return found

    def memory(self) -> tuple[float, float]:
        """MB, median of the second and of the last quarter; what comes before is caches filling up."""
        quarter = max(1, len(self.samples) // 4)
        sizes = [sample.rss for sample in self.samples] or [self.after.rss] * 2
        return statistics.median(sizes[quarter : 2 * quarter] or sizes), statistics.median(sizes[-quarter:])


def soak(
    seconds: float, *, seed: int = 0, rest: float = SOCKETS_KEPT, say: Callable[[str], None] = lambda _line: None
) -> Soak:
    """Run it on a stage of its own. rest: seconds before each look; too short a one finds sockets kept for reuse."""
    with tempfile.TemporaryDirectory(prefix="omniroute-soak-") as folder, Stage(Path(folder), **PROVIDERS) as stage:
        stage.control("backup-one", models=["long"], words=LONG_ANSWER)
        tally = Tally()
        asyncio.run(_warm_up(stage))
        time.sleep(rest)
        before = read(stage)
        samples = asyncio.run(_traffic(stage, seconds, seed, tally, say))
        stage.calm()
        time.sleep(rest)
        complaints = [line for line in stage.gateway.output().splitlines() if "ERROR" in line or "Traceback" in line]
        return Soak(seconds, tally, before, read(stage), samples, complaints)


async def _warm_up(stage: Stage) -> None:
    """So that what is loaded once is loaded before the first look."""
    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(visit(session, stage.url, random.Random(number), Tally()) for number in range(40)))


async def _traffic(stage: Stage, seconds: float, seed: int, tally: Tally, say: Callable[[str], None]) -> list[Reading]:
    until = time.monotonic() + seconds
    samples: list[Reading] = []
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session, asyncio.TaskGroup() as group:
        for number in range(VISITORS):
            group.create_task(_keep_visiting(session, stage.url, random.Random(f"{seed}/{number}"), tally, until))
        for _ in range(STARERS if seconds > STARES_FOR else 0):
            group.create_task(_keep_staring(stage.gateway.port, tally, until))
        group.create_task(_keep_breaking(stage, random.Random(seed), until))
        group.create_task(_keep_looking(stage, samples, tally, until, say))
    return samples


async def _keep_visiting(
    session: aiohttp.ClientSession, url: str, chance: random.Random, tally: Tally, until: float
) -> None:
    while time.monotonic() < until:
        await visit(session, url, chance, tally)
        await asyncio.sleep(chance.expovariate(20))


async def _keep_staring(port: int, tally: Tally, until: float) -> None:
    while time.monotonic() < until:
        await stare(port, tally)


async def _keep_breaking(stage: Stage, chance: random.Random, until: float) -> None:
    """Change one account's ways after another."""
    while time.monotonic() < until:
        account = chance.choice(ACCOUNTS)
        behaviour = misbehaviour(account, chance)
        await asyncio.to_thread(stage.control, account, **behaviour)
        await asyncio.sleep(FAULT_EVERY)


def misbehaviour(account: str, chance: random.Random) -> Json:
    """Any way to fail, at any rate; the last resort is well more often than not."""
    if account == BACKUP and chance.random() < 0.7:
        return {"mode": Mode.OK}
    mode = chance.choice([Mode.OK] * 8 + list(Mode))
    behaviour: Json = {"mode": mode, "rate": chance.choice((0.3, 0.7, 1)), "gap": chance.choice((0, 0, 0.01))}
    if mode is Mode.SLOW:
        behaviour |= {"latency": chance.uniform(0, 0.5)}
    if chance.random() < 0.3:
        behaviour |= {"retry_after": chance.choice((1, 2))}
    return behaviour | {"after": chance.choice((0, 3, 30))}


async def _keep_looking(
    stage: Stage, samples: list[Reading], tally: Tally, until: float, say: Callable[[str], None]
) -> None:
    while time.monotonic() < until:
        await asyncio.sleep(min(SAMPLE_EVERY, max(0.1, until - time.monotonic())))
        samples.append(await asyncio.to_thread(read, stage))
        say(f"{tally.endings.total():6d} visits, {len(tally.wrong)} wrong; {samples[-1]}")
