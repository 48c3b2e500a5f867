"""Bulk work in the stock admin: shown as before → after first, then done with a reason, for all rows or for none.

chosen rows ──► what stands there → what will, and why? ──► still as shown? ──► all of them in one transaction
                                                                └─ no: shown again, nothing done
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Model, ProtectedError, QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

if TYPE_CHECKING:
    StockAdmin = admin.ModelAdmin[Any]
else:
    StockAdmin = admin.ModelAdmin  # not subscriptable at run time

Row = TypeVar("Row", bound=Model)
Given = Mapping[str, Any]
"""What the form says besides the reason."""


class ReasonForm(forms.Form):
    """Why somebody acts; kept in the event log."""

    reason = forms.CharField(max_length=500, widget=forms.Textarea(attrs={"rows": 3, "cols": 60}))


@dataclass(frozen=True, slots=True)
class Work(Generic[Row]):
    """One kind of bulk work. `act(row, actor, reason, given)` may raise ValidationError, which undoes all of it."""

    explanation: str
    before: Callable[[Row], str]
    after: Callable[[Row, Given], str]
    act: Callable[[Row, str, str, Given], object]
    form: type[ReasonForm] = ReasonForm


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the confirmation page."""

    key: str
    label: str
    before: str
    after: str


class BulkAdmin(StockAdmin):
    """A model with bulk work."""

    def confirmed(self, request: HttpRequest, rows: QuerySet[Row], work: Work[Row]) -> TemplateResponse | None:
        """Ask first; once told to, do it, or show the page again with what is in the way."""
        form = work.form(request.POST if "confirmed" in request.POST else None)
        problem = ""
        if form.is_valid():
            try:
                chosen = _do(request, rows, work, form.cleaned_data)
            except (ValidationError, IntegrityError, ProtectedError) as error:
                problem = _in_words(error)
            else:
                self.message_user(request, f"Done for {', '.join(map(str, chosen))}.", messages.SUCCESS)
                return None
        initial = {name: field.initial for name, field in form.fields.items()}
        lines = [
            _line(row, work, initial | (form.cleaned_data if form.is_bound else {})) for row in rows.order_by("pk")
        ]
        return self._asked(request, work, form, lines=lines, problem=problem)

    def _asked(
        self, request: HttpRequest, work: Work[Row], form: ReasonForm, *, lines: Sequence[Line], problem: str
    ) -> TemplateResponse:
        action = request.POST["action"]
        chosen = self.get_actions(request)[action]
        context = self.admin_site.each_context(request) | {
            "title": "" if chosen is None else str(chosen[2]),
            "explanation": work.explanation,
            "lines": lines,
            "problem": problem,
            "action": action,
            "form": form,
            "opts": self.opts,
            "checkbox_name": helpers.ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/bulk.html", context, status=422 if problem or form.errors else 200)


def _do(request: HttpRequest, rows: QuerySet[Row], work: Work[Row], said: Mapping[str, Any]) -> list[Row]:
    """Do it for every row; for none if that raises."""
    given = {name: value for name, value in said.items() if name != "reason"}
    with transaction.atomic():
        chosen = list(rows.select_for_update(of=("self",)).order_by("pk"))
        _refuse_changed(chosen, work, request.POST)
        for row in chosen:
            work.act(row, request.user.get_username(), said["reason"], given)
    return chosen


def _line(row: Row, work: Work[Row], given: Given) -> Line:
    return Line(str(row.pk), str(row), work.before(row), work.after(row, given))


def _refuse_changed(rows: Sequence[Row], work: Work[Row], shown: Mapping[str, str]) -> None:
    """Raise ValidationError unless every row is as the page showed it."""
    changed = [str(row) for row in rows if shown.get(f"before-{row.pk}") != work.before(row)]
    gone = sum(name.startswith("before-") for name in shown) - len(rows)
    if changed or gone:
        what = ", ".join([*changed, *([f"{gone} of the rows (deleted)"] if gone else [])])
        raise ValidationError(f"Changed meanwhile: {what}. Nothing was done; look again.")


def _in_words(error: Exception) -> str:
    if isinstance(error, ProtectedError):
        users = ", ".join(sorted(str(user) for user in error.protected_objects)[:10])
        return f"Still in use by {users}. Nothing was done."
    if isinstance(error, ValidationError):
        return " ".join(error.messages)
    return "Another row has this name already. Nothing was done."
