"""What the pages about providers show, as frozen rows (see `rows`). No row holds a key, only what tells keys apart."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from omniroute_site.dashboard.rows import Circuit, ConnectionRow


@dataclass(frozen=True, slots=True)
class FleetRow:
    """A provider in the list."""

    circuit: Circuit
    base_url: str

    @property
    def key(self) -> str:
        """The element id it is known by."""
        return self.circuit.key


@dataclass(frozen=True, slots=True)
class Fleet:
    """Every provider, by name: a list one looks things up in keeps its order."""

    rows: tuple[FleetRow, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """A connection on its provider's page. `key` is its end, `env:NAME`, or empty for none."""

    row: ConnectionRow
    key: str
    base_url: str
    priority: int
    weight: float
    max_concurrency: int
    headers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleRow:
    """An operator's rule for reading a provider's errors; `number` is its place, from 0.

    `problem` is why its pattern cannot be searched: such a rule never fires.
    """

    provider: str
    number: int
    name: str
    status: int | None
    code: str
    pattern: str
    kind: str
    cooldown: timedelta | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class UnmatchedRow:
    """A provider's errors of one shape that no rule, code or text told. `rule`: the query that begins a rule with them."""

    provider: str
    status: int | None
    code: str
    example: str
    kind: str
    count: int
    first_seen_at: datetime
    last_seen_at: datetime
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """One number, and whether somebody chose it."""

    label: str
    name: str
    value: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class SettingGroup:
    """The numbers of one layer."""

    title: str
    purpose: str
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class ProviderPage:
    """A provider with everything that was set for it, as of one moment."""

    circuit: Circuit
    base_url: str
    accounts: tuple[Account, ...]
    rules: tuple[RuleRow, ...]
    groups: tuple[SettingGroup, ...]
    changed_at: datetime | None = None
    changed_by: str = ""

    @property
    def chosen(self) -> int:
        """How many numbers are not the default."""
        return sum(setting.chosen for group in self.groups for setting in group.settings)
