"""What apps ask for: chains and their ordered entries."""

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from routing.models.base import MAX_PRIORITY, MAX_WEIGHT, MIN_WEIGHT, TableModel, one_of, within
from routing.models.provider import Connection, Provider


class Strategy(models.TextChoices):
    """How a chain orders its entries within one priority."""

    PRIORITY = "priority", "Priority"
    WEIGHTED = "weighted", "Weighted"
    ROUND_ROBIN = "round_robin", "Round robin"
    RANDOM = "random", "Random"
    LEAST_USED = "least_used", "Least used"
    FASTEST = "fastest", "Fastest"
    CHEAPEST = "cheapest", "Cheapest"


class FallbackChain(TableModel):
    """The ordered entries behind one requested model."""

    model = models.CharField(max_length=200, unique=True)
    strategy = models.CharField(max_length=16, choices=Strategy.choices, default=Strategy.PRIORITY)
    enabled = models.BooleanField(default=True)
    version = models.PositiveIntegerField(
        default=0, editable=False
    )  # raised by pages that edit it, to notice each other

    class Meta(TableModel.Meta):
        ordering = ("model",)
        constraints = (
            one_of("fallbackchain", "strategy", Strategy.values),
            models.CheckConstraint(condition=~models.Q(model=""), name="fallbackchain_model"),
        )

    def __str__(self) -> str:
        return self.model


class FallbackEntry(TableModel):
    """One entry: a provider, the model asked of it (blank: the chain's own name), and maybe one pinned connection."""

    chain = models.ForeignKey(FallbackChain, on_delete=models.CASCADE, related_name="entries")
    provider = models.ForeignKey(Provider, on_delete=models.PROTECT, related_name="entries")
    model = models.CharField(max_length=200, blank=True, help_text="Blank: the chain's own name.")
    connection = models.ForeignKey(
        Connection, on_delete=models.PROTECT, null=True, blank=True, related_name="entries",
        help_text="Blank: any connection of the provider.",
    )  # fmt: skip
    priority = models.PositiveIntegerField(default=0, validators=[MaxValueValidator(MAX_PRIORITY)])
    weight = models.FloatField(default=1, validators=[MinValueValidator(MIN_WEIGHT), MaxValueValidator(MAX_WEIGHT)])
    enabled = models.BooleanField(default=True)

    class Meta(TableModel.Meta):
        ordering = ("chain", "priority", "id")
        verbose_name_plural = "fallback entries"
        # none on (chain, priority): SQLite cannot defer it, and swapping two rows would fail
        constraints = (
            models.UniqueConstraint(fields=("chain", "provider", "model", "connection"), name="fallbackentry_unique"),
            models.UniqueConstraint(
                fields=("chain", "provider", "model"),
                condition=models.Q(connection=None),
                name="fallbackentry_unique_unpinned",
            ),
            within("fallbackentry", "priority", 0, MAX_PRIORITY),
            within("fallbackentry", "weight", MIN_WEIGHT, MAX_WEIGHT),
        )

    def __str__(self) -> str:
        pin = f" by {self.connection.slug}" if self.connection else ""
        return f"{self.provider.slug}/{self.upstream_model}{pin}"

    @property
    def upstream_model(self) -> str:
        """The model asked of the provider."""
        return self.model or self.chain.model

    def clean(self) -> None:
        """Refuse a pin to another provider's connection."""
        if self.connection and self.connection.provider_id != self.provider_id:
            raise ValidationError({"connection": "This connection belongs to another provider."})
