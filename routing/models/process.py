"""Which processes serve: one row each, written by the process itself every few seconds."""

from django.db import models


class ServingProcess(models.Model):
    """What one process says of itself. Nothing is decided by it: it is for people to look at."""

    id = models.CharField(primary_key=True, max_length=32, editable=False)
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    role = models.CharField(max_length=16)
    started_at = models.DateTimeField()
    beat_at = models.DateTimeField(db_index=True)
    synced_at = models.DateTimeField(null=True, blank=True)  # when its copy of the state was last fresh
    state_version = models.PositiveBigIntegerField()
    table_version = models.PositiveBigIntegerField()
    table_loaded_at = models.DateTimeField(null=True, blank=True)
    in_flight = models.PositiveIntegerField("upstream calls in flight")
    database_ok = models.BooleanField()
    backlog = models.PositiveIntegerField("state writes that wait")
    log_waiting = models.PositiveIntegerField("log rows that wait")
    log_dropped = models.PositiveBigIntegerField("log rows lost")
    draining = models.BooleanField()

    class Meta:
        ordering = ("started_at", "id")
        verbose_name = "process"
        verbose_name_plural = "processes"

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"
