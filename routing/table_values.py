"""The routing table as values: what the request path reads instead of rows. Immutable; compared and swapped whole."""

from __future__ import annotations  # ErrorRule is named, never built, here

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING

from resilience.core.policy import DEFAULT_POLICY, Policy

if TYPE_CHECKING:
    from resilience.core.classify import ErrorRule


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The deadlines of a call, in seconds. `response` is to the last byte of an unstreamed answer."""

    connect: float = 5.0
    first_token: float = 10.0
    response: float = 300.0
    idle: float = 20.0
    total: float = 900.0


@dataclass(frozen=True, slots=True)
class Connection:
    """One account at a provider. `api_key` None without a `problem` means that the provider wants none."""

    provider: str
    slug: str
    base_url: str
    """Where its calls go: its own, else the provider's; without a trailing slash."""
    api_key: str | None = field(default=None, repr=False)
    priority: int = 0
    weight: float = 1.0
    max_concurrency: int = 0
    """0: no limit."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    enabled: bool = True
    problem: str = ""
    """Why it cannot be used although it is enabled, in words for the operator: its key cannot be had."""

    @property
    def usable(self) -> bool:
        """Whether calls may go through it at all."""
        return self.enabled and not self.problem


@dataclass(frozen=True, slots=True)
class Provider:
    """Who is called, with everything tuned for it. `connections` holds all, by priority and slug."""

    slug: str
    name: str
    format: str
    base_url: str
    enabled: bool = True
    policy: Policy = DEFAULT_POLICY
    timeouts: Timeouts = Timeouts()
    retries: int = 1
    retry_backoff: float = 0.25
    """Seconds before the first retry, doubled per retry."""
    stream_rescue: str = "auto"
    connections: tuple[Connection, ...] = ()
    error_rules: tuple[ErrorRule, ...] = ()

    def connection(self, slug: str) -> Connection | None:
        """Return one connection by its slug."""
        return next((connection for connection in self.connections if connection.slug == slug), None)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known about a provider's model; None is unknown. Prices are USD per million tokens."""

    context_window: int | None = None
    max_output_tokens: int | None = None
    supports_tools: bool | None = None
    supports_vision: bool | None = None
    supports_prefill: bool | None = None
    reasoning: bool | None = None
    input_price: Decimal | None = None
    output_price: Decimal | None = None
    cached_price: Decimal | None = None
    """Of prompt tokens that came from the provider's cache; None: as `input_price`."""
    written_price: Decimal | None = None
    """Of prompt tokens that were written to the provider's cache; None: as `input_price`."""


UNKNOWN_MODEL = ModelFacts()
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a chain. `connection` is the slug of the pinned one."""

    provider: Provider
    model: str
    priority: int = 0
    weight: float = 1.0
    enabled: bool = True
    connection: str | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """The entries behind a requested model, by priority."""

    model: str
    strategy: str = "priority"
    enabled: bool = True
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class ClientKey:
    """Who may call us, and for what. `models` are fnmatch patterns."""

    id: int
    name: str
    scopes: frozenset[str] = frozenset({"chat"})
    models: tuple[str, ...] = ("*",)
    requests_per_minute: int = 0
    """0: no limit."""
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Emergency:
    """The last resort of an exhausted chain."""

    enabled: bool = False
    provider: str = ""
    model: str = ""
    max_output_tokens: int = 1024
    skip_tool_requests: bool = True


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """What holds for every request. Waits are seconds."""

    emergency: Emergency = Emergency()
    max_attempts: int = 8
    wait_for_retry_after: float = 3.0
    max_cooldown_wait: float = 0.0
    on_content_filter: str = "error"


@dataclass(frozen=True, slots=True)
class RoutingTable:
    """Everything a request is routed by, as of one version of the rows."""

    version: int = 0
    """A stamp that only ever differs, not a count."""
    providers: Mapping[str, Provider] = field(default_factory=lambda: MappingProxyType({}))
    chains: Mapping[str, Chain] = field(default_factory=lambda: MappingProxyType({}))
    keys: Mapping[str, ClientKey] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    """By the SHA-256 of the key, in hex."""
    facts: Mapping[tuple[str, str], ModelFacts] = field(default_factory=lambda: MappingProxyType({}))
    settings: GatewaySettings = GatewaySettings()
    loaded_at: datetime = NEVER

    def model_facts(self, provider: str, model: str) -> ModelFacts:
        """Return what is known about a model, all unknown without a row."""
        return self.facts.get((provider, model), UNKNOWN_MODEL)
