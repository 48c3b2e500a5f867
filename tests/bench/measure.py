"""The measurements: each subject gets the same load, in turns, and the median round counts."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.bench import plain_load, stream_load
from tests.bench.gateway import Gateway
from tests.bench.plain_load import Burst, Load
from tests.bench.processes import cpu_seconds, rss_megabytes

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much load. The full set takes about four minutes, the quick one under one."""

    connections: int = 32
    rounds: int = 3
    seconds: float = 5.0  # of one round of plain requests
    streams: int = 32
    events: int = 200  # of one stream
    gap: float = 0.01  # s between two events
    stream_rounds: int = 3
    memory_requests: int = 100_000
    memory_seconds: float = 300.0  # at most, for those


QUICK = Sizes(rounds=1, seconds=2.0, stream_rounds=1, memory_requests=5_000, memory_seconds=30.0)


@dataclass(frozen=True, slots=True)
class Subject:
    """Something to put under load: where it takes plain requests and streams, and which processes answer."""

    name: str
    plain: Load
    stream: Load
    pid: int | None = None
    stream_pid: int | None = None


@dataclass(slots=True)
class Plain:
    """Figures of plain requests. CPU is the subject's own, in microseconds; None where the process is not known."""

    requests: int
    per_second: float
    p50: float
    p99: float
    alone_p50: float  # with one connection: what the subject adds, without queueing
    cpu_us_per_request: float | None
    failed: int


@dataclass(slots=True)
class Streamed:
    """Figures of streams; delays in seconds from the upstream's write to the client's read."""

    events: int
    first_p50: float
    delay_p50: float
    delay_p99: float
    cpu_us_per_event: float | None


@dataclass(slots=True)
class Memory:
    """Resident memory after so many requests, and what became of their log rows."""

    requests: int
    rss_before_mb: float | None
    rss_after_mb: float | None
    log_rows: int | None
    dropped_rows: int | None


def plain(subjects: list[Subject], sizes: Sizes, say: Say) -> dict[str, Plain]:
    """Plain requests against every subject, round by round, so that a slow moment of the machine hits all alike."""
    bursts: dict[str, list[tuple[Burst, float | None]]] = {subject.name: [] for subject in subjects}
    alone: dict[str, Burst] = {}
    warm: dict[str, Burst] = {}
    for subject in subjects:
        say(f"{subject.name}: warming up")
        warm[subject.name] = plain_load.post(subject.plain, connections=sizes.connections, seconds=1)
        alone[subject.name] = plain_load.post(subject.plain, connections=1, seconds=min(2.0, sizes.seconds))
    for number in range(sizes.rounds):
        for subject in subjects:
            before = cpu_seconds(subject.pid) if subject.pid else 0.0
            burst = plain_load.post(subject.plain, connections=sizes.connections, seconds=sizes.seconds)
            cpu = cpu_seconds(subject.pid) - before if subject.pid else None
            say(f"{subject.name}: round {number + 1}, {burst.per_second:,.0f} requests/s")
            bursts[subject.name].append((burst, cpu and cpu / burst.requests * 1e6))
    return {name: summary(found, alone[name], warm[name].requests) for name, found in bursts.items()}


def summary(bursts: Sequence[tuple[Burst, float | None]], alone: Burst, warm: int) -> Plain:
    """The round with the median rate, all failures, all requests (the `warm` ones included)."""
    ordered = sorted(bursts, key=lambda pair: pair[0].per_second)
    middle, cpu = ordered[(len(ordered) - 1) // 2]
    requests, failed = sum(burst.requests for burst, _ in bursts), sum(burst.failed for burst, _ in bursts)
    requests += warm + alone.requests
    return Plain(requests, middle.per_second, middle.p50, middle.p99, alone.p50, cpu, failed)


def streams(subjects: list[Subject], sizes: Sizes, say: Say) -> dict[str, Streamed]:
    """Streams through every subject."""
    found: dict[str, Streamed] = {}
    timeout = 60 + sizes.events * sizes.gap * 10
    for subject in subjects:
        stream_load.run(subject.stream, streams=2, timeout=timeout)  # warms up
        before = cpu_seconds(subject.stream_pid) if subject.stream_pid else 0.0
        rounds = [
            stream_load.run(subject.stream, streams=sizes.streams, timeout=timeout) for _ in range(sizes.stream_rounds)
        ]
        spent = cpu_seconds(subject.stream_pid) - before if subject.stream_pid else None
        events = sum(read.events for read in rounds)
        middle = sorted(rounds, key=lambda read: read.delay_p50)[(len(rounds) - 1) // 2]
        each = None if spent is None else spent / events * 1e6
        say(f"{subject.name}: {events:,} events" + ("" if each is None else f", {each:,.0f} µs CPU each"))
        found[subject.name] = Streamed(events, middle.first_p50, middle.delay_p50, middle.delay_p99, each)
    return found


def memory(gateway: Gateway, load: Load, sizes: Sizes, so_far: Plain, say: Say) -> Memory:
    """Post until the gateway has answered `memory_requests` in all, those `so_far` included."""
    answered = so_far.requests
    before = rss_megabytes(gateway.pid) if gateway.pid else None
    until = time.monotonic() + sizes.memory_seconds
    while answered < sizes.memory_requests and time.monotonic() < until:
        seconds = min(5.0, (sizes.memory_requests - answered) / so_far.per_second)
        answered += plain_load.post(load, connections=sizes.connections, seconds=seconds).requests
        say(f"memory: {answered:,} of {sizes.memory_requests:,} requests")
    time.sleep(2)  # the log writer's last batch
    after = rss_megabytes(gateway.pid) if gateway.pid else None
    return Memory(answered, before, after, gateway.log_rows(), gateway.dropped_rows())
