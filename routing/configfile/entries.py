"""The entries of one chain: the list in the file is the list in the rows, in the same order.

An entry is the same entry as long as its provider, model and connection stay. Rows of one priority are ordered by
their ids, so a row that has to come later than its id says is replaced by a new one.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from routing.configfile.plan import describe
from routing.configfile.schema import ChainFile, EntryFile
from routing.models import Connection, FallbackChain, FallbackEntry, Provider

Identity = tuple[int, str, int | None]
_CHANGEABLE = ("model", "priority", "weight", "enabled")


@dataclass(slots=True)
class EntryPlan:
    """What is to be written, and how it is described."""

    drop: list[FallbackEntry] = field(default_factory=list)
    change: list[tuple[FallbackEntry, list[str]]] = field(default_factory=list)
    create: list[FallbackEntry] = field(default_factory=list)
    details: list[str] = field(default_factory=list)

    def write(self, chain: FallbackChain) -> None:
        """Write it. The chain itself is stored by now."""
        for entry in self.drop:
            entry.delete()
        for entry, columns in self.change:
            entry.save(update_fields=columns)
        for entry in self.create:
            entry.chain = chain
            entry.save(force_insert=True)


def plan_entries(
    said: ChainFile,
    stored: Sequence[FallbackEntry],
    providers: Mapping[str, Provider],
    connections: Mapping[tuple[str, str], Connection],
) -> EntryPlan:
    """Compare the file's entries with the rows'."""
    plan = EntryPlan()
    left: dict[Identity, FallbackEntry] = {_identity(row, row.model or said.model): row for row in stored}
    newest: defaultdict[int, float] = defaultdict(float)  # by priority: the id that the next row must be above
    for entry in said.entries:
        wanted = _row(entry, providers, connections)
        row = left.pop(_identity(wanted, wanted.model or said.model), None)
        label = _label(wanted, said.model)
        if row is not None and row.pk > newest[entry.priority]:
            newest[entry.priority] = row.pk
            _change(plan, row, wanted, label)
            continue
        newest[entry.priority] = float("inf")
        plan.create.append(wanted)
        plan.details.append(f"entry {label} {'moved' if row else 'added'}")
        if row is not None:
            plan.drop.append(row)
    for row in left.values():
        plan.drop.append(row)
        plan.details.append(f"entry {_label(row, said.model)} removed")
    return plan


def _change(plan: EntryPlan, row: FallbackEntry, wanted: FallbackEntry, label: str) -> None:
    columns = [column for column in _CHANGEABLE if getattr(row, column) != getattr(wanted, column)]
    for column in columns:
        plan.details.append(f"entry {label} " + describe(column, getattr(row, column), getattr(wanted, column)))
        setattr(row, column, getattr(wanted, column))
    if columns:
        plan.change.append((row, columns))


def _row(
    entry: EntryFile, providers: Mapping[str, Provider], connections: Mapping[tuple[str, str], Connection]
) -> FallbackEntry:
    columns: dict[str, Any] = entry.model_dump(include={"priority", "weight", "enabled"})
    pin = None if entry.connection is None else connections[entry.provider, entry.connection]
    return FallbackEntry(provider=providers[entry.provider], connection=pin, model=entry.model or "", **columns)


def _identity(row: FallbackEntry, model: str) -> Identity:
    return row.provider_id, model, row.connection_id


def _label(row: FallbackEntry, chain: str) -> str:
    pin = f" by {row.connection.slug}" if row.connection else ""
    return f"{row.provider.slug}/{row.model or chain}{pin}"
