"""A form on a page of its own (see `sheets`): shown, saved on what its editor has seen, or answered with both versions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from omniroute_site.dashboard.access import ConsoleRequest
from omniroute_site.dashboard.selectors.events import last_change
from omniroute_site.dashboard.sheets import SheetForm
from routing import edits
from routing.configfile.plan import Plan
from routing.configfile.problems import ConfigFileError

Who = dict[str, str]
"""`actor` and `reason`."""
Save = Callable[[str, Who], Plan]
"""Given the stamp that the form was filled from. Raises as `edits` does."""
AUTO_ID = "sheet-%s"


@dataclass(frozen=True, slots=True)
class More:
    """Something else to do: its button, and what it calls."""

    button: str
    run: Save
    danger: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """A form on a page of its own: what it is about, and how it is saved."""

    title: str
    provider: str
    """Whose page one returns to; empty: the list."""
    form: SheetForm[Any]
    seen: str
    save: Save
    fresh: Callable[[], tuple[str, dict[str, Any]]] | None = None
    """Stamp and fields as they are stored now, to be compared with what was sent."""
    subject: str = ""
    """What the event log calls it."""
    more: Mapping[str, More] = field(default_factory=dict)
    """What else can be done on this page, by the value of its button; needs the reason alone."""


def sent(request: ConsoleRequest) -> QueryDict | None:
    """What a form is bound to: nothing while it is only shown."""
    return request.POST if request.method == "POST" else None


def answer(request: ConsoleRequest, sheet: Sheet) -> HttpResponse:
    """GET shows the form; POST saves it, or answers 422 with what is wrong, or with what somebody else saved."""
    if request.method == "GET":
        return _shown(request, sheet, sheet.seen)
    seen = request.POST.get("seen", "")
    chosen = sheet.more.get(request.POST.get("do", ""))
    if sheet.form.is_valid() or (chosen and not sheet.form.has_error("reason")):
        who = {"actor": request.user.get_username(), "reason": sheet.form.cleaned_data["reason"]}
        try:
            return _saved(request, sheet, (chosen.run if chosen else sheet.save)(seen, who))
        except ConfigFileError as error:
            sheet.form.refuse(error)
        except edits.ChangedMeanwhileError:
            return _conflict(request, sheet)
        except ObjectDoesNotExist as error:
            raise Http404 from error
    return _shown(request, sheet, seen, status=422)


def _saved(request: ConsoleRequest, sheet: Sheet, plan: Plan) -> HttpResponse:
    provider = sheet.provider or sheet.form.cleaned_data["slug"]
    changes = [f"{change.what} {', '.join(change.details) or f'{change.action}d'}" for change in plan.changes]
    messages.success(request, f"Saved: {'; '.join(changes)}." if changes else "Nothing differed, nothing was changed.")
    address = reverse("dashboard:provider", args=[provider])
    return HttpResponseClientRedirect(address) if request.htmx else HttpResponseRedirect(address)


def _conflict(request: ConsoleRequest, sheet: Sheet) -> HttpResponse:
    """Both versions: the sent one in the fields, the stored one beside each that differs. Saving again replaces it."""
    if sheet.fresh is None:
        raise Http404
    try:
        seen, stored = sheet.fresh()
    except ObjectDoesNotExist as error:
        raise Http404 from error
    sheet.form.compare(stored)
    last = last_change(sheet.subject, sheet.provider)
    return _shown(request, sheet, seen, status=422, conflict=True, last=last)


def _shown(request: ConsoleRequest, sheet: Sheet, seen: str, *, status: int = 200, **more: object) -> HttpResponse:
    sheet.form.settle_focus()
    context = {"page": "providers", "sheet": sheet, "form": sheet.form, "seen": seen, **more}
    template = "dashboard/cells/sheet.html" if request.htmx else "dashboard/sheet.html"
    return render(request, template, context, status=status)
