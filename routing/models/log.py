"""What happened: one row per client request."""

from typing import Any

import orjson
from django.db import models

from routing.models.base import one_of
from routing.querysets import RequestLogQuerySet


class Outcome(models.TextChoices):
    """How a client's request ended."""

    ANSWERED = "answered", "Answered"
    RESCUED = "rescued", "Answered by a fallback"
    FAILED = "failed", "Failed"
    REFUSED = "refused", "Refused: nothing admitted"
    REJECTED = "rejected", "Rejected: caller's mistake"
    CLIENT_CLOSED = "client_closed", "Client left"
    INTERRUPTED = "interrupted", "Interrupted stream"


class RequestLog(models.Model):
    """One client request with its attempts and skips. Written in batches by `routing.requestlog`, never changed."""

    id = models.UUIDField(primary_key=True, editable=False)  # UUIDv7: the order of ids is the order of time
    started_at = models.DateTimeField()
    chain = models.CharField(max_length=200)
    requested_model = models.CharField(max_length=200)
    key_name = models.CharField(max_length=200)
    client_format = models.CharField(max_length=64)  # the path that was asked
    stream = models.BooleanField()
    outcome = models.CharField(max_length=16, choices=Outcome.choices)
    status = models.PositiveSmallIntegerField()
    code = models.CharField(max_length=64)
    provider = models.CharField(max_length=64)
    connection = models.CharField(max_length=64)
    model = models.CharField(max_length=200)
    attempts = models.PositiveSmallIntegerField()
    fallback = models.BooleanField()
    emergency = models.BooleanField()
    targets_json = models.TextField()  # text, not a JSON column: it is read whole, and SQLite would parse it per insert
    duration = models.FloatField()
    first_token = models.FloatField(null=True)
    overhead = models.FloatField(null=True)
    input_tokens = models.PositiveIntegerField(null=True)
    output_tokens = models.PositiveIntegerField(null=True)
    cached_tokens = models.PositiveIntegerField(null=True)
    reasoning_tokens = models.PositiveIntegerField(null=True)
    cost = models.DecimalField(max_digits=16, decimal_places=10, null=True)  # USD
    error = models.TextField()

    objects = models.Manager.from_queryset(RequestLogQuerySet)()

    class Meta:
        ordering = ("-id",)
        verbose_name = "request"
        verbose_name_plural = "request log"
        # newest first is the primary key; only what pages filter by has an index more
        indexes = (
            models.Index(fields=("chain", "id"), name="requestlog_chain"),
            models.Index(fields=("provider", "id"), name="requestlog_provider"),
            models.Index(fields=("outcome", "id"), name="requestlog_outcome"),
            models.Index(fields=("key_name", "id"), name="requestlog_key"),
        )
        constraints = (one_of("requestlog", "outcome", Outcome.values),)

    def __str__(self) -> str:
        return f"{self.id} {self.outcome}"

    @property
    def targets(self) -> list[dict[str, Any]]:
        """Attempts and skips in order, as `RequestRecord.targets`."""
        targets: list[dict[str, Any]] = orjson.loads(self.targets_json or "[]")
        return targets
