"""A chain as it is being edited: what the form holds, saved or not.

The order of the entries is the order of their keys in the form, so that moving one renames nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict

from omniroute_site.dashboard.chain_forms import ChainForm, EntryForm
from omniroute_site.dashboard.rows import slashed
from routing.models import FallbackChain
from routing.table import Provider, RoutingTable

MOST_ENTRIES = 100


@dataclass(frozen=True, slots=True)
class DraftEntry:
    """One entry; `key` is its name in the form."""

    key: str
    provider: str = ""
    model: str = ""
    connection: str = ""
    weight: str = "1"
    enabled: bool = True
    tied: bool = False
    """Of the same priority as the entry above."""

    @property
    def label(self) -> str:
        """What scripts know it by."""
        return slashed(self.provider, self.connection, self.model)


@dataclass(frozen=True, slots=True)
class ChainDraft:
    """The whole of it. `version` is the one it was begun on."""

    model: str = ""
    strategy: str = "priority"
    enabled: bool = True
    version: int = 0
    entries: tuple[DraftEntry, ...] = ()

    def moved(self, key: str, by: int) -> "ChainDraft":
        """With an entry one place up (-1) or down (+1). Ties belong to places, so that those of both are undone."""
        entries = list(self.entries)
        here = next((place for place, entry in enumerate(entries) if entry.key == key), -1)
        there = here + by
        if here < 0 or not 0 <= there < len(entries):
            return self
        entries[here], entries[there] = replace(entries[there], tied=False), replace(entries[here], tied=False)
        return replace(self, entries=tuple(entries))

    def without(self, key: str) -> "ChainDraft":
        """With an entry taken out."""
        return replace(self, entries=tuple(entry for entry in self.entries if entry.key != key))

    def with_another(self) -> "ChainDraft":
        """With an empty entry at the end."""
        taken = {entry.key for entry in self.entries}
        if len(taken) >= MOST_ENTRIES:
            return self
        key = next(key for key in (f"new{number}" for number in range(len(taken) + 1)) if key not in taken)
        return replace(self, entries=(*self.entries, DraftEntry(key)))


def stored(chain: FallbackChain) -> ChainDraft:
    """The chain as it is in the database."""
    entries = []
    above: int | None = None
    for row in chain.entries.select_related("provider", "connection").order_by("priority", "id"):
        pin = row.connection.slug if row.connection else ""
        key, weight = f"e{row.pk}", f"{row.weight:g}"
        tied = row.priority == above
        entries.append(DraftEntry(key, row.provider.slug, row.model, pin, weight, enabled=row.enabled, tied=tied))
        above = row.priority
    return ChainDraft(chain.model, chain.strategy, chain.enabled, chain.version, tuple(entries))


def sent(data: QueryDict) -> ChainDraft:
    """What the form says, right or wrong."""
    version = data.get("version", "")
    return ChainDraft(
        model=data.get("model", ""),
        strategy=data.get("strategy", "priority"),
        enabled="enabled" in data,
        version=int(version) if version.isdecimal() and len(version) < 10 else 0,
        entries=tuple(_sent_entry(data, key) for key in dict.fromkeys(data.getlist("entry")[:MOST_ENTRIES])),
    )


def _sent_entry(data: QueryDict, key: str) -> DraftEntry:
    def given(name: str) -> str:
        return data.get(f"{key}-{name}", "")

    return DraftEntry(
        key=key if key.isalnum() else "new0",
        provider=given("provider"),
        model=given("model"),
        connection=given("connection"),
        weight=given("weight"),
        enabled=f"{key}-enabled" in data,
        tied=f"{key}-tied" in data,
    )


@dataclass(frozen=True, slots=True)
class EntryFields:
    """A draft's entry with its form."""

    entry: DraftEntry
    form: EntryForm


@dataclass(frozen=True, slots=True)
class DraftForms:
    """The forms of a draft: to be filled in, or, with the data sent, to be checked."""

    chain: ChainForm
    entries: Sequence[EntryFields]

    def is_valid(self, chain_id: int | None = None) -> bool:
        """Check all of them, so that every mistake is said at once. chain_id: the chain that may keep its name."""
        named = self.chain.is_valid() and not self.chain.refuse_taken_name(chain_id)
        right = [named, *(fields.form.is_valid() for fields in self.entries)]
        return all(right) and self._no_target_twice()

    def _no_target_twice(self) -> bool:
        seen: dict[tuple[str, str, str], int] = {}
        for place, fields in enumerate(self.entries, 1):
            given = fields.form.cleaned_data
            target = (given["provider"], given["model"] or self.chain.cleaned_data["model"], given["connection"])
            if target in seen:
                fields.form.add_error(None, f"The same as entry {seen[target]}.")
            seen.setdefault(target, place)
        return all(not fields.form.errors for fields in self.entries)


def forms_of(draft: ChainDraft, table: RoutingTable, data: QueryDict | None = None) -> DraftForms:
    """The forms of a draft; with `data`, bound to it."""
    values = {"model": draft.model, "strategy": draft.strategy, "enabled": draft.enabled}
    reason = {"reason": data.get("reason", "")} if data is not None else {}
    return DraftForms(
        chain=ChainForm(data, initial={**values, **reason}, auto_id="chain-%s"),
        entries=tuple(EntryFields(entry, form) for entry, form in _entry_forms(draft, table, data)),
    )


def unchecked(draft: ChainDraft, table: RoutingTable, reason: str = "") -> DraftForms:
    """The forms of a draft that is still being written: nothing is called wrong yet."""
    forms = forms_of(draft, table)
    forms.chain.initial["reason"] = reason
    return forms


def _entry_forms(
    draft: ChainDraft, table: RoutingTable, data: QueryDict | None
) -> Iterator[tuple[DraftEntry, EntryForm]]:
    for entry in draft.entries:
        provider: Provider | None = table.providers.get(entry.provider)
        connections = [connection.slug for connection in provider.connections] if provider else []
        names = ("provider", "model", "connection", "weight", "enabled", "tied")
        initial = {name: getattr(entry, name) for name in names}
        yield (
            entry,
            EntryForm(data, prefix=entry.key, initial=initial, providers=table.providers, connections=connections),
        )
