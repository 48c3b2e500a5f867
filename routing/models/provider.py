"""Who is called: providers, their connections, facts about their models, and rules for reading their errors."""

from __future__ import annotations  # the generic field types below exist for the type checker only

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from resilience.core.kinds import RULES, BreakerEffect
from resilience.core.patterns import LONGEST_PATTERN
from routing.http_values import validate_base_url, validate_headers, validate_pattern
from routing.models.base import (
    MAX_PRIORITY,
    MAX_WEIGHT,
    MIN_WEIGHT,
    TableModel,
    one_of,
    tuned_number,
    validate_slug,
    within,
)
from routing.tunables import LONGEST, TUNABLES


class Format(models.TextChoices):
    """The wire format a provider speaks."""

    OPENAI = "openai", "OpenAI"
    ANTHROPIC = "anthropic", "Anthropic"
    GEMINI = "gemini", "Gemini"
    AZURE = "azure", "Azure OpenAI"


class StreamRescue(models.TextChoices):
    """What happens when a stream dies after its first content."""

    AUTO = "auto", "Continue on the next target"
    OFF = "off", "End with an error"


class Provider(TableModel):
    """Who is called: one base URL, one wire format, one breaker."""

    slug = models.CharField(max_length=64, unique=True, validators=[validate_slug])
    name = models.CharField(max_length=200, blank=True)
    format = models.CharField(max_length=16, choices=Format.choices, default=Format.OPENAI)
    base_url = models.CharField(max_length=500, validators=[validate_base_url])
    enabled = models.BooleanField(default=True)

    breaker_failure_threshold: models.PositiveIntegerField[int, int] = tuned_number("breaker_failure_threshold")
    breaker_degradation_threshold: models.PositiveIntegerField[int | None, int | None] = tuned_number(
        "breaker_degradation_threshold"
    )
    breaker_reset_timeout: models.FloatField[float, float] = tuned_number("breaker_reset_timeout")
    breaker_half_open_requests: models.PositiveIntegerField[int, int] = tuned_number("breaker_half_open_requests")
    breaker_backoff_multiplier: models.FloatField[float, float] = tuned_number("breaker_backoff_multiplier")
    breaker_max_backoff_multiplier: models.FloatField[float, float] = tuned_number("breaker_max_backoff_multiplier")
    breaker_jitter: models.FloatField[float, float] = tuned_number("breaker_jitter")
    breaker_failure_rate: models.FloatField[float, float] = tuned_number("breaker_failure_rate")
    breaker_minimum_calls: models.PositiveIntegerField[int, int] = tuned_number("breaker_minimum_calls")
    breaker_window: models.FloatField[float, float] = tuned_number("breaker_window")
    breaker_probe_lease: models.FloatField[float, float] = tuned_number("breaker_probe_lease")
    cooldown_rate_limit: models.FloatField[float, float] = tuned_number("cooldown_rate_limit")
    cooldown_quota_exhausted: models.FloatField[float, float] = tuned_number("cooldown_quota_exhausted")
    cooldown_auth: models.FloatField[float, float] = tuned_number("cooldown_auth")
    cooldown_transient: models.FloatField[float, float] = tuned_number("cooldown_transient")
    cooldown_overloaded: models.FloatField[float, float] = tuned_number("cooldown_overloaded")
    cooldown_timeout: models.FloatField[float, float] = tuned_number("cooldown_timeout")
    max_cooldown: models.FloatField[float, float] = tuned_number("max_cooldown")
    lockout_max_attempts: models.PositiveIntegerField[int, int] = tuned_number("lockout_max_attempts")
    lockout_attempt_window: models.FloatField[float, float] = tuned_number("lockout_attempt_window")
    lockout_lockout_duration: models.FloatField[float, float] = tuned_number("lockout_lockout_duration")
    lockout_max_lockout_duration: models.FloatField[float, float] = tuned_number("lockout_max_lockout_duration")
    timeout_connect: models.FloatField[float, float] = tuned_number("timeout_connect")
    timeout_first_token: models.FloatField[float, float] = tuned_number("timeout_first_token")
    timeout_response: models.FloatField[float, float] = tuned_number("timeout_response")
    timeout_idle: models.FloatField[float, float] = tuned_number("timeout_idle")
    timeout_total: models.FloatField[float, float] = tuned_number("timeout_total")
    retries: models.PositiveIntegerField[int, int] = tuned_number("retries")
    retry_backoff: models.FloatField[float, float] = tuned_number("retry_backoff")
    stream_rescue = models.CharField(max_length=8, choices=StreamRescue.choices, default=StreamRescue.AUTO)

    class Meta(TableModel.Meta):
        ordering = ("slug",)
        constraints = (
            models.CheckConstraint(condition=Q(slug__regex=r"^[a-z0-9-]+$"), name="provider_slug"),
            one_of("provider", "format", Format.values),
            one_of("provider", "stream_rescue", StreamRescue.values),
            *(within("provider", t.column, t.low, t.high) for t in TUNABLES.values()),
        )

    def __str__(self) -> str:
        return self.slug

    def clean(self) -> None:
        """Refuse thresholds that contradict each other."""
        degraded = self.breaker_degradation_threshold
        if degraded is not None and degraded > (self.breaker_failure_threshold or 0):
            raise ValidationError({"breaker_degradation_threshold": "Must not be above the failure threshold."})
        if (self.lockout_lockout_duration or 0) > (self.lockout_max_lockout_duration or 0):
            raise ValidationError({"lockout_max_lockout_duration": "Must not be below the lockout duration."})

    @property
    def title(self) -> str:
        """What people read: the name, else the slug."""
        return self.name or self.slug


