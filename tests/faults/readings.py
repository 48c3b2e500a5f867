"""What a process holds, read from outside: through /proc and its own /metrics."""

import re
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bench.processes import rss_megabytes
from tests.site.processes import KEY
from tests.stage import Stage

SPARE_DESCRIPTORS = 4  # a database connection of a page more or less, with its three files
GAUGE = re.compile(r"^omniroute_(\w+)(?:\{[^}]*\})? (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Reading:
    """One look. Everything but rss and tasks is zero in a gateway at rest, sockets kept for reuse apart."""

    rss: float  # MB
    descriptors: int
    tasks: float
    permits: float
    calls_in_flight: float
    probes: int
    backlog: float
    log_waiting: float
    log_dropped: float


def read(stage: Stage) -> Reading:
    """Look at the stage's gateway (one worker)."""
    pid = stage.gateway.process.pid
    text = stage.gateway.get("/metrics", Authorization=f"Bearer {KEY}")[1].decode()
    sums: dict[str, float] = {}
    for name, value in GAUGE.findall(text):
        sums[name] = sums.get(name, 0.0) + float(value)
    return Reading(
        rss=rss_megabytes(pid),
        descriptors=len(list(Path(f"/proc/{pid}/fd").iterdir())),
        tasks=sums["tasks"],
        permits=sums["permits"],
        calls_in_flight=sums.get("calls_in_flight", 0.0),
        probes=sum(one["probes_in_flight"] for one in stage.state()["breakers"]),
        backlog=sums["state_backlog"],
        log_waiting=sums["request_log_waiting"],
        log_dropped=sums["request_log_dropped"],
    )


def left_over(before: Reading, after: Reading) -> list[str]:
    """What a gateway at rest still holds of what it did between two readings, but memory."""
    held = {name: (asdict(before)[name], value) for name, value in asdict(after).items() if name != "rss"}
    spare = {"descriptors": SPARE_DESCRIPTORS}
    return [
        f"{name}: {then:g} before, {now:g} after"
        for name, (then, now) in held.items()
        if now > then + spare.get(name, 0)
    ]
