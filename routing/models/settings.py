"""What holds for every request."""

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from routing.models.base import TableModel, one_of, within
from routing.models.provider import Provider


class OnContentFilter(models.TextChoices):
    """What a provider's content filter means for the request."""

    ERROR = "error", "Answer with the error"
    FALLBACK = "fallback", "Try the next target"


class GatewaySettings(TableModel):
    """The single row of settings that hold for every request."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    emergency_enabled = models.BooleanField(default=False)
    emergency_provider = models.CharField(max_length=64, blank=True)
    emergency_model = models.CharField(max_length=200, blank=True)
    emergency_max_output_tokens = models.PositiveIntegerField(
        default=1024, validators=[MinValueValidator(1), MaxValueValidator(10_000_000)]
    )
    emergency_skip_tool_requests = models.BooleanField(default=True)
    max_attempts = models.PositiveIntegerField(default=8, validators=[MinValueValidator(1), MaxValueValidator(100)])
    wait_for_retry_after = models.FloatField(default=3, validators=[MinValueValidator(0), MaxValueValidator(3600)])
    max_cooldown_wait = models.FloatField(default=0, validators=[MinValueValidator(0), MaxValueValidator(3600)])
    on_content_filter = models.CharField(max_length=16, choices=OnContentFilter.choices, default=OnContentFilter.ERROR)

    class Meta(TableModel.Meta):
        verbose_name_plural = "gateway settings"
        constraints = (
            models.CheckConstraint(condition=Q(pk=1), name="gatewaysettings_single"),
            models.CheckConstraint(
                condition=Q(emergency_enabled=False) | (~Q(emergency_provider="") & ~Q(emergency_model="")),
                name="gatewaysettings_emergency",
                violation_error_message="The emergency fallback needs a provider and a model.",
            ),
            one_of("gatewaysettings", "on_content_filter", OnContentFilter.values),
            within("gatewaysettings", "emergency_max_output_tokens", 1, 10_000_000),
            within("gatewaysettings", "max_attempts", 1, 100),
            within("gatewaysettings", "wait_for_retry_after", 0, 3600),
            within("gatewaysettings", "max_cooldown_wait", 0, 3600),
        )

    def __str__(self) -> str:
        return "Gateway settings"

    def clean(self) -> None:
        """Refuse an emergency fallback to nobody."""
        known = Provider.objects.filter(slug=self.emergency_provider).exists()
        if self.emergency_enabled and not known:
            raise ValidationError({"emergency_provider": "There is no provider of this slug."})


class TableVersion(models.Model):
    """The single row every write of the configuration touches; each process compares it once a second."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    value = models.BigIntegerField()

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(pk=1), name="tableversion_single"),)

    def __str__(self) -> str:
        return str(self.value)
