"""The routing table: what a request is routed by, in memory. This module is its front; look here first.

    rows ──table_compile──► RoutingTable ──table_in_force──► current()
                 (table_values)              ▲
                        table_poll: version compare, news, full reload

`current()` is a plain read, for the request path. Who runs without the poll (commands, tests, pages of a process
that serves no `/v1`) calls `current_sync()`, which compares versions first.
"""

from routing.table_in_force import current, is_loaded, load, policies, refresh, swap
from routing.table_poll import running, start, stop
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
    "running",
    "start",
    "stop",
    "swap",
]


def current_sync() -> RoutingTable:
    """Return the table in force, loaded or refreshed first unless this process's poll keeps it fresh anyway.

    Asks the database: not for coroutines.
    """
    return current() if running() else refresh()
