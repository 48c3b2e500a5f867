"""`kill -9` of one worker after another under traffic: the others serve on, and know what it knew."""

import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults.kills import CLIENTS, LONGEST_LIFE, PROVIDERS, EventLog, Kills, misbehave
from tests.faults.witness import SHUT, Notes, lost, watch, watch_state
from tests.site.processes import children, until
from tests.stage import Json, Stage

PROBE_LEASE = 2.0  # s; that of a worker that was killed ends by itself
IMPATIENT: Json = {**PROVIDERS, "breaker": {**PROVIDERS["breaker"], "probe_lease": PROBE_LEASE}}


def kill_workers(
    times: int, *, seed: int = 0, workers: int = 3, database_url: str = "", say: Callable[[str], None] = lambda _: None
) -> Kills:
    """Kill a worker, wait until the parent has replaced it, kill another; also ones that have only begun to start."""
    chance, done, notes = random.Random(seed), Kills(), Notes()
    with (
        tempfile.TemporaryDirectory(prefix="omniroute-workers-") as folder,
        Stage(Path(folder), workers=workers, database_url=database_url, **IMPATIENT) as stage,
    ):
        misbehave(stage)
        parent, port = stage.gateway.process.pid, stage.gateway.port
        threads = [threading.Thread(target=_keep, args=(watch, port, notes)) for _ in range(CLIENTS)]
        threads.append(threading.Thread(target=_keep, args=(watch_state, port, notes)))
        for thread in threads:
            thread.start()
        try:
            for number in range(1, times + 1):
                time.sleep(chance.uniform(0, LONGEST_LIFE))
                os.kill(chance.choice(children(parent)), signal.SIGKILL)
                until(lambda: len(children(parent)) == workers)
                say(f"{number} workers killed, {len(notes.facts)} transitions seen")
        finally:
            notes.over.set()
            for thread in threads:
                thread.join()
        done.times, done.failures_seen, done.transitions_seen = times, notes.overflows, len(notes.facts)
        notes.facts = [fact for fact in notes.facts if fact.reason in SHUT]
        done.lost = lost(notes, EventLog(stage).read(), stage.state()["breakers"], notes.overflows)
        done.lost += [f"too many probes: {seen}" for seen in notes.states if _too_many(seen)][:5]
        _recovers(stage)
    return done


def _keep(witness: Callable[[int, Notes], None], port: int, notes: Notes) -> None:
    """Come back on another socket when the worker behind it was killed."""
    while not notes.over.is_set():
        witness(port, notes)


def _too_many(seen: Json) -> bool:
    return bool(seen["probes_in_flight"] > seen["half_open_requests"])


def _recovers(stage: Stage) -> None:
    """No lease of a worker that was killed keeps a provider out."""
    stage.control("primary-one", mode="ok")

    def closed() -> bool:
        connection = stage.gateway.connect()
        stage.gateway.ask(connection)
        connection.getresponse().read()
        connection.close()
        return bool(stage.breaker("primary")["state"] == "CLOSED")

    until(closed)
