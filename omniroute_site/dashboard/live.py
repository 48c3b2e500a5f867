"""The pages that are live: how each is read and drawn."""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from omniroute_site.dashboard.cells import Cells, board_cells, clock
from omniroute_site.dashboard.chain_cells import chain_cells
from omniroute_site.dashboard.push import Feed, feed_of
from omniroute_site.dashboard.selectors.board import read_board
from omniroute_site.dashboard.selectors.chains import read_chains

PAGES: Mapping[str, Callable[[], Feed[Any]]] = MappingProxyType(
    {
        "board": lambda: Feed(read_board, board_cells),
        "chains": lambda: Feed(read_chains, chain_cells),
    }
)


def open_feed(page: str) -> Feed[object]:
    """The feed of a page, which runs while somebody listens."""
    return feed_of(page, PAGES[page])


def everything(page: str, at: datetime) -> Cells:
    """All cells of a page: what a push begins with, and what the page asks for each 30 s as a net."""
    if page == "board":
        return {**board_cells(None, read_board(at)), **clock(at)}
    return {**chain_cells(None, read_chains(at)), **clock(at)}
