"""What is wrong with a configuration file, said so that it can be put right: line, path, and what is allowed."""

from collections.abc import Sequence
from dataclasses import dataclass

Path = tuple[str | int, ...]
"""Where something stands in the file: ("providers", 0, "breaker", "failure_threshold")."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake."""

    message: str
    path: Path = ()
    line: int | None = None

    def __str__(self) -> str:
        place = [f"line {self.line}" if self.line is not None else "", dotted(self.path)]
        return ": ".join([part for part in place if part] + [self.message])


class ConfigFileError(Exception):
    """The file cannot be applied. Nothing was changed. `problems` holds every mistake, not only the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.line or 0))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def dotted(path: Path) -> str:
    """Return a path as people write it: `providers[0].breaker.failure_threshold`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
