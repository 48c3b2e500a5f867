"""The live parts of the processes page."""

from omniroute_site.dashboard.cells import Cells, draw
from omniroute_site.dashboard.process_rows import Processes


def process_cells(old: Processes | None, new: Processes) -> Cells:
    """What a page that shows `old` needs to show `new`."""
    if old == new:
        return {}
    return {
        "processes-verdict": draw("processes_verdict", processes=new),
        "processes": draw("processes", processes=new),
    }
