"""Numbers drawn as SVG paths: a path is text, compares by value, and needs no inline style."""

from collections.abc import Sequence

SPARK_HEIGHT = 44
BEAT_HEIGHT = 14
BAR_WIDTH = 0.8


def bars(values: Sequence[float], highest: float, height: int = SPARK_HEIGHT) -> str:
    """One bar per value from the bottom up, in a box as wide as there are values. A value above 0 is always seen."""
    if highest <= 0:
        return ""
    drawn: list[str] = []
    for position, value in enumerate(values):
        if value > 0:
            top = max(2.0, min(1.0, value / highest) * height)
            drawn.append(f"M{position} {height}v-{top:.1f}h{BAR_WIDTH}V{height}z")
    return "".join(drawn)


def beats(outcomes: str, sign: str, places: int, share: float = 1.0) -> str:
    """A mark at each place of `outcomes` that is `sign`; the newest stands rightmost. Lower marks for a lower share."""
    height = BEAT_HEIGHT * share
    offset = places - len(outcomes)
    return "".join(
        f"M{offset + position} {BEAT_HEIGHT}v-{height:.1f}h{BAR_WIDTH}V{BEAT_HEIGHT}z"
        for position, outcome in enumerate(outcomes)
        if outcome == sign
    )


def percentile(values: Sequence[float], share: float) -> float | None:
    """The value that `share` of all values do not exceed (nearest rank); None without values."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * 100) * len(ordered) // 100) - 1))]
