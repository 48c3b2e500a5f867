"""State in the stock admin: to be read, and acted upon through `resilience.actions`, never edited."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from resilience import actions
from resilience.bulk import BulkAdmin, Given, ReasonForm, Work
from resilience.core.permit import Pair
from resilience.models import BreakerState, Cooldown, ModelLockout, ResilienceEvent


class HoldForm(ReasonForm):
    """A hold may end by itself."""

    seconds = forms.FloatField(
        required=False,
        min_value=1,
        max_value=actions.LONGEST.total_seconds(),
        help_text="Ends by itself after this many seconds; empty: until released.",
    )


class ReadOnlyAdmin(BulkAdmin):
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
        return self.confirmed(request, rows, _work(explanation, "CLOSED", actions.reset))

    @admin.action(permissions=["change"], description="Hold open")
    def hold_open(self, request: HttpRequest, rows: QuerySet[BreakerState]) -> TemplateResponse | None:
        """Refuse every call."""
        work = _work("Refuses every call to these providers.", "held open", actions.force_open, HoldForm)
        return self.confirmed(request, rows, work)

    @admin.action(permissions=["change"], description="Hold closed")
    def hold_closed(self, request: HttpRequest, rows: QuerySet[BreakerState]) -> TemplateResponse | None:
        """Admit every call."""
        explanation = "Admits every call to these providers, whatever fails."
        return self.confirmed(request, rows, _work(explanation, "held closed", actions.force_close, HoldForm))

    @admin.action(permissions=["change"], description="Release")
    def release(self, request: HttpRequest, rows: QuerySet[BreakerState]) -> TemplateResponse | None:
        """End a hold."""
        explanation = "Ends the hold: these breakers are closed with zero counts and decide by themselves again."
        return self.confirmed(request, rows, _work(explanation, "as it is, or CLOSED if held", actions.unforce))


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

        def act(row: Cooldown, actor: str, reason: str, given: Given) -> None:
            del given
            actions.clear_cooldown(row.provider, row.connection, actor=actor, reason=reason)

        work: Work[Cooldown] = Work(
            explanation="Uses these connections again at once.",
            before=lambda row: _until(row.until, f"cooling ({row.kind})"),
            after=lambda _row, _given: "usable",
            act=act,
        )
        return self.confirmed(request, rows, work)


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

        def act(row: ModelLockout, actor: str, reason: str, given: Given) -> None:
            del given
            actions.unlock(Pair(row.provider, row.connection, row.model), actor=actor, reason=reason)

        work: Work[ModelLockout] = Work(
            explanation="Uses these models again at once and forgets the failures that locked them.",
            before=lambda row: _until(row.until, "locked"),
            after=lambda _row, _given: "usable",
            act=act,
        )
        return self.confirmed(request, rows, work)


@admin.register(ResilienceEvent)
class ResilienceEventAdmin(ReadOnlyAdmin):
    """What happened."""

    list_display = ("at", "name", "provider", "connection", "model", "from_state", "to_state", "cause", "kind", "actor")
    list_filter = ("name", "provider", "kind")
    search_fields = ("provider", "connection", "model", "request_id", "actor", "reason")
    date_hierarchy = "at"


def _work(
    explanation: str, after: str, action: Callable[..., object], form: type[ReasonForm] = ReasonForm
) -> Work[BreakerState]:
    """Work on breakers."""

    def act(row: BreakerState, actor: str, reason: str, given: Given) -> None:
        details: dict[str, Any] = {"actor": actor, "reason": reason}
        if given.get("seconds"):
            details["duration"] = timedelta(seconds=given["seconds"])
        action(row.provider, **details)

    return Work(explanation, _state, lambda _row, _given: after, act, form)


def _state(row: BreakerState) -> str:
    """What a person chose by; counts move all the time and are no reason to refuse."""
    return f"held {row.forced_mode} by {row.forced_by}" if row.forced_mode else row.state


def _until(until: datetime | None, word: str) -> str:
    return f"{word} until {until:%Y-%m-%d %H:%M:%S} UTC" if until else "usable"
