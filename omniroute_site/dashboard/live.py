"""The pages that are live: how each is read and drawn. Their names are those of their addresses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from omniroute_site.dashboard.cells import Cells, board_cells, clock
from omniroute_site.dashboard.chain_cells import chain_cells
from omniroute_site.dashboard.lockout_cells import lockout_cells
from omniroute_site.dashboard.process_cells import process_cells
from omniroute_site.dashboard.provider_cells import fleet_cells
from omniroute_site.dashboard.push import Feed, feed_of
from omniroute_site.dashboard.request_cells import request_cells
from omniroute_site.dashboard.selectors.board import read_board
from omniroute_site.dashboard.selectors.chains import read_chains
from omniroute_site.dashboard.selectors.lockouts import read_lockouts
from omniroute_site.dashboard.selectors.processes import read_processes
from omniroute_site.dashboard.selectors.providers import read_fleet
from omniroute_site.dashboard.selectors.requests import newest_request


@dataclass(frozen=True, slots=True)
class Page:
    """How a page's rows are read, and which cells bring a page that shows the old ones to the new."""

    read: Callable[[datetime], Any]
    cells: Callable[[Any, Any], Cells]


PAGES: Mapping[str, Page] = MappingProxyType(
    {
        "board": Page(read_board, board_cells),
        "chains": Page(read_chains, chain_cells),
        "providers": Page(read_fleet, fleet_cells),
        "requests": Page(newest_request, request_cells),
        "lockouts": Page(read_lockouts, lockout_cells),
        "processes": Page(read_processes, process_cells),
    }
)


def open_feed(page: str) -> Feed[object]:
    """The feed of a page, which runs while somebody listens."""
    return feed_of(page, lambda: Feed(PAGES[page].read, PAGES[page].cells))


def everything(page: str, at: datetime) -> Cells:
    """All cells of a page: what a push begins with, and what the page asks for each 30 s as a net."""
    return {**PAGES[page].cells(None, PAGES[page].read(at)), **clock(at)}
