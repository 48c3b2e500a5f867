"""`kill -9` at random moments under traffic: what a client saw is never undone."""

import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.witness import Notes, lost, watch, watch_state
from tests.stage import Json, Stage

CLIENTS = 6
LONGEST_LIFE = 1.5  # s of traffic
PROVIDERS: Json = {
    "breaker": {"failure_threshold": 3, "reset_timeout": 0.3, "max_backoff_multiplier": 2},
    "cooldown_by_kind": {"rate_limit": 1},
    "lockout": {"max_attempts": 1000, "lockout_duration": 600},
}


@dataclass
class Kills:
    """What became of it."""

    times: int = 0
    transitions_seen: int = 0
    failures_seen: int = 0
    events: int = 0
    lost: list[str] = field(default_factory=list)


def kill(
    times: int, *, seed: int = 0, workers: int = 1, database_url: str = "", say: Callable[[str], None] = lambda _: None
) -> Kills:
    """Kill every process of a gateway again and again, start it each time, compare."""
    chance, done = random.Random(seed), Kills()
    with (
        tempfile.TemporaryDirectory(prefix="omniroute-kills-") as folder,
        Stage(Path(folder), workers=workers, database_url=database_url, **PROVIDERS) as stage,
    ):
        misbehave(stage)
        log = EventLog(stage)
        for number in range(1, times + 1):
            notes = live_and_die(stage, chance, at_once=number % 2 == 0)
            last_words = stage.gateway.output()
            stage.restart()
            done.times = number
            done.failures_seen += notes.overflows
            done.transitions_seen += len(notes.facts)
            missing = lost(notes, log.read(), stage.state()["breakers"], done.failures_seen)
            done.lost += missing
            done.events = len(log.events)
            say(f"{done.times} kills, {done.transitions_seen} transitions seen, {len(done.lost)} lost")
            if missing:
                say("\n".join([*missing, f"killed at {time.time()}", last_words[-2000:]]))
    return done


def misbehave(stage: Stage) -> None:
    """Have every kind of gate shut, again and again."""
    stage.control("primary-one", mode="error", rate=0.7)
    stage.control("pair-one", mode="rate_limit", rate=0.5, retry_after=1)
    stage.control("pair-two", mode="rate_limit", rate=0.5, retry_after=2)
    stage.control("gemini", mode="model_missing")
    stage.control("azure", mode="context_length")


def live_and_die(stage: Stage, chance: random.Random, *, at_once: bool) -> Notes:
    """A short life under traffic. at_once: it ends the moment a client has seen a gate shut."""
    notes, port = Notes(), stage.gateway.port
    threads = [threading.Thread(target=watch, args=(port, notes)) for _ in range(CLIENTS)]
    threads.append(threading.Thread(target=watch_state, args=(port, notes)))
    for thread in threads:
        thread.start()
    time.sleep(chance.uniform(0, LONGEST_LIFE))
    if at_once:
        notes.saw.clear()
        notes.saw.wait(LONGEST_LIFE)
    os.killpg(stage.gateway.process.pid, signal.SIGKILL)
    notes.over.set()
    for thread in threads:
        thread.join()
    return notes


class EventLog:
    """The event log as the state API gives it, read on from where it was."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.events: list[Json] = []

    def read(self) -> list[Json]:
        while True:
            after = self.events[-1]["id"] if self.events else 0
            answer = self._stage.api("GET", f"/api/events/?after={after}&limit=100")
            more = answer if isinstance(answer, list) else answer["events"]
            self.events += more
            if not more:
                return self.events
