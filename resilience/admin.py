"""State in the stock admin: to be read, and acted upon through `resilience.actions`, never edited."""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from resilience import actions
from resilience.core.permit import Pair
from resilience.models import BreakerState, Cooldown, ModelLockout, ResilienceEvent

if TYPE_CHECKING:
    StockAdmin = admin.ModelAdmin[Any]
else:
    StockAdmin = admin.ModelAdmin  # not subscriptable at run time


class ReasonForm(forms.Form):
    """Why somebody acts; kept in the event log."""

    reason = forms.CharField(max_length=500, widget=forms.Textarea(attrs={"rows": 3, "cols": 60}))


class HoldForm(ReasonForm):
    """A hold may end by itself."""

    seconds = forms.FloatField(
        required=False,
        min_value=1,
        max_value=actions.LONGEST.total_seconds(),
        help_text="Ends by itself after this many seconds; empty: until released.",
    )


class ReadOnlyAdmin(StockAdmin):
    """Rows that only the store writes. Actions need the change permission of the model, pages the view permission."""

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        """Nobody."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """Nobody."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody edits a row; without a row the question is about actions."""
        return obj is None and super().has_change_permission(request, obj)

    def confirmed(
        self,
        request: HttpRequest,
        rows: QuerySet[Any],
        act: Callable[..., object],
        *,
        explanation: str,
        form_class: type[ReasonForm] = ReasonForm,
    ) -> TemplateResponse | None:
        """Ask for a reason first; with one, call `act(row, actor=…, reason=…, …)` for each row."""
        form = form_class(request.POST if "confirmed" in request.POST else None)
        if form.is_valid():
            details: dict[str, Any] = {"actor": request.user.get_username(), "reason": form.cleaned_data["reason"]}
            if form.cleaned_data.get("seconds"):
                details["duration"] = timedelta(seconds=form.cleaned_data["seconds"])
            for row in rows:
                act(row, **details)
            self.message_user(request, f"Done for {', '.join(map(str, rows))}.", messages.SUCCESS)
            return None
        action = request.POST["action"]
        chosen = self.get_actions(request)[action]
        context = self.admin_site.each_context(request) | {
            "title": "" if chosen is None else str(chosen[2]),
            "explanation": explanation,
            "objects": rows,
            "action": action,
            "form": form,
            "opts": self.opts,
            "checkbox_name": helpers.ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/resilience/act.html", context)


@admin.register(BreakerState)
class BreakerAdmin(ReadOnlyAdmin):
    """Layer 1."""

    list_display = (
        "provider",
        "state",
        "failure_count",
        "last_failure_kind",
        "last_failure_at",
        "retry_at",
        "forced_mode",
    )
    list_filter = ("state", "forced_mode", "last_failure_kind")
    search_fields = ("provider", "last_failure_message", "forced_by", "forced_reason")
    actions = ("reset", "hold_open", "hold_closed", "release")

    @admin.action(permissions=["change"], description="Reset")
    def reset(self, request: HttpRequest, rows: QuerySet[BreakerState]) -> TemplateResponse | None:
        """Close with zero counts."""
        explanation = "Closes these breakers with zero counts, whatever their state; a hold ends too."
        return self.confirmed(request, rows, _on_provider(actions.reset), explanation=explanation)

    @admin.action(permissions=["change"], description="Hold open")
    def hold_open(self, request: HttpRequest, rows: QuerySet[BreakerState]) -> TemplateResponse | None:
        """Refuse every call."""
        explanation = "Refuses every call to these providers."
        act = _on_provider(actions.force_open)
        return self.confirmed(request, rows, act, explanation=explanation, form_class=HoldForm)

    @admin.action(permissions=["change"], description="Hold closed")
    def hold_closed(self, request: HttpRequest, rows: QuerySet[BreakerState]) -> TemplateResponse | None:
        """Admit every call."""
        explanation = "Admits every call to these providers, whatever fails."
        act = _on_provider(actions.force_close)
        return self.confirmed(request, rows, act, explanation=explanation, form_class=HoldForm)

    @admin.action(permissions=["change"], description="Release")
    def release(self, request: HttpRequest, rows: QuerySet[BreakerState]) -> TemplateResponse | None:
        """End a hold."""
        explanation = "Ends the hold: these breakers are closed with zero counts and decide by themselves again."
        return self.confirmed(request, rows, _on_provider(actions.unforce), explanation=explanation)


@admin.register(Cooldown)
class CooldownAdmin(ReadOnlyAdmin):
    """Layer 2."""

    list_display = ("provider", "connection", "kind", "until", "level", "source")
    list_filter = ("provider", "kind")
    search_fields = ("provider", "connection", "message")
    actions = ("clear",)

    @admin.action(permissions=["change"], description="Clear cooldown")
    def clear(self, request: HttpRequest, rows: QuerySet[Cooldown]) -> TemplateResponse | None:
        """Use the connections again."""

        def act(row: Cooldown, **details: str) -> None:
            actions.clear_cooldown(row.provider, row.connection, **details)

        return self.confirmed(request, rows, act, explanation="Uses these connections again at once.")


@admin.register(ModelLockout)
class ModelLockoutAdmin(ReadOnlyAdmin):
    """Layer 3."""

    list_display = ("provider", "connection", "model", "reason", "locked_at", "until", "locks_in_a_row")
    list_filter = ("provider", "reason")
    search_fields = ("provider", "connection", "model", "message")
    actions = ("unlock",)

    @admin.action(permissions=["change"], description="Unlock")
    def unlock(self, request: HttpRequest, rows: QuerySet[ModelLockout]) -> TemplateResponse | None:
        """Use the pairs again."""

        def act(row: ModelLockout, **details: str) -> None:
            actions.unlock(Pair(row.provider, row.connection, row.model), **details)

        return self.confirmed(
            request, rows, act, explanation="Uses these models again at once and forgets the failures that locked them."
        )


@admin.register(ResilienceEvent)
class ResilienceEventAdmin(ReadOnlyAdmin):
    """What happened."""

    list_display = ("at", "name", "provider", "connection", "model", "from_state", "to_state", "cause", "kind", "actor")
    list_filter = ("name", "provider", "kind")
    search_fields = ("provider", "connection", "model", "request_id", "actor", "reason")
    date_hierarchy = "at"


def _on_provider(action: Callable[..., object]) -> Callable[..., object]:
    def act(row: BreakerState, **details: Any) -> None:
        action(row.provider, **details)

    return act
