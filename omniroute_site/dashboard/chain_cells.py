"""The live parts of the chains page."""

from functools import lru_cache

from omniroute_site.dashboard.cells import Cells, draw
from omniroute_site.dashboard.chain_rows import Chains, Lane

KEPT = 1024  # drawn lanes; of hundreds of chains only a few change between two looks


@lru_cache(KEPT)
def draw_lane(lane: Lane) -> str:
    """A lane says all that its picture depends on, so that equal ones are drawn once."""
    return draw("lane", lane=lane)


def chain_cells(old: Chains | None, new: Chains) -> Cells:
    """What a page that shows `old` needs to show `new`: all lanes if one came or went, else those that changed."""
    if old is None or [lane.id for lane in old.lanes] != [lane.id for lane in new.lanes]:
        return {"lanes": draw("lanes", chains=new)}
    pairs = zip(old.lanes, new.lanes, strict=True)
    return {f"lane-{after.id}": draw_lane(after) for before, after in pairs if before != after}
