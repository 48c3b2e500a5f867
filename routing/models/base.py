"""What every row of the configuration has in common."""

from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models, router
from django.db.models import Q

from routing.querysets import TableQuerySet, touching
from routing.tunables import TUNABLES

SLUG_PATTERN = r"[a-z0-9-]+\Z"
validate_slug = RegexValidator(rf"\A{SLUG_PATTERN}", "Only lower-case letters, digits and hyphens.")
MAX_PRIORITY = 1_000_000
MIN_WEIGHT, MAX_WEIGHT = 0.001, 1_000_000.0

TableManager = models.Manager.from_queryset(TableQuerySet)


class TableModel(models.Model):
    """A row the routing table is compiled from. `base_manager_name` leads `save()` through TableQuerySet too."""

    objects = TableManager()

    class Meta:
        abstract = True
        base_manager_name = "objects"

    def delete(self, using: Any = None, keep_parents: bool = False) -> tuple[int, dict[str, int]]:  # noqa: FBT001, FBT002 (Django's signature)
        """Delete with cascades and touch the table's version: the one write that goes around the QuerySet."""
        alias = using or router.db_for_write(type(self), instance=self)
        with touching(alias):
            return super().delete(using=alias, keep_parents=keep_parents)


def tuned_number(column: str) -> Any:
    """Return the column for one entry of TUNABLES."""
    tunable = TUNABLES[column]
    field = models.PositiveIntegerField if tunable.whole else models.FloatField
    optional = tunable.default is None
    return field(
        default=tunable.default,
        null=optional,
        blank=optional,
        validators=[MinValueValidator(tunable.low), MaxValueValidator(tunable.high)],
    )


def within(model: str, column: str, low: float, high: float) -> models.CheckConstraint:
    """Return a constraint that holds `column` between two values, both allowed."""
    return models.CheckConstraint(
        condition=Q(**{f"{column}__gte": low, f"{column}__lte": high}),
        name=f"{model}_{column}",
        violation_error_message=f"{column} must be from {low:g} to {high:g}.",
    )


def one_of(model: str, column: str, values: list[str]) -> models.CheckConstraint:
    """Return a constraint that holds `column` to a list of values."""
    return models.CheckConstraint(
        condition=Q(**{f"{column}__in": values}),
        name=f"{model}_{column}",
        violation_error_message=f"{column} must be one of {', '.join(values)}.",
    )
