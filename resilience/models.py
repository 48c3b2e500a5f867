"""The rows behind the three layers, and the log of what happened to them.

Rows are written by `resilience.store` alone, and read into the core's values by `resilience.rows`.
Providers, connections and models are plain strings: this floor knows no table of providers.
Every row carries the `version` of the write that touched it last, so that a process asks for what is newer.
"""

from typing import ClassVar

from django.db import models
from django.db.models import Q


class State(models.TextChoices):
    """The states of a breaker, spelled as the core spells them."""

    CLOSED = "CLOSED", "closed"
    DEGRADED = "DEGRADED", "degraded"
    OPEN = "OPEN", "open"
    HALF_OPEN = "HALF_OPEN", "half open"


class BreakerState(models.Model):
    """Layer 1: one breaker per provider."""

    provider = models.CharField(max_length=100, unique=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.CLOSED)
    failure_count = models.PositiveIntegerField("failures in a row", default=0)
    last_failure_kind = models.CharField(max_length=20, blank=True)
    last_failure_at = models.DateTimeField(null=True, blank=True)
    last_failure_message = models.TextField(blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    retry_at = models.DateTimeField(null=True, blank=True)
    open_cycles = models.PositiveIntegerField(default=0)
    probe_successes = models.PositiveIntegerField(default=0)
    leases = models.JSONField("probe leases", default=list, blank=True)
    kind_counts = models.JSONField("failures by kind", default=dict, blank=True)
    window = models.JSONField("sliding window", default=list, blank=True)
    forced_mode = models.CharField(max_length=6, blank=True, choices=[("open", "held open"), ("closed", "held closed")])
    forced_by = models.CharField(max_length=200, blank=True)
    forced_reason = models.TextField(blank=True)
    forced_until = models.DateTimeField(null=True, blank=True)
    generation = models.PositiveBigIntegerField(default=0)
    version = models.PositiveBigIntegerField(default=0, db_index=True)

    class Meta:
        verbose_name = "breaker"
        ordering: ClassVar = ["provider"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=State.values), name="breaker_state_is_known"),
            models.CheckConstraint(
                condition=~Q(state=State.OPEN) | Q(retry_at__isnull=False) | Q(forced_mode="open"),
                name="breaker_open_has_a_way_back",
            ),
            models.CheckConstraint(
                condition=Q(forced_mode__in=["", "open", "closed"]), name="breaker_forced_mode_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider}: {self.state}"


class Cooldown(models.Model):
    """Layer 2: one cooldown per connection, kept after it ended for its level."""

    provider = models.CharField(max_length=100)
    connection = models.CharField(max_length=100)
    kind = models.CharField(max_length=20, blank=True)
    until = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)
    level = models.PositiveIntegerField(default=0)
    source = models.CharField("source of the wait", max_length=200, blank=True)
    message = models.TextField(blank=True)
    status = models.IntegerField(null=True, blank=True)
    version = models.PositiveBigIntegerField(default=0, db_index=True)

    class Meta:
        ordering: ClassVar = ["provider", "connection"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["provider", "connection"], name="one_cooldown_per_connection"),
        ]

    def __str__(self) -> str:
        return f"{self.provider}/{self.connection}"


class ModelLockout(models.Model):
    """Layer 3: one lockout per (connection, model), kept after it ended for its window and its doubling."""

    provider = models.CharField(max_length=100)
    connection = models.CharField(max_length=100)
    model = models.CharField(max_length=255)
    failures = models.JSONField("times of recent failures", default=list, blank=True)
    reason = models.CharField(max_length=20, blank=True)
    locked_at = models.DateTimeField(null=True, blank=True)
    until = models.DateTimeField(null=True, blank=True)
    last_locked_at = models.DateTimeField(null=True, blank=True)
    locks_in_a_row = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True)
    version = models.PositiveBigIntegerField(default=0, db_index=True)

    class Meta:
        verbose_name = "lockout"
        ordering: ClassVar = ["provider", "connection", "model"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["provider", "connection", "model"], name="one_lockout_per_pair"),
        ]

    def __str__(self) -> str:
        return f"{self.provider}/{self.connection}/{self.model}"


class ResilienceEvent(models.Model):
    """One fact: a transition, a cooldown, a lockout or an operator's action. Append only."""

    at = models.DateTimeField(db_index=True)
    name = models.CharField(max_length=40)
    provider = models.CharField(max_length=100)
    connection = models.CharField(max_length=100, blank=True)
    model = models.CharField(max_length=255, blank=True)
    from_state = models.CharField(max_length=10, blank=True)
    to_state = models.CharField(max_length=10, blank=True)
    cause = models.CharField(max_length=200, blank=True)
    kind = models.CharField(max_length=20, blank=True)
    failure_count = models.PositiveIntegerField(null=True, blank=True)
    request_id = models.CharField(max_length=64, blank=True, db_index=True)
    actor = models.CharField(max_length=200, blank=True, help_text="Empty: the gateway itself.")
    reason = models.TextField(blank=True)
    data = models.JSONField(default=dict, blank=True)

    class Meta:
        verbose_name = "event"
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["provider", "-id"], name="event_by_provider"),
            models.Index(fields=["name", "-id"], name="event_by_name"),
            models.Index(fields=["-id"], condition=~Q(actor=""), name="event_by_people"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.name} {self.provider}"


class StateVersion(models.Model):
    """The one row that every writer of state takes first: it puts writers in a queue and counts their writes."""

    value = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [models.CheckConstraint(condition=Q(pk=1), name="state_version_is_one_row")]

    def __str__(self) -> str:
        return f"version {self.value}"
