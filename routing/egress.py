"""Whether the network that failed is ours.

If within a few seconds calls to at least two hosts never got through and no host answered, our DNS or our way out is
broken: such failures say nothing about the providers and count nowhere (RESILIENCE section 6).
"""

from dataclasses import dataclass, field

WITHIN = 5.0  # s


@dataclass(slots=True)
class Egress:
    """What hosts did lately. Times are of the loop's clock, in seconds."""

    _unreached: dict[str, float] = field(default_factory=dict)
    _answered_at: float = float("-inf")

    def answered(self, at: float) -> None:
        """Some host spoke to us."""
        self._answered_at = at
        if self._unreached:
            self._unreached.clear()

    def unreached(self, host: str, at: float) -> None:
        """A call did not get through to this host."""
        self._unreached[host] = at

    def broken(self, at: float) -> bool:
        """Whether our own network is the likeliest explanation now."""
        lately = sum(1 for moment in self._unreached.values() if at - moment <= WITHIN)
        return lately >= 2 and at - self._answered_at > WITHIN


egress = Egress()
