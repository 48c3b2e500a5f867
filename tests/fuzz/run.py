"""Many inputs for one target: what raised, what was slow, what grew. Input n is made of seed + n alone."""

import os
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz import errors, hints, requests, streams

SLOW = 0.5  # s of CPU; an input that takes longer is a finding
FINDINGS = 20  # different ones; then a run ends


@dataclass(frozen=True, slots=True)
class Target:
    """`make` an input; `check` gives it to the code and raises where the answer is wrong."""

    name: str
    make: Callable[[Random], Any]
    check: Callable[[Any], None]


TARGETS = {
    target.name: target
    for target in (
        Target("hints", hints.make, hints.check),
        Target("errors", errors.make, errors.check),
        Target("streams", streams.make, streams.check),
        Target("requests", requests.make, requests.check),
    )
}


@dataclass(slots=True)
class Report:
    """Of one run. Times are seconds of CPU in the code under test, memory is in MB."""

    target: str
    inputs: int = 0
    busy: float = 0.0
    slowest: float = 0.0
    slowest_seed: int = 0
    memory: list[float] = field(default_factory=list)
    findings: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Where it was raised → the first seed, and the story."""

    def __str__(self) -> str:
        """One line, and the findings."""
        mean = self.busy / max(self.inputs, 1) * 1e6
        line = (
            f"{self.target}: {self.inputs:,} inputs, {mean:.0f} µs each,"
            f" slowest {self.slowest * 1e3:.1f} ms (seed {self.slowest_seed}),"
            f" memory {' '.join(f'{megabytes:.0f}' for megabytes in self.memory)} MB, {len(self.findings)} findings"
        )
        return "\n".join([line, *(f"  seed {seed}: {story}" for seed, story in self.findings.values())])


def run(target: Target, seed: int, count: int) -> Iterator[Report]:
    """Try inputs seed … up to seed + count; the report so far, each tenth of the way."""
    report = Report(target.name)
    chance = Random()
    step = max(count // 10, 1)
    for number in range(count):
        if number % step == 0:
            report.memory.append(_megabytes())
            yield report
        chance.seed(seed + number)
        given = target.make(chance)
        began = time.thread_time()
        try:
            target.check(given)
        except Exception as error:  # noqa: BLE001 (that is what is looked for)
            _note(report, seed + number, error, given)
        took = time.thread_time() - began
        report.inputs += 1
        report.busy += took
        if took > report.slowest:
            report.slowest, report.slowest_seed = took, seed + number
        if took > SLOW:
            report.findings.setdefault("slow", (seed + number, f"took {took:.2f} s: {given!r:.300}"))
        if len(report.findings) >= FINDINGS:
            break
    report.memory.append(_megabytes())
    yield report


def _note(report: Report, seed: int, error: Exception, given: object) -> None:
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{type(error).__name__} in {Path(last.filename).name}:{last.lineno}"
    report.findings.setdefault(where, (seed, f"{where}: {error!s:.200}\n    {given!r:.1000}"))


def _megabytes() -> float:
    """Of memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
