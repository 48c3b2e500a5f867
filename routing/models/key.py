"""Who may call us."""

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models as db

from routing.models.base import TableModel, within

MAX_REQUESTS_PER_MINUTE = 1_000_000
MOST_PATTERNS = 100
"""Of a key. Each request is held against them in the event loop."""
LONGEST_PATTERN = 200
"""Characters, as the names they are for."""


class Scope(db.TextChoices):
    """What a client key opens."""

    CHAT = "chat", "Call models (/v1)"
    READ = "read", "Read state"
    OPERATE = "operate", "Act on state"


def default_scopes() -> list[str]:
    """A key without scopes of its own may call models."""
    return [Scope.CHAT.value]


def default_models() -> list[str]:
    """A key without a list may use every model."""
    return ["*"]


class ClientKey(TableModel):
    """A key apps call us with: only its hash is stored."""

    name = db.CharField(max_length=200, unique=True)
    key_hash = db.CharField(max_length=64, unique=True, editable=False)
    key_hint = db.CharField(max_length=16, blank=True, editable=False)
    scopes = db.JSONField(default=default_scopes)
    models = db.JSONField(default=default_models)
    requests_per_minute = db.PositiveIntegerField(
        default=0, validators=[MaxValueValidator(MAX_REQUESTS_PER_MINUTE)], help_text="0: no limit."
    )
    enabled = db.BooleanField(default=True)
    created_at = db.DateTimeField(auto_now_add=True)

    class Meta(TableModel.Meta):
        ordering = ("name",)
        constraints = (within("clientkey", "requests_per_minute", 0, MAX_REQUESTS_PER_MINUTE),)

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Refuse scopes that open nothing, and model lists that are not lists of patterns."""
        if not _is_list_of_texts(self.scopes) or not set(self.scopes) <= set(Scope.values):
            raise ValidationError({"scopes": f"A list of {', '.join(Scope.values)}."})
        if not _is_list_of_texts(self.models):
            raise ValidationError({"models": 'A list of model names or patterns, such as ["gpt-*"].'})
        if len(self.models) > MOST_PATTERNS or any(len(pattern) > LONGEST_PATTERN for pattern in self.models):
            raise ValidationError({"models": f"At most {MOST_PATTERNS} patterns of {LONGEST_PATTERN} characters."})


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)
