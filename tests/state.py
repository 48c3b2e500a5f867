"""State put into the database the way the store does it."""

from collections.abc import Iterable

from django.utils import timezone

from resilience import committing
from resilience.core.cooldown import Cooldown
from resilience.core.lockout import Lockout
from resilience.core.state import Breaker


def write(
    *, breakers: Iterable[Breaker] = (), cooldowns: Iterable[Cooldown] = (), lockouts: Iterable[Lockout] = ()
) -> None:
    """Commit these values in place of what is there."""

    def work() -> committing.Draft:
        return committing.Draft(
            breakers=[(Breaker(one.provider), one) for one in breakers],
            cooldowns=[(Cooldown(one.provider, one.connection), one) for one in cooldowns],
            lockouts=[(Lockout(one.provider, one.connection, one.model), one) for one in lockouts],
        )

    committing.write(work, committing.Note(timezone.now()))
