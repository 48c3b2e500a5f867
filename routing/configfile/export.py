"""Rows → the same YAML that `apply_file` takes. Literal secrets are left out: applied again, the stored ones stay."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import yaml

from routing.configfile.document import BOOL, FLOAT, INT
from routing.configfile.secrets import exported_api_key
from routing.configfile.values import plain
from routing.models import (
    ClientKey,
    Connection,
    ErrorRule,
    FallbackChain,
    FallbackEntry,
    GatewaySettings,
    Provider,
    UpstreamModel,
)
from routing.tunables import TUNABLES


class _Leaf(dict[str, Any]):
    """A mapping that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """Writes plain only what both YAML 1.1 and our reader take for a text."""


_Dumper.add_representer(
    _Leaf,
    lambda dumper, value: dumper.represent_mapping("tag:yaml.org,2002:map", value.items(), flow_style=True),
)
for _resolver in (BOOL, INT, FLOAT):
    _Dumper.add_implicit_resolver(*_resolver)


def export_file() -> str:
    """Return the whole configuration as YAML."""
    document = {
        "settings": _settings(GatewaySettings.objects.filter(pk=1).first() or GatewaySettings()),
        "providers": [
            _provider(row) for row in Provider.objects.prefetch_related("connections", "error_rules").order_by("slug")
        ],
        "models": [
            _model(row) for row in UpstreamModel.objects.select_related("provider").order_by("provider__slug", "model")
        ],
        "chains": [
            _chain(row)
            for row in FallbackChain.objects.prefetch_related("entries__provider", "entries__connection").order_by(
                "model"
            )
        ],
        "keys": [_key(row) for row in ClientKey.objects.order_by("name")],
    }
    filled = {name: section for name, section in document.items() if section}
    return yaml.dump(filled, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def _settings(row: GatewaySettings) -> dict[str, Any]:
    return {
        "emergency": _leaf(
            {
                "enabled": row.emergency_enabled,
                "provider": row.emergency_provider,
                "model": row.emergency_model,
                "max_output_tokens": row.emergency_max_output_tokens,
                "skip_tool_requests": row.emergency_skip_tool_requests,
            }
        ),
        "max_attempts": row.max_attempts,
        "wait_for_retry_after": _written(row.wait_for_retry_after),
        "max_cooldown_wait": _written(row.max_cooldown_wait),
        "on_content_filter": str(
            row.on_content_filter
        ),  # a default is the enumeration's member, which YAML does not know
    }


def _provider(row: Provider) -> dict[str, Any]:
    rules = [_rule(rule) for rule in sorted(row.error_rules.all(), key=lambda rule: (rule.position, rule.pk))]
    return {
        "slug": row.slug,
        **({"name": row.name} if row.name else {}),
        "format": row.format,
        "base_url": row.base_url,
        "enabled": row.enabled,
        "breaker": _tuned(row, "breaker"),
        "cooldown_by_kind": _tuned(row, "cooldown_by_kind"),
        "lockout": _tuned(row, "lockout"),
        "timeouts": _tuned(row, "timeouts"),
        **_tuned(row, ""),
        "stream_rescue": row.stream_rescue,
        **({"error_rules": rules} if rules else {}),
        "connections": [_connection(connection) for connection in row.connections.all()],
    }


def _tuned(row: Provider, section: str) -> _Leaf:
    tunables = [(column, t) for column, t in TUNABLES.items() if t.section == section]
    return _leaf({t.name: getattr(row, column) for column, t in tunables if getattr(row, column) is not None})


def _connection(row: Connection) -> _Leaf:
    return _leaf(
        {
            "slug": row.slug,
            **exported_api_key(row),
            **({"base_url": row.base_url} if row.base_url else {}),
            "enabled": row.enabled,
            "priority": row.priority,
            "weight": row.weight,
            "max_concurrency": row.max_concurrency,
            **({"headers": dict(sorted(row.headers.items()))} if row.headers else {}),
        }
    )


def _rule(row: ErrorRule) -> _Leaf:
    return _leaf(_said(row, ("name", "status", "code", "pattern", "kind", "cooldown")))


def _model(row: UpstreamModel) -> _Leaf:
    facts = (
        "context_window",
        "max_output_tokens",
        "supports_tools",
        "supports_vision",
        "supports_prefill",
        "reasoning",
        "input_price",
        "output_price",
    )
    return _leaf({"provider": row.provider.slug, "model": row.model, **_said(row, facts)})


def _chain(row: FallbackChain) -> dict[str, Any]:
    return {
        "model": row.model,
        "strategy": row.strategy,
        "enabled": row.enabled,
        "entries": [_entry(entry) for entry in row.entries.all()],
    }


def _entry(row: FallbackEntry) -> _Leaf:
    return _leaf(
        {
            "provider": row.provider.slug,
            **({"model": row.model} if row.model else {}),
            **({"connection": row.connection.slug} if row.connection else {}),
            "priority": row.priority,
            "weight": row.weight,
            "enabled": row.enabled,
        }
    )


def _key(row: ClientKey) -> _Leaf:
    return _leaf(_said(row, ("name", "scopes", "models", "requests_per_minute", "enabled")))


def _said(row: Any, columns: Iterable[str]) -> dict[str, Any]:
    """Return the columns that hold something."""
    return {column: getattr(row, column) for column in columns if getattr(row, column) not in (None, "")}


def _leaf(members: dict[str, Any]) -> _Leaf:
    return _Leaf({name: _written(value) for name, value in members.items()})


def _written(value: Any) -> Any:
    return plain(float(value)) if isinstance(value, float | Decimal) else value
