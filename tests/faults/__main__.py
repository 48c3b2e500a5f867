"""`python -m tests.faults PROOF`: the long proofs, which take minutes. Their short forms are tests in this folder."""

import argparse
import signal
import sys

from tests.faults.kills import kill
from tests.faults.soak import soak
from tests.faults.workers import kill_workers


def say(line: str) -> None:
    sys.stderr.write(line + "\n")


def prove_kills(asked: argparse.Namespace) -> list[str]:
    prove = kill_workers if asked.one_by_one else kill
    done = prove(asked.times, seed=asked.seed, workers=asked.workers, database_url=asked.database, say=say)
    say(f"{done.times} kills, {done.transitions_seen} transitions and {done.failures_seen} failures seen by clients")
    return done.lost


def prove_soak(asked: argparse.Namespace) -> list[str]:
    done = soak(asked.minutes * 60, seed=asked.seed, say=say)
    early, late = done.memory()
    say(f"{done.tally.endings.total()} visits: {dict(done.tally.endings.most_common())}")
    say(
        f"before {done.before}\nafter  {done.after}\nmemory {early:.1f} MB in the second quarter, {late:.1f} in the last"
    )
    return done.problems()


def main(arguments: list[str]) -> int:
    """Exit code 1 if anything is not as it must be."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of every choice (0)")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the children are stopped
    proofs = parser.add_subparsers(required=True, metavar="PROOF")
    killing = proofs.add_parser("kills", help="kill -9 under traffic; nothing that a client saw may be undone")
    killing.add_argument("--times", type=int, default=100)
    killing.add_argument("--workers", type=int, default=1)
    killing.add_argument("--one-by-one", action="store_true", help="one worker at a time, not all processes")
    killing.add_argument("--database", default="", metavar="URL", help="instead of SQLite; it must be empty")
    killing.set_defaults(prove=prove_kills)
    soaking = proofs.add_parser("soak", help="mixed faults and rough clients; nothing may be left afterwards")
    soaking.add_argument("--minutes", type=float, default=10)
    soaking.set_defaults(prove=prove_soak)
    asked = parser.parse_args(arguments)
    problems = asked.prove(asked)
    for line in problems:
        say(f"PROBLEM {line}")
    say("failed" if problems else "all is well")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
