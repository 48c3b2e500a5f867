"""Providers with what was set for them and how they are."""

from collections import defaultdict
from collections.abc import Container, Iterator
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db.models import Prefetch

from omniroute_site.dashboard.provider_rows import (
    Account,
    Fleet,
    FleetRow,
    ProviderPage,
    RuleRow,
    Setting,
    SettingGroup,
    UnmatchedRow,
)
from omniroute_site.dashboard.rows import Circuit
from omniroute_site.dashboard.selectors.board import circuit_of
from omniroute_site.dashboard.selectors.events import last_change
from omniroute_site.dashboard.selectors.state import read_now
from omniroute_site.dashboard.tunable_words import SECTIONS, WORDS, file_name, section_of, shown
from resilience.core.patterns import read_pattern
from routing.models import Connection, ErrorRule, Provider, StreamRescue, UnmatchedError
from routing.tunables import TUNABLES

MOST_UNMATCHED = 50


def read_fleet(at: datetime) -> Fleet:
    """Every provider as it is at `at`."""
    now = read_now(at)
    providers = sorted(now.table.providers.values(), key=lambda provider: provider.slug)
    return Fleet(tuple(FleetRow(circuit_of(each, now, {}, ()), each.base_url) for each in providers))


def read_provider(slug: str, at: datetime) -> ProviderPage | None:
    """One provider, None if there is no such one."""
    ordered = Connection.objects.order_by("priority", "slug")
    row = Provider.objects.prefetch_related(Prefetch("connections", ordered)).filter(slug=slug).first()
    now = read_now(at)
    if row is None or slug not in now.table.providers:
        return None
    last = last_change(f"provider {slug}", slug)
    circuit = circuit_of(now.table.providers[slug], now, {}, ())
    return ProviderPage(
        circuit=circuit,
        base_url=row.base_url,
        accounts=tuple(_accounts(row, circuit)),
        rules=tuple(
            _rule(slug, number, rule) for number, rule in enumerate(row.error_rules.order_by("position", "id"))
        ),
        groups=_groups(row),
        changed_at=last.at if last else None,
        changed_by=last.actor if last else "",
    )


def read_rules() -> dict[str, list[RuleRow]]:
    """Every provider's rules, those without any included."""
    found: dict[str, list[RuleRow]] = {slug: [] for slug in Provider.objects.values_list("slug", flat=True)}
    for rule in ErrorRule.objects.select_related("provider").order_by("provider__slug", "position", "id"):
        rules = found.setdefault(rule.provider.slug, [])
        rules.append(_rule(rule.provider.slug, len(rules), rule))
    return found


def read_unmatched(providers: Container[str]) -> tuple[UnmatchedRow, ...]:
    """The errors nobody knows that came last; a rule can be begun for those of `providers`."""
    return tuple(
        UnmatchedRow(
            provider=error.provider,
            status=error.status,
            code=error.code,
            example=error.example,
            kind=error.kind,
            count=error.count,
            first_seen_at=error.first_seen_at,
            last_seen_at=error.last_seen_at,
            rule=_rule_query(error) if error.shape and error.provider in providers else "",
        )
        for error in UnmatchedError.objects.latest_first()[:MOST_UNMATCHED]
    )


def _rule_query(error: UnmatchedError) -> str:
    """What a new rule begins with: what these errors have in common, and what they are taken for until now."""
    return urlencode({name: value for name, value in error.rule_fields.items() if value} | {"kind": error.kind})


def _accounts(provider: Provider, circuit: Circuit) -> Iterator[Account]:
    rows = {connection.slug: connection for connection in circuit.connections}
    for connection in provider.connections.all():
        if connection.slug in rows:  # else it was added between two reads
            yield Account(
                row=rows[connection.slug],
                key=connection.shown_key,
                base_url=connection.base_url,
                priority=connection.priority,
                weight=connection.weight,
                max_concurrency=connection.max_concurrency,
                headers=tuple(sorted(connection.headers)),
            )


def _rule(provider: str, number: int, rule: ErrorRule) -> RuleRow:
    return RuleRow(
        provider=provider,
        number=number,
        name=rule.name,
        status=rule.status,
        code=rule.code,
        pattern=rule.pattern,
        kind=rule.kind,
        cooldown=None if rule.cooldown is None else timedelta(seconds=rule.cooldown),
        problem=read_pattern(rule.pattern).problem,
    )


def _groups(provider: Provider) -> tuple[SettingGroup, ...]:
    settings: dict[str, list[Setting]] = defaultdict(list)
    for column, tunable in TUNABLES.items():
        words, value = WORDS[column], getattr(provider, column)
        settings[section_of(column)].append(
            Setting(words.label, file_name(tunable), shown(value, words.unit), value != tunable.default)
        )
    rescue = StreamRescue(provider.stream_rescue)
    settings[""].append(
        Setting("When a stream dies", "stream_rescue", rescue.label.lower(), rescue is not StreamRescue.AUTO)
    )
    return tuple(SettingGroup(*SECTIONS[section], tuple(settings[section])) for section in SECTIONS)
