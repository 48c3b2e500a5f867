"""What the keys page shows, as frozen rows: never a key, only its end."""

from dataclasses import dataclass
from datetime import datetime

from omniroute_site.dashboard.board_rows import Count


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One client key, and how many requests came with it in the last hour."""

    id: int
    name: str
    hint: str
    scopes: tuple[str, ...]
    models: tuple[str, ...]
    requests_per_minute: int
    enabled: bool
    created_at: datetime
    used: Count

    @property
    def every_model(self) -> bool:
        """Whether it may use whatever there is."""
        return "*" in self.models


@dataclass(frozen=True, slots=True)
class KeyAct:
    """One thing to do to a key: its button, what the form says, and when it is of use."""

    name: str
    button: str
    submit: str
    says: str


DISABLE = KeyAct("disable", "Disable…", "Disable", "is refused with 401 within a second, until it is enabled again.")
ENABLE = KeyAct("enable", "Enable…", "Enable", "is accepted again within a second.")
DELETE = KeyAct("delete", "Delete…", "Delete", "is refused with 401 within a second, and cannot be brought back.")
KEY_ACTS = {act.name: act for act in (DISABLE, ENABLE, DELETE)}


def acts_on(row: KeyRow) -> tuple[KeyAct, ...]:
    """What can be done to a key as it is."""
    return (DISABLE if row.enabled else ENABLE, DELETE)
