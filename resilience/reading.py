"""State as the database has it, read into values. Nothing here writes."""

from resilience import rows
from resilience.change import Change
from resilience.core.cooldown import Cooldown
from resilience.core.lockout import Lockout
from resilience.core.settlement import Layers
from resilience.core.state import Breaker
from resilience.models import BreakerState, ModelLockout, StateVersion
from resilience.models import Cooldown as CooldownRow

# By hand: these run while every other writer waits, and building them anew was a third of a settlement's time.
BREAKER = "SELECT * FROM resilience_breakerstate WHERE provider = %s"
COOLDOWN = "SELECT * FROM resilience_cooldown WHERE provider = %s AND connection = %s"
LOCKOUT = "SELECT * FROM resilience_modellockout WHERE provider = %s AND connection = %s AND model = %s"


def current_version() -> int:
    """The number of the last committed write; 0 before the first."""
    return StateVersion.objects.filter(pk=1).values_list("value", flat=True).first() or 0


def load_all() -> Change:
    """Everything. The version is read first: a row that is newer than it will simply come again."""
    version = current_version()
    return Change(
        version=version,
        breakers=tuple(map(rows.to_breaker, BreakerState.objects.all())),
        cooldowns=tuple(map(rows.to_cooldown, CooldownRow.objects.all())),
        lockouts=tuple(map(rows.to_lockout, ModelLockout.objects.all())),
    )


def load_since(version: int) -> Change:
    """What was written after `version`; one query if nothing was.

    The version of the answer is lower than the one asked for if the database was replaced by an older one.
    """
    current = current_version()
    if current <= version:
        return Change(version=current)
    return Change(
        version=current,
        breakers=tuple(map(rows.to_breaker, BreakerState.objects.filter(version__gt=version))),
        cooldowns=tuple(map(rows.to_cooldown, CooldownRow.objects.filter(version__gt=version))),
        lockouts=tuple(map(rows.to_lockout, ModelLockout.objects.filter(version__gt=version))),
    )


def read_breaker(provider: str) -> Breaker:
    """The breaker of a provider, a clean one if it has no row."""
    found = BreakerState.objects.raw(BREAKER, [provider])
    return next(map(rows.to_breaker, found), None) or Breaker(provider)


def read_cooldown(provider: str, connection: str) -> Cooldown:
    """The cooldown of a connection, a blank one if it has no row."""
    found = CooldownRow.objects.raw(COOLDOWN, [provider, connection])
    return next(map(rows.to_cooldown, found), None) or Cooldown(provider, connection)


def read_lockout(provider: str, connection: str, model: str) -> Lockout:
    """The lockout of a pair, a blank one if it has no row."""
    found = ModelLockout.objects.raw(LOCKOUT, [provider, connection, model])
    return next(map(rows.to_lockout, found), None) or Lockout(provider, connection, model)


def read_layers(provider: str, connection: str, model: str) -> Layers:
    """The three values that one attempt touches."""
    return Layers(
        read_breaker(provider), read_cooldown(provider, connection), read_lockout(provider, connection, model)
    )
