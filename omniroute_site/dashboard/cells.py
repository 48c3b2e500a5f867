"""The live parts of the pages: each is one template, rendered by the first page, by htmx answers and by pushes alike.

A cell carries its own id and `hx-swap-oob`, so that a piece of text is all that travels. Cells hold no controls, only
empty places for them: htmx keeps what stands in such a place (`hx-preserve`), or fetches it if nothing does. So a
push disturbs no form and no focus, and is the same for every viewer.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.template.loader import render_to_string

from omniroute_site.dashboard.board_rows import Board, EventRow
from omniroute_site.dashboard.rows import Circuit

Cells = dict[str, str]
"""Rendered cells by element id, in the order in which they are to be swapped."""


def draw(name: str, **context: Any) -> str:
    """Return one cell as it stands without a viewer."""
    return render_to_string(f"dashboard/cells/{name}.html", context)


def clock(now: datetime) -> Cells:
    """Return the server's time: sent with everything, so that countdowns do not depend on the browser's clock."""
    return {"server-clock": draw("clock", now=now)}


def board_cells(old: Board | None, new: Board) -> Cells:
    """What a page that shows `old` needs to show `new`; without an old board, everything."""
    cells: Cells = {}
    if old is None or old.verdict != new.verdict:
        cells["verdict"] = draw("verdict", verdict=new.verdict)
    if old is None or old.verdict.tone != new.verdict.tone:
        cells["favicon"] = draw("favicon", verdict=new.verdict)
    if old is None or old.numbers != new.numbers:
        cells["numbers"] = draw("numbers", numbers=new.numbers)
    cells.update(_wall(old, new))
    if old is None or old.events != new.events:
        cells["ticker"] = draw("ticker", events=new.events)
    if old is not None and (news := list(_transitions(old, new))):
        cells["announce"] = draw("announcement", events=news)
    return cells


def _wall(old: Board | None, new: Board) -> Cells:
    """The tiles: all of them if one came, went or moved, else those that changed, else their traffic alone."""
    if old is None or _places(old) != _places(new):
        return {"wall-note": draw("wall_note", board=new), "wall": draw("wall", board=new)}
    cells: Cells = {}
    if (old.troubled, old.healthy, old.disabled) != (new.troubled, new.healthy, new.disabled):
        cells["wall-note"] = draw("wall_note", board=new)
    for before, after in zip(old.circuits, new.circuits, strict=True):
        cells.update(circuit_cell(before, after))
    return cells


def _places(board: Board) -> list[tuple[str, bool]]:
    return [(circuit.slug, circuit.calm) for circuit in board.circuits]


def circuit_cell(before: Circuit, after: Circuit) -> Cells:
    """The smallest part of a tile that shows what changed."""
    if before == after:
        return {}
    if before.without_traffic() == after.without_traffic():
        return {f"traffic-{after.key}": draw("traffic", c=after)}
    return {f"tile-{after.key}": draw("tile", c=after)}


def _transitions(old: Board, new: Board) -> Iterator[EventRow]:
    """Events the page has not told yet, oldest first; what is counted or timed is never among them."""
    newest = max((event.id for event in old.events), default=0)
    return (event for event in reversed(new.events) if event.id > newest)
