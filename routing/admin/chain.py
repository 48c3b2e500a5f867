"""Chains and their entries."""

# mypy: disable-error-code="type-arg"
# Django's admin and form classes take no type arguments at run time.

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from resilience.bulk import Given, ReasonForm, Work
from routing.admin.reasoned import ReasonedAdmin, record
from routing.models import FallbackChain, FallbackEntry


class FallbackEntryInline(admin.TabularInline):
    """The ordered entries."""

    model = FallbackEntry
    extra = 0
    ordering = ("priority", "id")


class CopyForm(ReasonForm):
    """What the copies are called."""

    suffix = forms.CharField(max_length=50, initial="-copy", help_text="Put behind the name of each.")


def _name_of_copy(chain: FallbackChain, given: Given) -> str:
    return f"{chain.model}{given.get('suffix', '')}"


@admin.register(FallbackChain)
class FallbackChainAdmin(ReasonedAdmin):
    """What apps ask for."""

    list_display = ("model", "strategy", "enabled")
    list_editable = ("strategy", "enabled")
    list_filter = ("enabled", "strategy")
    search_fields = ("model",)
    inlines = (FallbackEntryInline,)
    actions: tuple[str, ...] = (*ReasonedAdmin.actions, "copy_chain")

    @admin.action(permissions=["add"], description="Copy chain")
    def copy_chain(self, request: HttpRequest, rows: QuerySet[FallbackChain]) -> TemplateResponse | None:
        """The same entries under other names."""

        def act(chain: FallbackChain, actor: str, reason: str, given: Given) -> None:
            copy = FallbackChain.objects.create(
                model=_name_of_copy(chain, given), strategy=chain.strategy, enabled=chain.enabled
            )
            entries = list(chain.entries.all())
            for entry in entries:
                # a blank model means the chain's own name, which the copy does not have
                entry.pk, entry.chain, entry.model = None, copy, entry.model or chain.model
            FallbackEntry.objects.bulk_create(entries)
            record(copy, f"copied from {chain}", actor, reason)

        work: Work[FallbackChain] = Work(
            explanation="Makes chains with the same entries and other names.",
            before=lambda chain: f"{chain}: {chain.entries.count()} entries",
            after=lambda chain, given: f"{chain} and {_name_of_copy(chain, given)}",
            act=act,
            form=CopyForm,
        )
        return self.confirmed(request, rows, work)

    def save_model(self, request: HttpRequest, obj: FallbackChain, form: Any, change: bool) -> None:  # noqa: FBT001 (Django's signature)
        """Raise the version, so that a page that shows the chain notices."""
        obj.version += 1
        super().save_model(request, obj, form, change)


@admin.register(FallbackEntry)
class FallbackEntryAdmin(ReasonedAdmin):
    """Entries across chains."""

    actions: tuple[str, ...] = (*ReasonedAdmin.actions, "move_to_priority")
    list_display = ("__str__", "chain", "provider", "connection", "priority", "weight", "enabled")
    list_editable = ("priority", "weight", "enabled")
    list_filter = ("enabled", "provider", "chain")
    list_select_related = ("chain", "provider", "connection__provider")
    search_fields = ("chain__model", "model", "provider__slug")
