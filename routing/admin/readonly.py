"""Rows that the gateway writes, and people only read."""

# mypy: disable-error-code="type-arg"
# Django's admin and form classes take no type arguments at run time.

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest


class UnwrittenAdmin(admin.ModelAdmin):
    """Nobody adds a row or changes one; what has been seen to may be deleted."""

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        """Nobody."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """Nobody."""
        return False


class ReadOnlyAdmin(UnwrittenAdmin):
    """Nobody deletes one either."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """Nobody."""
        return False
