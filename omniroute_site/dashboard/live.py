"""The pages that are live: how each is read and drawn."""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from omniroute_site.dashboard.cells import Cells, board_cells, clock
from omniroute_site.dashboard.chain_cells import chain_cells
from omniroute_site.dashboard.provider_cells import fleet_cells
from omniroute_site.dashboard.push import Feed, feed_of
from omniroute_site.dashboard.selectors.board import read_board
from omniroute_site.dashboard.selectors.chains import read_chains
from omniroute_site.dashboard.selectors.providers import read_fleet

Reading = tuple[Callable[[datetime], Any], Callable[[Any, Any], Cells]]

PAGES: Mapping[str, Reading] = MappingProxyType(
    {
        "board": (read_board, board_cells),
        "chains": (read_chains, chain_cells),
        "providers": (read_fleet, fleet_cells),
    }
)


def open_feed(page: str) -> Feed[object]:
    """The feed of a page, which runs while somebody listens."""
    return feed_of(page, lambda: Feed(*PAGES[page]))


def everything(page: str, at: datetime) -> Cells:
    """All cells of a page: what a push begins with, and what the page asks for each 30 s as a net."""
    read, draw = PAGES[page]
    return {**draw(None, read(at)), **clock(at)}
