"""The one routing table this process routes by, and how it is replaced: whole, by one assignment."""

import asyncio
import threading
import time
from collections.abc import Mapping
from types import MappingProxyType

from resilience.core.policy import Policy
from routing.table_values import NEVER, RoutingTable

FULL_LOAD_EVERY = 30.0
"""Seconds after which rows are read again whatever their version says: raw SQL touches no version."""

_current = RoutingTable()
_policies: Mapping[str, Policy] = MappingProxyType({})
_full_load_due = 0.0
_loading = threading.Lock()  # of two threads that load at once, the slower must not swap in the older table


def current() -> RoutingTable:
    """Return the table in force, without any I/O; an empty one before the first load."""
    return _current


def swap(table: RoutingTable) -> RoutingTable:
    """Put another table in force; return the one it replaces."""
    global _current, _policies  # noqa: PLW0603 (one table per process: that is what this module is)
    replaced, _current = _current, table
    _policies = MappingProxyType({slug: provider.policy for slug, provider in table.providers.items()})
    return replaced


def is_loaded() -> bool:
    """Whether a table was ever loaded."""
    return _current.loaded_at is not NEVER


def load() -> RoutingTable:
    """Read all rows and put their table in force. Raises what the database raises; then the old one stays."""
    global _full_load_due  # noqa: PLW0603 (one table per process: that is what this module is)
    from routing.table_compile import compile_table  # models: not importable before Django's apps are ready

    with _loading:
        table = compile_table()
        swap(table)
        _full_load_due = time.monotonic() + FULL_LOAD_EVERY
    return table


def refresh() -> RoutingTable:
    """Load if the rows have another version than the table in force (one small query), or if a full load is due."""
    from routing.table_compile import read_version  # as above

    if not is_loaded() or time.monotonic() >= _full_load_due or read_version() != _current.version:
        return load()
    return _current


def policies() -> Mapping[str, Policy]:
    """Return each provider's policy: what `resilience.policies` asks for.

    A command has no poll that would have loaded the table, so the first question loads it there; never on an event
    loop, where a serving process has its table before its first request.
    """
    if not is_loaded() and not _on_event_loop():
        load()
    return _policies


def _on_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
