"""Rows → routing table, in a number of queries that does not grow with the rows."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TypeVar

from resilience.core.classify import ErrorRule
from resilience.core.kinds import Kind
from resilience.core.patterns import read_pattern
from resilience.core.policy import BreakerConfig, CooldownConfig, LockoutConfig, Policy
from routing import models, pricing
from routing import table_values as values
from routing.secrets import UnusableSecretError, from_environment, resolve_api_key
from routing.tunables import TUNABLES

logger = logging.getLogger(__name__)

READS_BEFORE_GIVING_UP = 5


R = TypeVar("R", models.Connection, models.ErrorRule)


class UnsettledRowsError(Exception):
    """The rows changed under every attempt to read them."""


def compile_table(using: str = "default") -> values.RoutingTable:
    """Read every row and return the table. Read again if rows changed meanwhile, so that it is one version's whole."""
    version = read_version(using)
    for _ in range(READS_BEFORE_GIVING_UP):
        table = _compile(version, using)
        after = read_version(using)
        if after == version:
            return table
        version = after
    raise UnsettledRowsError(f"the configuration changed during each of {READS_BEFORE_GIVING_UP} reads")


def read_version(using: str = "default") -> int:
    """Return the version of the rows, 0 before the first write."""
    return models.TableVersion.objects.using(using).filter(pk=1).values_list("value", flat=True).first() or 0


def _compile(version: int, using: str) -> values.RoutingTable:
    connections = _by_provider(models.Connection.objects.using(using).order_by("priority", "slug"))
    rules = _by_provider(models.ErrorRule.objects.using(using).order_by("position", "id"))
    provider_rows = list(models.Provider.objects.using(using))
    by_id = {row.pk: _provider(row, connections[row.pk], rules[row.pk]) for row in provider_rows}
    chains = _chains(by_id, connections, using)
    return values.RoutingTable(
        version=version,
        providers=MappingProxyType({provider.slug: provider for provider in by_id.values()}),
        chains=MappingProxyType(chains),
        keys=MappingProxyType({row.key_hash: _client_key(row) for row in models.ClientKey.objects.using(using)}),
        facts=MappingProxyType(_all_facts(by_id, chains.values(), using)),
        settings=_settings(models.GatewaySettings.objects.using(using).filter(pk=1).first()),
        loaded_at=datetime.now(UTC),
    )


def _by_provider(rows: Iterable[R]) -> Mapping[int, list[R]]:
    grouped: dict[int, list[R]] = defaultdict(list)
    for row in rows:
        grouped[row.provider_id].append(row)
    return grouped


def _provider(
    row: models.Provider, connections: Iterable[models.Connection], rules: Iterable[models.ErrorRule]
) -> values.Provider:
    return values.Provider(
        slug=row.slug,
        name=row.title,
        format=row.format,
        base_url=row.base_url.rstrip("/"),
        enabled=row.enabled,
        policy=_policy(row),
        timeouts=values.Timeouts(
            connect=row.timeout_connect,
            first_token=row.timeout_first_token,
            response=row.timeout_response,
            idle=row.timeout_idle,
            total=row.timeout_total,
        ),
        retries=row.retries,
        retry_backoff=row.retry_backoff,
        stream_rescue=row.stream_rescue,
        connections=tuple(_connection(row, connection) for connection in connections),
        error_rules=tuple(_error_rule(row, rule) for rule in rules),
    )


def _policy(row: models.Provider) -> Policy:
    return Policy(
        breaker=BreakerConfig(
            failure_threshold=row.breaker_failure_threshold,
            degradation_threshold=row.breaker_degradation_threshold,
            reset_timeout=timedelta(seconds=row.breaker_reset_timeout),
            half_open_requests=row.breaker_half_open_requests,
            backoff_multiplier=row.breaker_backoff_multiplier,
            max_backoff_multiplier=row.breaker_max_backoff_multiplier,
            jitter=row.breaker_jitter,
            failure_rate=row.breaker_failure_rate,
            minimum_calls=row.breaker_minimum_calls,
            window=timedelta(seconds=row.breaker_window),
            probe_lease=timedelta(seconds=row.breaker_probe_lease),
        ),
        cooldown=CooldownConfig(
            by_kind=MappingProxyType(
                {
                    Kind(tunable.name): timedelta(seconds=getattr(row, column))
                    for column, tunable in TUNABLES.items()
                    if tunable.section == "cooldown_by_kind"
                }
            ),
            max_cooldown=timedelta(seconds=row.max_cooldown),
        ),
        lockout=LockoutConfig(
            max_attempts=row.lockout_max_attempts,
            attempt_window=timedelta(seconds=row.lockout_attempt_window),
            lockout_duration=timedelta(seconds=row.lockout_lockout_duration),
            max_lockout_duration=timedelta(seconds=row.lockout_max_lockout_duration),
        ),
    )


