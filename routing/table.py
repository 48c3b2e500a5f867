"""The routing table this process routes by: one immutable value, replaced whole.

`current()` is a plain read, for the request path. Who runs without the poll (commands, tests, pages of a process
that serves no `/v1`) calls `current_sync()`, which compares versions first. `start()` keeps it fresh (`table_poll`).
"""

import logging
import threading
from collections.abc import Mapping

from resilience.core.policy import Policy
from routing.table_values import (
    NEVER,
    UNKNOWN_MODEL,
    Chain,
    ClientKey,
    Connection,
    Emergency,
    Entry,
    GatewaySettings,
    ModelFacts,
    Provider,
    RoutingTable,
    Timeouts,
)

__all__ = [
    "NEVER",
    "UNKNOWN_MODEL",
    "Chain",
    "ClientKey",
    "Connection",
    "Emergency",
    "Entry",
    "GatewaySettings",
    "ModelFacts",
    "Provider",
    "RoutingTable",
    "Timeouts",
    "current",
    "current_sync",
    "is_loaded",
    "load",
    "policies",
    "refresh",
    "start",
    "stop",
    "swap",
]

logger = logging.getLogger(__name__)

_current = RoutingTable()
_loading = threading.Lock()  # two threads that load at once must not swap in the older of two tables


def current() -> RoutingTable:
    """Return the table in force, without any I/O; an empty one before the first load."""
    return _current


def swap(table: RoutingTable) -> RoutingTable:
    """Put another table in force; return the one it replaces."""
    global _current  # noqa: PLW0603 (one table per process: that is what this module is)
    replaced, _current = _current, table
    return replaced


def is_loaded() -> bool:
    """Whether a table was ever loaded."""
    return _current.loaded_at is not NEVER


def load() -> RoutingTable:
    """Read all rows and put their table in force. Raises what the database raises; then the old one stays."""
    from routing.table_compile import compile_table  # models: not importable before Django's apps are ready

    with _loading:
        table = compile_table()
        swap(table)
    return table


def refresh() -> RoutingTable:
    """Load if the rows have another version than the table in force (one small query)."""
    from routing.table_compile import read_version  # as above

    if not is_loaded() or read_version() != _current.version:
        return load()
    return _current


def current_sync() -> RoutingTable:
    """Return the table in force, loaded or refreshed first unless this process's poll keeps it fresh anyway."""
    from routing import table_poll  # it imports this module

    return _current if table_poll.running() else refresh()


def policies() -> Mapping[str, Policy]:
    """Return each provider's policy: what `resilience.policies` asks for."""
    return {slug: provider.policy for slug, provider in _current.providers.items()}


async def start() -> None:
    """Load the table and keep it fresh on this event loop, until `stop()`. Once per process; again is harmless."""
    from routing import table_poll  # as above

    await table_poll.start()


async def stop() -> None:
    """Stop keeping it fresh; the last table stays in force."""
    from routing import table_poll  # as above

    await table_poll.stop()
