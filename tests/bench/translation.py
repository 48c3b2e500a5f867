"""What translating costs over passing on, measured by tests.bench.adapters in a process of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from tests.bench.gateway import ROOT

REQUEST_LIMIT, EVENT_LIMIT = 300.0, 40.0  # µs over passing on


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU in microseconds."""

    request: float
    event: float


@dataclass(frozen=True, slots=True)
class Translation:
    """One pairing, what it costs, and what passing on costs its client."""

    path: str
    format: str
    cost: Cost
    passed_on: Cost

    @property
    def name(self) -> str:
        """`messages to gemini`."""
        return f"{self.path.removeprefix('/v1/').partition('/')[0]} to {self.format}"

    @property
    def over(self) -> Cost:
        """What the translation adds."""
        return Cost(self.cost.request - self.passed_on.request, self.cost.event - self.passed_on.event)

    def document(self) -> dict[str, Any]:
        """As JSON."""
        figures = {"translated": self.cost, "passed_on": self.passed_on, "over": self.over}
        return {"name": self.name} | {
            kind: {"us_per_request": cost.request, "us_per_event": cost.event} for kind, cost in figures.items()
        }


CHILD = "import django; django.setup(); from tests.bench.adapters import main; main({}, {})"  # adapters have models near them


def measure(rounds: int = 60, number: int = 5) -> list[Translation]:
    """Every pairing. rounds: the best counts, and short ones find it; number: requests in each. Raises CalledProcessError."""
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run(
        [sys.executable, "-c", CHILD.format(rounds, number)],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    return [Translation(row["path"], row["format"], Cost(**row["cost"]), Cost(**row["passed_on"])) for row in found]