class Connection(TableModel):
    """One account at a provider. `api_key` is stored encrypted, or as the name of an environment variable."""

    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="connections")
    slug = models.CharField(max_length=64, validators=[validate_slug])
    api_key_encrypted = models.TextField(blank=True, editable=False)
    api_key_env = models.CharField(max_length=200, blank=True, editable=False)
    key_hint = models.CharField(max_length=4, blank=True, editable=False)
    base_url = models.CharField(max_length=500, blank=True, validators=[validate_base_url])
    enabled = models.BooleanField(default=True)
    priority = models.PositiveIntegerField(default=0, validators=[MaxValueValidator(MAX_PRIORITY)])
    weight = models.FloatField(default=1, validators=[MinValueValidator(MIN_WEIGHT), MaxValueValidator(MAX_WEIGHT)])
    max_concurrency = models.PositiveIntegerField(default=0, validators=[MaxValueValidator(100_000)])
    headers = models.JSONField(default=dict, blank=True, validators=[validate_headers])

    class Meta(TableModel.Meta):
        ordering = ("provider", "priority", "slug")
        constraints = (
            models.UniqueConstraint(fields=("provider", "slug"), name="connection_unique"),
            models.CheckConstraint(condition=Q(slug__regex=r"^[a-z0-9-]+$"), name="connection_slug"),
            models.CheckConstraint(condition=Q(api_key_encrypted="") | Q(api_key_env=""), name="connection_one_key"),
            within("connection", "priority", 0, MAX_PRIORITY),
            within("connection", "weight", MIN_WEIGHT, MAX_WEIGHT),
            within("connection", "max_concurrency", 0, 100_000),
        )

    def __str__(self) -> str:
        return f"{self.provider.slug}/{self.slug}"

    @property
    def shown_key(self) -> str:
        """What people may see of the stored key: its variable, or its end; empty if there is none."""
        if self.api_key_env:
            return f"env:{self.api_key_env}"
        if not self.api_key_encrypted:
            return ""
        return f"…{self.key_hint}" if self.key_hint else "stored"


class UpstreamModel(TableModel):
    """Facts about a model of a provider; null is unknown. Models without a row work too."""

    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="upstream_models")
    model = models.CharField(max_length=200)
    context_window = models.PositiveIntegerField(null=True, blank=True)
    max_output_tokens = models.PositiveIntegerField(null=True, blank=True)
    supports_tools = models.BooleanField(null=True, blank=True)
    supports_vision = models.BooleanField(null=True, blank=True)
    supports_prefill = models.BooleanField(null=True, blank=True)
    reasoning = models.BooleanField(null=True, blank=True)
    input_price = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    output_price = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)

    class Meta(TableModel.Meta):
        ordering = ("provider", "model")
        constraints = (
            models.UniqueConstraint(fields=("provider", "model"), name="upstreammodel_unique"),
            models.CheckConstraint(
                condition=(Q(input_price=None) | Q(input_price__gte=0))
                & (Q(output_price=None) | Q(output_price__gte=0)),
                name="upstreammodel_prices",
            ),
        )

    def __str__(self) -> str:
        return f"{self.provider.slug}/{self.model}"


RULE_KINDS = [rule.kind.value for rule in RULES.values() if rule.breaker is not BreakerEffect.RELEASE]
"""What an operator's rule may call a failure: every kind a provider can cause."""


class ErrorRule(TableModel):
    """An operator's rule: what a provider's error with this status, code or text means. The first that fits decides."""

    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="error_rules")
    position = models.PositiveIntegerField(default=0)
    name = models.CharField(max_length=100, blank=True)
    status = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(100), MaxValueValidator(999)]
    )
    code = models.CharField(max_length=200, blank=True)
    pattern = models.CharField(max_length=LONGEST_PATTERN, blank=True, validators=[validate_pattern])
    kind = models.CharField(max_length=24, choices=[(kind, kind) for kind in RULE_KINDS])
    cooldown = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0), MaxValueValidator(LONGEST)])

    class Meta(TableModel.Meta):
        ordering = ("provider", "position", "id")
        constraints = (
            one_of("errorrule", "kind", RULE_KINDS),
            within("errorrule", "status", 100, 999),
            within("errorrule", "cooldown", 0, LONGEST),
            models.CheckConstraint(
                condition=Q(status__isnull=False) | ~Q(code="") | ~Q(pattern=""), name="errorrule_says_when"
            ),
        )

    def __str__(self) -> str:
        return self.name or f"{self.provider.slug} rule {self.position}"
