"""What this process knows of its own traffic: calls in flight, use and speed per target.

Never stored and never shared: it orders targets, and nothing is refused because of it but `max_concurrency`,
which therefore holds per process.
"""

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from math import exp

USE_HALF_FORGOTTEN = 60.0  # s; the time constant of the use counters
SPEED_FORGOTTEN = 300.0  # s; an older measurement says nothing, so that a slow target is tried again
SPEED_WEIGHT = 0.2  # of the newest sample in the moving average

MODELS = 2_000  # that are remembered; on direct calls a client may make up as many as it likes

Account = tuple[str, str]  # provider, connection
Served = tuple[str, str]  # provider, model
Measured = OrderedDict[Served, tuple[float, float]]  # a value, and when it was


@dataclass(slots=True)
class Live:
    """Counters of one process, used from its event loop only. Times are of `time.monotonic`, in seconds."""

    in_flight: dict[Account, int] = field(default_factory=dict)
    _used: Measured = field(default_factory=OrderedDict)
    _speed: Measured = field(default_factory=OrderedDict)
    _turns: dict[str, int] = field(default_factory=dict)

    def enter(self, provider: str, connection: str) -> None:
        """One more call on this connection."""
        account = (provider, connection)
        self.in_flight[account] = self.in_flight.get(account, 0) + 1

    def leave(self, provider: str, connection: str) -> None:
        """The call ended, one way or another."""
        account = (provider, connection)
        left = self.in_flight.get(account, 0) - 1
        if left > 0:
            self.in_flight[account] = left
        else:
            self.in_flight.pop(account, None)

    def use(self, provider: str, model: str, at: float) -> None:
        """Count one attempt for `least_used`."""
        _remember(self._used, (provider, model), (self.used(provider, model, at) + 1.0, at))

    def used(self, provider: str, model: str, at: float) -> float:
        """Attempts of the last minute or so, older ones fading."""
        count, when = self._used.get((provider, model), (0.0, at))
        return count * exp(-(at - when) / USE_HALF_FORGOTTEN)

    def measure(self, provider: str, model: str, seconds: float, at: float) -> None:
        """Take in the time to first content of one answer."""
        before = self.speed(provider, model, at)
        blended = seconds if before is None else before + SPEED_WEIGHT * (seconds - before)
        _remember(self._speed, (provider, model), (blended, at))

    def speed(self, provider: str, model: str, at: float) -> float | None:
        """Average seconds to first content, None if nothing recent is known."""
        known = self._speed.get((provider, model))
        return known[0] if known and at - known[1] < SPEED_FORGOTTEN else None

    def turn(self, chain: str) -> int:
        """The next number of this chain's round robin."""
        number = self._turns.get(chain, 0)
        self._turns[chain] = number + 1
        return number

    def looked_at(self) -> "Live":
        """The same counters, but for turns, which a look must not take."""
        return replace(self, _turns=dict(self._turns))


def _remember(known: Measured, served: Served, value: tuple[float, float]) -> None:
    """Keep the newest MODELS of them."""
    known[served] = value
    known.move_to_end(served)
    if len(known) > MODELS:
        known.popitem(last=False)


live = Live()
