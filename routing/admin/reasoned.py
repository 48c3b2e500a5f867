"""What every configuration model in the stock admin has in common: each change with who and why, bulk work confirmed.

Forms and lists ask for a reason; Django's own log keeps who did what, and the event log the same with the reason.
"""

# mypy: disable-error-code="type-arg"
# Django's admin and form classes take no type arguments at run time.

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from resilience import actions
from resilience.bulk import BulkAdmin, Given, ReasonForm, Work
from resilience.core.events import ConfigChanged
from routing.models.base import MAX_PRIORITY

NO_REASON = "Say why: it is what the next person on call will read. Nothing was saved."


class ReasonedForm(forms.ModelForm):
    """A row's form that also asks why."""

    reason = forms.CharField(
        max_length=500,
        help_text="Why it is changed; kept in the event log.",
        widget=forms.TextInput(attrs={"class": "vTextField", "autocomplete": "off"}),
    )


class PriorityForm(ReasonForm):
    """Where rows are to be moved."""

    priority = forms.IntegerField(min_value=0, max_value=MAX_PRIORITY, initial=0, help_text="Lowest is tried first.")


class ReasonedAdmin(BulkAdmin):
    """A model that people configure. `delete` is bulk work too: the stock way asks for no reason."""

    form = ReasonedForm
    change_list_template = "admin/reasoned_list.html"
    actions: tuple[str, ...] = ("enable", "disable", "delete")

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Without the stock `delete_selected`."""
        found: dict[str, Any] = super().get_actions(request)
        return {name: action for name, action in found.items() if name != "delete_selected"}

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """The reason last."""
        sections = list(super().get_fieldsets(request, obj))
        named = {name for _title, options in sections for name in options["fields"]}
        return sections if "reason" in named else [*sections, ("Why", {"fields": ("reason",)})]

    def get_changelist_form(self, request: HttpRequest, **kwargs: Any) -> Any:
        """Rows of a list have no reason each; the list has one."""
        return super().get_changelist_form(request, **{"form": forms.ModelForm, **kwargs})

    def get_changelist_formset(self, request: HttpRequest, **kwargs: Any) -> Any:
        """Refuse a list without a reason, its edits kept."""
        stock = super().get_changelist_formset(request, **kwargs)

        class ReasonedFormSet(stock):  # type: ignore[misc,valid-type]  # made by Django at run time
            def clean(self) -> None:
                super().clean()
                if self.has_changed() and not self.data.get("reason", "").strip():
                    raise ValidationError(NO_REASON)

        return ReasonedFormSet

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Without the stock delete button."""
        extra = {**(extra_context or {}), "show_delete": False}
        return super().change_view(request, object_id, form_url, extra)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """To the list, where deleting asks for a reason."""
        del object_id, extra_context
        self.message_user(request, "Choose it here, and Delete among the actions: it asks for a reason.")
        return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> LogEntry:
        """Once more in the event log, with the reason."""
        return self._recorded(request, obj, super().log_addition(request, obj, message))

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> LogEntry:
        """Once more in the event log, with the reason."""
        return self._recorded(request, obj, super().log_change(request, obj, message))

    def _recorded(self, request: HttpRequest, obj: Model, entry: LogEntry) -> LogEntry:
        record(obj, entry.get_change_message(), request.user.get_username(), request.POST.get("reason", ""))
        return entry

    @admin.action(permissions=["change"], description="Enable")
    def enable(self, request: HttpRequest, rows: QuerySet[Any]) -> TemplateResponse | None:
        """Switch on."""
        return self.confirmed(request, rows, setting("enabled", lambda _given: True, "Switches these on."))

    @admin.action(permissions=["change"], description="Disable")
    def disable(self, request: HttpRequest, rows: QuerySet[Any]) -> TemplateResponse | None:
        """Switch off."""
        explanation = "Switches these off: no request uses them."
        return self.confirmed(request, rows, setting("enabled", lambda _given: False, explanation))

    @admin.action(permissions=["change"], description="Move to priority")
    def move_to_priority(self, request: HttpRequest, rows: QuerySet[Any]) -> TemplateResponse | None:
        """Give all of them one priority."""
        work = setting("priority", lambda given: given.get("priority", 0), "Gives these one priority.", PriorityForm)
        return self.confirmed(request, rows, work)

    @admin.action(permissions=["delete"], description="Delete")
    def delete(self, request: HttpRequest, rows: QuerySet[Any]) -> TemplateResponse | None:
        """Delete with what belongs to them."""

        def act(row: Model, actor: str, reason: str, given: Given) -> None:
            del given
            record(row, "deleted", actor, reason)
            row.delete()

        work: Work[Model] = Work(
            explanation="Deletes these with everything that belongs to them; what is in use is not deleted.",
            before=lambda row: "there" if row.pk else "gone",
            after=lambda _row, _given: "deleted",
            act=act,
        )
        return self.confirmed(request, rows, work)


def record(row: Model, what: str, actor: str, reason: str) -> None:
    """Put a change into the event log."""
    provider = getattr(row, "provider", row)
    changed = ConfigChanged(
        f"{row._meta.verbose_name} {row}",  # noqa: SLF001 (Django's documented way to a model's facts)
        what,
        provider=str(getattr(provider, "slug", "")),
    )
    actions.configured(changed, actor=actor, reason=reason)


def setting(
    column: str, value: Callable[[Given], object], explanation: str, form: type[ReasonForm] = ReasonForm
) -> Work[Any]:
    """Work that gives a column of each row one value."""

    def act(row: Any, actor: str, reason: str, given: Given) -> None:
        before, after = getattr(row, column), value(given)
        if before != after:
            setattr(row, column, after)
            row.save(update_fields=[column])
            record(row, f"{column} {before} → {after}", actor, reason)

    return Work(
        explanation=explanation,
        before=lambda row: f"{column} {getattr(row, column)}",
        after=lambda _row, given: f"{column} {value(given)}",
        act=act,
        form=form,
    )
