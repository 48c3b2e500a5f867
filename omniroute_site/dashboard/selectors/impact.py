"""What holding a provider open would do, said before it is done."""

from datetime import datetime, timedelta

from omniroute_site.dashboard.selectors.state import read_now
from omniroute_site.dashboard.standing import standing_of
from routing.ids import uuid7_floor
from routing.models import RequestLog

SHARE_OF = timedelta(hours=1)
MOST_ROWS = 5_000
MOST_NAMES = 5


def impact_of_opening(provider: str, at: datetime) -> list[str]:
    """Sentences: the provider's share of the last hour, chains that use it, and those left with one target or none."""
    now = read_now(at)
    using: list[str] = []
    alone: list[str] = []
    dead: list[str] = []
    for chain in now.table.chains.values():
        entries = [entry for entry in chain.entries if entry.enabled and entry.provider.enabled]
        if not chain.enabled or not any(entry.provider.slug == provider for entry in entries):
            continue
        using.append(chain.model)
        left = sum(entry.provider.slug != provider and standing_of(entry, now).usable for entry in entries)
        if left <= 1:
            (alone if left else dead).append(chain.model)
    lines = [_share(provider, at)]
    if not using:
        return [*lines, "No chain uses it."]
    lines.append(f"{_names(using)} {'use' if len(using) > 1 else 'uses'} it.")
    if dead:
        lines.append(f"{_names(dead)} would have no target left.")
    if alone:
        lines.append(f"{_names(alone)} would be left with one target.")
    return lines


def _share(provider: str, at: datetime) -> str:
    recent = RequestLog.objects.filter(id__gte=uuid7_floor(at - SHARE_OF)).newest_first()
    served = list(recent.values_list("provider", flat=True)[:MOST_ROWS])
    share = round(100 * served.count(provider) / len(served)) if served else 0
    return f"It served {share} % of the last hour."


def _names(names: list[str]) -> str:
    shown = ", ".join(names[:MOST_NAMES])
    return shown if len(names) <= MOST_NAMES else f"{shown} and {len(names) - MOST_NAMES} more"
