"""A provider's error rules: the list in the file is the list in the rows, in the same order."""

from collections.abc import Sequence
from typing import Any

from routing.configfile.rows import is_new
from routing.configfile.schema import ErrorRuleFile
from routing.models import ErrorRule, Provider

Rule = dict[str, Any]
"""The members of ErrorRuleFile."""


def stored_rules(provider: Provider) -> list[Rule]:
    """Return the rules that the rows hold, in order."""
    if is_new(provider):
        return []
    columns = ErrorRuleFile.model_fields
    return [
        {column: getattr(rule, column) for column in columns}
        for rule in provider.error_rules.order_by("position", "id")
    ]


def replace_rules(provider: Provider, rules: Sequence[Rule]) -> None:
    """Make the rows hold these."""
    provider.error_rules.all().delete()
    ErrorRule.objects.bulk_create(
        ErrorRule(provider=provider, position=position, **rule) for position, rule in enumerate(rules)
    )
