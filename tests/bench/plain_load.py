"""Load with plain requests: wrk, told by a small script what to post and to answer in JSON."""

import json
import math
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.bench.processes import BenchError, pinned, require

_SCRIPT = """
wrk.method = "POST"
wrk.body = os.getenv("BENCH_BODY")
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("BENCH_KEY")
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('BENCH {"requests":%d,"seconds":%.6f,"p50":%.6f,"p99":%.6f,"bad_status":%d,"broken":%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e6, latency:percentile(99) / 1e6,
    e.status, e.connect + e.read + e.write + e.timeout))
end
"""


@dataclass(frozen=True, slots=True)
class Load:
    """Where to post, and as whom."""

    url: str
    model: str
    api_key: str
    folder: Path
    core: int

    @property
    def body(self) -> str:
        """A small chat request."""
        return json.dumps({"model": self.model, "messages": [{"role": "user", "content": "Say hello."}]})


@dataclass(frozen=True, slots=True)
class Burst:
    """What wrk saw. Latencies in seconds."""

    requests: int
    seconds: float
    p50: float
    p99: float
    failed: int

    @property
    def per_second(self) -> float:
        """Answered requests per second."""
        return self.requests / self.seconds


def post(load: Load, *, connections: int, seconds: float) -> Burst:
    """Post for a while. Raises BenchError if wrk fails or nothing was answered well."""
    program = require("wrk", "wrk")
    script = load.folder / "wrk.lua"
    script.write_text(_SCRIPT)
    command = [
        program,
        "-t1",
        f"-c{connections}",
        f"-d{max(1, math.ceil(seconds))}s",
        "--timeout",
        "30s",
        "-s",
        str(script),
        load.url,
    ]
    ran = subprocess.run(
        pinned(command, load.core),
        env={**os.environ, "BENCH_BODY": load.body, "BENCH_KEY": load.api_key},
        capture_output=True,
        text=True,
        timeout=seconds + 60,
        check=False,
    )
    for line in ran.stdout.splitlines():
        if line.startswith("BENCH "):
            return read(json.loads(line.removeprefix("BENCH ")), load.url)
    raise BenchError(f"wrk brought no figures for {load.url}:\n{ran.stdout}{ran.stderr}")


def read(figures: dict[str, float], url: str) -> Burst:
    """wrk's figures as a Burst. Raises BenchError if more than one in a hundred failed: that measures something else."""
    failed, requests = int(figures["bad_status"] + figures["broken"]), int(figures["requests"])
    if requests == 0 or failed > requests / 100:
        raise BenchError(f"{failed} of {requests} requests to {url} failed ({figures['bad_status']:.0f} by status)")
    return Burst(requests, figures["seconds"], figures["p50"], figures["p99"], failed)
