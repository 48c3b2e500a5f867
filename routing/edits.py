"""What people do to providers, connections and error rules: checked, on what they have seen, with who and why.

    form ──schema──► section ──stamp as seen?──► rows ──► event with actor and reason      (one transaction)

The sections and their checks are the configuration file's. A stamp is a digest of the rows that a form was filled
from: whoever else writes them, the file and the admin included, makes it differ, and nothing is overwritten unseen.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2s

from django.db import DEFAULT_DB_ALIAS, models

from resilience import actions
from resilience.core.events import ConfigChanged
from routing.configfile.plan import Change, Plan
from routing.configfile.problems import ConfigFileError, Problem
from routing.configfile.references import contradictions, unstorable
from routing.configfile.rows import RowWriter
from routing.configfile.rules import Rule, replace_rules, stored_rules
from routing.configfile.schema import ConnectionFile, ErrorRuleFile, ProviderFile
from routing.configfile.secrets import connection_columns
from routing.models import Connection, Provider
from routing.querysets import touching

NEW = ""
"""The stamp of what is to be made: nothing by its name must be there."""


class ChangedMeanwhileError(Exception):
    """The rows are not what the editor has seen; nothing was changed."""


def stamp_of(*rows: models.Model) -> str:
    """A digest of all columns of these rows, NEW for none."""
    if not rows:
        return NEW
    # the key's cipher text is among them, so that a new key counts as a change; a digest does not give it away
    values = [[getattr(row, field.attname) for field in row._meta.concrete_fields] for row in rows]  # noqa: SLF001 (documented API)
    return blake2s(repr(values).encode(), digest_size=12).hexdigest()


def rules_stamp(provider: Provider) -> str:
    """The stamp of a provider's rules, taken together."""
    return stamp_of(*provider.error_rules.order_by("position", "id"))


@contextmanager
def _edit(actor: str, reason: str) -> Iterator[Plan]:
    """One transaction, whose changes are logged as events. Editors queue up: a stamp that was right stays right."""
    with touching(DEFAULT_DB_ALIAS):
        plan = Plan()
        yield plan
        for change in plan.changes:
            actions.configured(_event(change), actor=actor, reason=reason)


def _event(change: Change) -> ConfigChanged:
    _sort, _space, name = change.what.partition(" ")
    provider, _slash, connection = name.partition("/")
    return ConfigChanged(change.what, ", ".join(change.details) or f"{change.action}d", provider, connection)


def save_provider(said: ProviderFile, seen: str, *, actor: str, reason: str) -> Plan:
    """Make or change a provider and the connections it comes with; its rules stay.

    Raises ConfigFileError, ChangedMeanwhileError, or ValueError without a reason.
    """
    mistakes = [Problem(message, path) for path, message in contradictions(said)]
    for index, connection in enumerate(said.connections):
        mistakes += [Problem(message, ("connections", index, *path)) for path, message in unstorable(connection)]
    if mistakes:
        raise ConfigFileError(mistakes)
    with _edit(actor, reason) as plan:
        found = Provider.objects.filter(slug=said.slug).first()
        if found and seen == NEW:
            raise ConfigFileError([Problem("is taken: there is a provider of that name", ("slug",))])
        _must_be_as_seen(found, seen)
        writer = RowWriter(plan)
        row = writer.put(f"provider {said.slug}", found or Provider(slug=said.slug), said.columns())
        for connection in said.connections:
            _put_connection(writer, row, connection, NEW)
    return plan


def save_connection(provider: str, said: ConnectionFile, seen: str, *, actor: str, reason: str) -> Plan:
    """Make or change a connection. Raises as save_provider, and Provider.DoesNotExist."""
    mistakes = [Problem(message, path) for path, message in unstorable(said)]
    if mistakes:
        raise ConfigFileError(mistakes)
    with _edit(actor, reason) as plan:
        _put_connection(RowWriter(plan), Provider.objects.get(slug=provider), said, seen)
    return plan


def _put_connection(writer: RowWriter, provider: Provider, said: ConnectionFile, seen: str) -> None:
    found = provider.connections.filter(slug=said.slug).first()
    if found and seen == NEW:
        raise ConfigFileError([Problem(f"is taken: {provider.slug} has a connection of that name", ("slug",))])
    _must_be_as_seen(found, seen)
    row = found or Connection(provider=provider, slug=said.slug)
    row.provider = provider
    writer.put(f"connection {provider.slug}/{said.slug}", row, connection_columns(said, row))


def switch_provider(slug: str, *, enabled: bool, actor: str, reason: str) -> Plan:
    """Enable or disable a provider. Raises Provider.DoesNotExist, or ValueError without a reason."""
    with _edit(actor, reason) as plan:
        RowWriter(plan).put(f"provider {slug}", Provider.objects.get(slug=slug), {"enabled": enabled})
    return plan


def switch_connection(provider: str, slug: str, *, enabled: bool, actor: str, reason: str) -> Plan:
    """Enable or disable a connection. Raises Connection.DoesNotExist, or ValueError without a reason."""
    with _edit(actor, reason) as plan:
        row = Connection.objects.select_related("provider").get(provider__slug=provider, slug=slug)
        RowWriter(plan).put(f"connection {row}", row, {"enabled": enabled})
    return plan


Arrange = Callable[[list[Rule]], str]
"""Changes a list of rules in place and says what it did. Raises IndexError for a rule that is not there."""


def edit_rules(provider: str, arrange: Arrange, seen: str | None, *, actor: str, reason: str) -> Plan:
    """Change a provider's list of error rules; seen None: whatever they are now.

    Raises ChangedMeanwhileError, IndexError, Provider.DoesNotExist, or ValueError without a reason.
    """
    with _edit(actor, reason) as plan:
        row = Provider.objects.get(slug=provider)
        if seen is not None and rules_stamp(row) != seen:
            raise ChangedMeanwhileError
        rules = stored_rules(row)
        done = arrange(rules)
        if rules != stored_rules(row):
            replace_rules(row, rules)
            plan.add("change", f"rules {provider}", (done,))
    return plan


def rule_added(said: ErrorRuleFile) -> Arrange:
    """At the end."""

    def arrange(rules: list[Rule]) -> str:
        rules.append(said.model_dump())
        return f"error rule added: {_spoken(rules[-1])}"

    return arrange


def rule_replaced(number: int, said: ErrorRuleFile) -> Arrange:
    """In its place."""

    def arrange(rules: list[Rule]) -> str:
        before, rules[number] = rules[number], said.model_dump()
        return f"error rule {_spoken(before)} is now {_spoken(rules[number])}"

    return arrange


def rule_removed(number: int) -> Arrange:
    """The others move up."""
    return lambda rules: f"error rule removed: {_spoken(rules.pop(number))}"


def rule_moved(number: int, by: int) -> Arrange:
    """Past its neighbour; the one at the end stays there."""

    def arrange(rules: list[Rule]) -> str:
        rule = rules.pop(number)
        rules.insert(max(0, number + by), rule)
        return f"error rule {_spoken(rule)} moved {'up' if by < 0 else 'down'}"

    return arrange


def _spoken(rule: Rule) -> str:
    """Say it in a line: `status 529 → overloaded`."""
    parts = [f"{part} {rule[part]}" for part in ("status", "code", "pattern") if rule[part] not in (None, "")]
    return f"{' and '.join(parts)} → {rule['kind']}"


def _must_be_as_seen(found: models.Model | None, seen: str) -> None:
    if stamp_of(*([found] if found else [])) != seen:
        raise ChangedMeanwhileError
