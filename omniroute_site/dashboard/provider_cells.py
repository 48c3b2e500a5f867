"""The live parts of the list of providers."""

from omniroute_site.dashboard.cells import Cells, draw
from omniroute_site.dashboard.provider_rows import Fleet


def fleet_cells(old: Fleet | None, new: Fleet) -> Cells:
    """What a page that shows `old` needs to show `new`: all rows if one came or went, else those that changed."""
    if old is None or [row.key for row in old.rows] != [row.key for row in new.rows]:
        return {"fleet": draw("fleet", fleet=new)}
    pairs = zip(old.rows, new.rows, strict=True)
    return {f"fleet-{after.key}": draw("fleet_row", row=after) for before, after in pairs if before != after}