def _connection(provider: models.Provider, row: models.Connection) -> values.Connection:
    problem = ""
    api_key: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    try:
        api_key = resolve_api_key(row)
        headers = tuple(sorted((name.lower(), from_environment(value)) for name, value in row.headers.items()))
    except UnusableSecretError as error:
        problem = str(error)
        logger.warning(
            "connection.unusable", extra={"provider": provider.slug, "connection": row.slug, "problem": problem}
        )
    return values.Connection(
        provider=provider.slug,
        slug=row.slug,
        base_url=(row.base_url or provider.base_url).rstrip("/"),
        api_key=None if problem else api_key,
        priority=row.priority,
        weight=row.weight,
        max_concurrency=row.max_concurrency,
        headers=headers,
        enabled=row.enabled,
        problem=problem,
    )


def _error_rule(provider: models.Provider, row: models.ErrorRule) -> ErrorRule:
    name = row.name or f"rule {row.position}"
    if problem := read_pattern(row.pattern).problem:  # a row of an older release: forms and files refuse it
        logger.warning("error_rule.unusable", extra={"provider": provider.slug, "rule": name, "problem": problem})
    return ErrorRule(
        status=row.status,
        code=row.code or None,
        pattern=row.pattern or None,
        kind=Kind(row.kind),
        cooldown=None if row.cooldown is None else timedelta(seconds=row.cooldown),
        name=name,
    )


def _chains(
    providers: Mapping[int, values.Provider], connections: Mapping[int, list[models.Connection]], using: str
) -> dict[str, values.Chain]:
    slugs = {row.pk: row.slug for rows in connections.values() for row in rows}
    chains = list(models.FallbackChain.objects.using(using))
    names = {row.pk: row.model for row in chains}
    entries = defaultdict(list)
    for row in models.FallbackEntry.objects.using(using).order_by("priority", "id"):
        if row.provider_id in providers and row.chain_id in names:  # else a write came between two reads: read again
            entries[row.chain_id].append(
                values.Entry(
                    provider=providers[row.provider_id],
                    model=row.model or names[row.chain_id],
                    priority=row.priority,
                    weight=row.weight,
                    enabled=row.enabled,
                    connection=None if row.connection_id is None else slugs.get(row.connection_id, ""),
                )
            )
    return {
        row.model: values.Chain(
            model=row.model, strategy=row.strategy, enabled=row.enabled, entries=tuple(entries[row.pk])
        )
        for row in chains
    }


def _client_key(row: models.ClientKey) -> values.ClientKey:
    return values.ClientKey(
        id=row.pk,
        name=row.name,
        scopes=frozenset(row.scopes),
        models=tuple(row.models),
        requests_per_minute=row.requests_per_minute,
        enabled=row.enabled,
    )


def _all_facts(
    providers: Mapping[int, values.Provider], chains: Iterable[values.Chain], using: str
) -> dict[tuple[str, str], values.ModelFacts]:
    """Return what is known about every model that the operator or a chain names."""
    facts = {
        (providers[row.provider_id].slug, row.model): _facts(row)
        for row in models.UpstreamModel.objects.using(using)
        if row.provider_id in providers
    }
    urls = {provider.slug: provider.base_url for provider in providers.values()}
    named = ((entry.provider.slug, entry.model) for chain in chains for entry in chain.entries)
    for slug, model in {**facts, **dict.fromkeys(named)}:
        facts[slug, model] = pricing.completed(slug, urls[slug], model, facts.get((slug, model), values.UNKNOWN_MODEL))
    return facts


def _facts(row: models.UpstreamModel) -> values.ModelFacts:
    return values.ModelFacts(
        context_window=row.context_window,
        max_output_tokens=row.max_output_tokens,
        supports_tools=row.supports_tools,
        supports_vision=row.supports_vision,
        supports_prefill=row.supports_prefill,
        reasoning=row.reasoning,
        input_price=row.input_price,
        output_price=row.output_price,
    )


def _settings(row: models.GatewaySettings | None) -> values.GatewaySettings:
    if row is None:
        return values.GatewaySettings()
    return values.GatewaySettings(
        emergency=values.Emergency(
            enabled=row.emergency_enabled,
            provider=row.emergency_provider,
            model=row.emergency_model,
            max_output_tokens=row.emergency_max_output_tokens,
            skip_tool_requests=row.emergency_skip_tool_requests,
        ),
        max_attempts=row.max_attempts,
        wait_for_retry_after=row.wait_for_retry_after,
        max_cooldown_wait=row.max_cooldown_wait,
        on_content_filter=row.on_content_filter,
    )
