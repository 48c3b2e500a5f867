"""What was measured, as a table for people and as JSON for comparisons."""

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.bench.gateway import ROOT
from tests.bench.measure import Memory, Plain, Sizes, Streamed
from tests.bench.translation import EVENT_LIMIT, REQUEST_LIMIT, Translation

GATEWAY, NGINX, UPSTREAM = "gateway", "nginx", "upstream"


@dataclass(frozen=True, slots=True)
class Target:
    """A promise and what became of it."""

    name: str
    promised: float
    measured: float
    met: bool


@dataclass(slots=True)
class Report:
    """One run."""

    sizes: Sizes
    plain: dict[str, Plain]
    streams: dict[str, Streamed]
    memory: Memory | None
    load_before: float  # the machine's load average of a minute, before anything was started
    translations: Sequence[Translation] = ()

    def targets(self) -> list[Target]:
        """The promises of the project's first release that this run can judge."""
        targets = []
        gateway, nginx, streamed = self.plain.get(GATEWAY), self.plain[NGINX], self.streams.get(GATEWAY)
        if gateway:
            floor = min(1200.0, nginx.per_second / 10)
            targets.append(at_least("requests/s (1,200 or a tenth of nginx)", floor, gateway.per_second))
        if streamed and streamed.cpu_us_per_event is not None:
            targets.append(at_most("µs CPU per stream event", 170.0, streamed.cpu_us_per_event))
        if self.memory and self.memory.rss_after_mb is not None:
            name = f"MB resident after {self.memory.requests:,} requests"
            targets.append(at_most(name, 200.0, self.memory.rss_after_mb))
        return targets + translation_targets(self.translations)

    def document(self) -> dict[str, Any]:
        """Everything, as JSON. Seconds, except where a name says otherwise."""
        gateway, nginx, upstream = self.plain.get(GATEWAY), self.plain[NGINX], self.plain[UPSTREAM]
        return {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": commit(),
            "machine": machine() | {"load_before": self.load_before},
            "sizes": asdict(self.sizes),
            "plain": {name: asdict(figures) for name, figures in self.plain.items()},
            "streams": {name: asdict(figures) for name, figures in self.streams.items()},
            "memory": asdict(self.memory) if self.memory else None,
            "translations": [translation.document() for translation in self.translations],
            "ratio_to_nginx": gateway and gateway.per_second / nginx.per_second,
            "added_per_request": gateway and gateway.alone_p50 - upstream.alone_p50,
            "targets": [asdict(target) for target in self.targets()],
        }

    def write(self, folder: Path) -> Path:
        """Write the document under the time of the run."""
        return write(self.document(), folder)

    def table(self) -> str:
        """Everything a reader wants first."""
        nginx, upstream = self.plain[NGINX], self.plain[UPSTREAM]
        lines = [
            "",
            f"Plain requests, {self.sizes.connections} connections (alone: 1 connection)",
            row("", "requests/s", "of nginx", "p50 ms", "p99 ms", "alone ms", "CPU µs", "failed"),
        ]
        for name, plain in self.plain.items():
            share = "" if name == UPSTREAM else f"{plain.per_second / nginx.per_second:.1%}"
            times = (ms(plain.p50), ms(plain.p99), ms(plain.alone_p50))
            lines.append(
                row(name, f"{plain.per_second:,.0f}", share, *times, whole(plain.cpu_us_per_request), str(plain.failed))
            )
        if gateway := self.plain.get(GATEWAY):
            added = ms(gateway.alone_p50 - upstream.alone_p50)
            lines.append(
                f"The gateway adds {added} ms to a request alone; nginx {ms(nginx.alone_p50 - upstream.alone_p50)} ms."
            )
        sizes = self.sizes
        lines += [
            "",
            f"Streams, {sizes.streams} at once, {sizes.events} events each, {sizes.gap * 1000:g} ms apart",
            row("", "events", "", "delay p50", "delay p99", "first ms", "CPU µs", ""),
        ]
        for name, streamed in self.streams.items():
            times = (ms(streamed.delay_p50), ms(streamed.delay_p99), ms(streamed.first_p50))
            lines.append(row(name, f"{streamed.events:,}", "", *times, whole(streamed.cpu_us_per_event), ""))
        lines += [*self.memory_lines(), *translation_lines(self.translations), ""]
        return "\n".join([*lines, *(str_target(target) for target in self.targets())])

    def memory_lines(self) -> list[str]:
        """Memory and log, if measured."""
        if not self.memory:
            return []
        found = self.memory
        lines = ["", f"After {found.requests:,} plain requests: {whole(found.rss_after_mb)} MB resident"]
        if found.log_rows is not None:
            dropped = "an unknown number" if found.dropped_rows is None else whole(found.dropped_rows)
            lines.append(f"Request log, streams included: {found.log_rows:,} rows written, {dropped} dropped")
        return lines


def write(document: Any, folder: Path) -> Path:
    """Write a document under the time of the run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    return path


def translation_lines(translations: Sequence[Translation]) -> list[str]:
    """What translating costs over passing on, as a table."""
    if not translations:
        return []
    lines = [
        "",
        f"Translation, CPU µs over passing on (limits: {REQUEST_LIMIT:.0f} a request, {EVENT_LIMIT:.0f} an event)",
        f"{'':<22}" + "".join(f"{head:>15}" for head in ("request", "passed on", "over", "event", "passed on", "over")),
    ]
    for one in translations:
        costs = (one.cost.request, one.passed_on.request, one.over.request)
        costs += (one.cost.event, one.passed_on.event, one.over.event)
        lines.append(f"{one.name:<22}" + "".join(f"{cost:>15.1f}" for cost in costs))
    return lines


def translation_targets(translations: Sequence[Translation]) -> list[Target]:
    """The dearest pairing against the limits."""
    if not translations:
        return []
    request = max(translations, key=lambda one: one.over.request)
    event = max(translations, key=lambda one: one.over.event)
    return [
        at_most(f"µs CPU over passing on a request ({request.name})", REQUEST_LIMIT, request.over.request),
        at_most(f"µs CPU over passing on an event ({event.name})", EVENT_LIMIT, event.over.event),
    ]


def at_least(name: str, promised: float, measured: float) -> Target:
    """A target that wants much."""
    return Target(name, round(promised, 1), round(measured, 1), measured >= promised)


def at_most(name: str, promised: float, measured: float) -> Target:
    """A target that wants little."""
    return Target(name, round(promised, 1), round(measured, 1), measured <= promised)


def str_target(target: Target) -> str:
    """A target in a line."""
    return f"{'met   ' if target.met else 'MISSED'}  {target.name}: {target.measured:,} (promised {target.promised:,})"


def row(name: str, *cells: str) -> str:
    """A line of the table."""
    return f"{name:<12}" + "".join(f"{cell:>11}" for cell in cells)


def ms(seconds: float) -> str:
    """Seconds as milliseconds."""
    return f"{seconds * 1000:.2f}"


def whole(value: float | None) -> str:
    """A number without decimals, "" for none."""
    return "" if value is None else f"{value:,.0f}"


def commit() -> str:
    """The checked-out commit, "" outside git."""
    command = ["git", "describe", "--always", "--dirty"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return ran.stdout.strip()


def machine() -> dict[str, Any]:
    """What the figures depend on besides us."""
    model = next(
        (
            line.partition(": ")[2]
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(), "python": platform.python_version()}
