"""What applying a file does, object by object, as people read it. Holds no secret but keys that were just generated."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from routing.configfile.values import plain

Action = Literal["create", "change", "delete"]
MAX_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Change:
    """One object that is created, changed or deleted; `details` says which of its fields, and how."""

    action: Action
    what: str
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        details = f": {', '.join(self.details)}" if self.details else ""
        return f"{self.action:<6} {self.what}{details}"


@dataclass(slots=True)
class Plan:
    """Every change, in the order in which it is made."""

    changes: list[Change] = field(default_factory=list)
    unchanged: int = 0
    generated_keys: dict[str, str] = field(default_factory=dict, repr=False)
    """Client keys that nobody chose, by name: they can be shown now and never again."""

    def add(self, action: Action, what: str, details: Iterator[str] | tuple[str, ...] = ()) -> None:
        """Note a change."""
        self.changes.append(Change(action, what, tuple(details)))

    def lines(self) -> Iterator[str]:
        """Yield the plan as text."""
        for change in self.changes:
            yield str(change)
        counts = Counter(change.action for change in self.changes)
        if not counts:
            yield f"No changes, {self.unchanged} unchanged."
            return
        yield (
            f"{counts['create']} to create, {counts['change']} to change, {counts['delete']} to delete, "
            f"{self.unchanged} unchanged."
        )


def describe(name: str, before: Any, after: Any) -> str:
    """Return how a field changes: `weight 1 → 2`."""
    return f"{name} {_shown(before)} → {_shown(after)}"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(plain(value))
    if value is None or value == "":
        return "none"
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"[:MAX_SHOWN]
    return str(value)[:MAX_SHOWN]
