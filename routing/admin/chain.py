"""Chains and their entries."""

# mypy: disable-error-code="type-arg"
# Django's admin and form classes take no type arguments at run time.

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from routing.models import FallbackChain, FallbackEntry


class FallbackEntryInline(admin.TabularInline):
    """The ordered entries."""

    model = FallbackEntry
    extra = 0
    ordering = ("priority", "id")


@admin.register(FallbackChain)
class FallbackChainAdmin(admin.ModelAdmin):
    """What apps ask for."""

    list_display = ("model", "strategy", "enabled")
    list_editable = ("strategy", "enabled")
    list_filter = ("enabled", "strategy")
    search_fields = ("model",)
    inlines = (FallbackEntryInline,)

    def save_model(self, request: HttpRequest, obj: FallbackChain, form: Any, change: bool) -> None:  # noqa: FBT001 (Django's signature)
        """Raise the version, so that a page that shows the chain notices."""
        obj.version += 1
        super().save_model(request, obj, form, change)


@admin.register(FallbackEntry)
class FallbackEntryAdmin(admin.ModelAdmin):
    """Entries across chains."""

    list_display = ("__str__", "chain", "provider", "connection", "priority", "weight", "enabled")
    list_editable = ("priority", "weight", "enabled")
    list_filter = ("enabled", "provider", "chain")
    list_select_related = ("chain", "provider", "connection__provider")
    search_fields = ("chain__model", "model", "provider__slug")
