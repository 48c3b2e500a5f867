"""What one write of the store changed, as values."""

from dataclasses import dataclass, field

from resilience.core.cooldown import Cooldown
from resilience.core.events import Event
from resilience.core.lockout import Lockout
from resilience.core.state import Breaker


@dataclass(frozen=True, slots=True)
class Change:
    """Every value is a whole row as of `version`, not a difference; `written` tells whether this write changed any."""

    version: int = 0
    written: bool = False
    breakers: tuple[Breaker, ...] = ()
    cooldowns: tuple[Cooldown, ...] = ()
    lockouts: tuple[Lockout, ...] = ()
    events: tuple[Event, ...] = field(default=())
