"""Edits of a chain, each on the version its editor has seen: nobody overwrites what they did not see."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.db import transaction
from django.db.models import F

from routing.models import FallbackChain, FallbackEntry


class ChainChangedError(Exception):
    """Somebody else saved the chain meanwhile; nothing was changed."""


class NoSuchEntryError(LookupError):
    """The chain has no such entry any more."""


def edit(chain_id: int, version: int, what: str, entry_id: int | None, *, user_id: Any) -> None:
    """Do one of EDITS to a chain and log who did it. Raises ChainChangedError, NoSuchEntryError or KeyError."""
    change = EDITS[what]
    with transaction.atomic():
        # first the version: it locks the row, so that two editors queue up and the second one fails
        mine = FallbackChain.objects.filter(pk=chain_id, version=version)
        if not mine.update(version=F("version") + 1):
            raise ChainChangedError
        chain = FallbackChain.objects.get(pk=chain_id)
        done = change(chain, list(chain.entries.select_related("provider").order_by("priority", "id")), entry_id)
        LogEntry.objects.log_actions(user_id, [chain], CHANGE, done, single_object=True)


def _moved(by: int) -> Callable[[FallbackChain, list[FallbackEntry], int | None], str]:
    def move(chain: FallbackChain, entries: list[FallbackEntry], entry_id: int | None) -> str:
        position = _position(entries, entry_id)
        other = position + by
        if not 0 <= other < len(entries):
            return f"Left {entries[position]} at the end."
        priorities = [entry.priority for entry in entries]
        if len(set(priorities)) < len(priorities):  # equal ones have no order to swap
            priorities = list(range(len(entries)))
        entry = entries[position]
        entries[position], entries[other] = entries[other], entries[position]
        for priority, each in zip(priorities, entries, strict=True):
            each.priority = priority
        FallbackEntry.objects.bulk_update(entries, ["priority"])
        del chain
        return f"Moved {entry.provider.slug} {'down' if by > 0 else 'up'}."

    return move


def _toggled(chain: FallbackChain, entries: list[FallbackEntry], entry_id: int | None) -> str:
    entry = entries[_position(entries, entry_id)]
    FallbackEntry.objects.filter(pk=entry.pk).update(enabled=not entry.enabled)
    del chain
    return f"{'Disabled' if entry.enabled else 'Enabled'} {entry.provider.slug}."


def _toggled_chain(chain: FallbackChain, entries: list[FallbackEntry], entry_id: int | None) -> str:
    del entries, entry_id
    FallbackChain.objects.filter(pk=chain.pk).update(enabled=not chain.enabled)
    return f"{'Disabled' if chain.enabled else 'Enabled'} the chain."


def _position(entries: list[FallbackEntry], entry_id: int | None) -> int:
    for position, entry in enumerate(entries):
        if entry.pk == entry_id:
            return position
    raise NoSuchEntryError


EDITS: Mapping[str, Callable[[FallbackChain, list[FallbackEntry], int | None], str]] = MappingProxyType(
    {"move-up": _moved(-1), "move-down": _moved(+1), "toggle": _toggled, "toggle-chain": _toggled_chain}
)
