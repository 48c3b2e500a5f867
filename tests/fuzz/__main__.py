"""`make fuzz`: random inputs for what reads other people's bytes. Ends non-zero if anything was found.

make fuzz                                      100,000 inputs for each target, of a new seed
make fuzz ARGS="--count 1000000 hints errors"  more, for some
make fuzz ARGS="--seed 123 --count 1 streams"  one again
"""

import argparse
import os
import random
import sys
import time

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

from tests.fuzz.run import TARGETS, Report, run  # noqa: E402 (Django is set up)


def main() -> int:
    """Run the targets one after another."""
    options = argparse.ArgumentParser(description="Fuzz the parsers.")
    options.add_argument("targets", nargs="*", choices=[*TARGETS, []], help="all of them, if none is named")
    options.add_argument("--count", type=int, default=100_000, help="inputs for each target")
    options.add_argument("--seed", type=int, help="of the first input; it is printed")
    said = options.parse_args()
    seed = random.randrange(10**9) if said.seed is None else said.seed
    _say(f"seed {seed}, {said.count:,} inputs for each target")
    reports = [_reported(name, seed, said.count) for name in said.targets or TARGETS]
    return int(any(report.findings for report in reports))


def _reported(name: str, seed: int, count: int) -> Report:
    began = time.monotonic()
    report = Report(name)
    try:
        for report in run(TARGETS[name], seed, count):
            sys.stderr.write(f"  {name}: {report.inputs:,}, {len(report.findings)} findings\n")
    except KeyboardInterrupt:
        _say("stopped")
    _say(f"{report}\n  {time.monotonic() - began:.0f} s in all")
    return report


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
