"""The live parts of the lockouts page."""

from omniroute_site.dashboard.cells import Cells, draw
from omniroute_site.dashboard.lockout_rows import Lockouts


def lockout_cells(old: Lockouts | None, new: Lockouts) -> Cells:
    """What a page that shows `old` needs to show `new`."""
    if old == new:
        return {}
    return {"lockouts-note": draw("lockouts_note", lockouts=new), "lockouts": draw("lockouts", lockouts=new)}
