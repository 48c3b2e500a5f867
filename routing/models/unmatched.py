"""Errors that nobody knows, collected so that an operator can make a rule of one."""

from typing import Any

from django.db import models

from resilience.core.redaction import MASK
from resilience.core.unmatched import pattern_of
from routing.querysets import UnmatchedErrorQuerySet


class UnmatchedError(models.Model):
    """A provider's errors of one shape that no rule, code or text told. Counted by `routing.unmatched`, never edited.

    Holds nothing of a request: the shape is the document with its values replaced, the example a message without
    secrets and without what it quotes.
    """

    provider = models.CharField(max_length=64)
    digest = models.CharField(max_length=32)  # of status, code and shape, which are too long for an index
    status = models.PositiveIntegerField(null=True)
    code = models.CharField(max_length=200)
    shape = models.TextField()
    example = models.TextField()
    kind = models.CharField(max_length=24)  # what its status was taken for
    count = models.PositiveBigIntegerField(default=0)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    objects = models.Manager.from_queryset(UnmatchedErrorQuerySet)()

    class Meta:
        ordering = ("-last_seen_at", "-id")
        constraints = (models.UniqueConstraint(fields=("provider", "digest"), name="unmatchederror_unique"),)

    def __str__(self) -> str:
        said = f"{self.status or 'no status'} {self.code}".strip()
        return f"{self.provider}: {said}" if self.shape else f"{self.provider}: others"

    @property
    def rule_fields(self) -> dict[str, Any]:
        """What a rule for these errors begins with, by the fields of `ErrorRule`; which kind they are, a person says."""
        says_more = self.code != str(self.status) and MASK not in self.code
        return {
            "status": self.status,
            "code": self.code if says_more else "",
            "pattern": pattern_of(self.example),
        }
