"""Lockouts in force, and locking a pair by hand. Unlocking is one of the acts (see `acts`)."""

from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from omniroute_site.dashboard.access import ConsoleRequest, for_operators, for_viewers, viewer_of
from omniroute_site.dashboard.forms import LockAnyForm
from omniroute_site.dashboard.live import everything
from omniroute_site.dashboard.selectors.lockouts import read_lockouts
from omniroute_site.dashboard.selectors.state import routes
from resilience import actions
from resilience.core.permit import Pair


@require_safe
@for_viewers
def lockouts(request: ConsoleRequest) -> HttpResponse:
    """What is locked, why, since and until when."""
    return _page(request, _form())


@require_POST
@for_operators
def lock(request: ConsoleRequest) -> HttpResponse:
    """Lock a pair, or answer 422 with what is missing beside the fields."""
    form = _form(request.POST)
    if not (form.is_valid() and _locked(form, request.user.get_username())):
        form.settle_focus()
        if not request.htmx:
            return _page(request, form)
        return render(request, "dashboard/cells/lock_form.html", _context(request, form), status=422)
    if not request.htmx:
        return HttpResponseRedirect(reverse("dashboard:lockouts"))
    answer = render(request, "dashboard/cells/lock_form.html", {**_context(request, _form()), "focus": True})
    answer.write("".join(everything("lockouts", timezone.now()).values()))
    return answer


def _form(data: QueryDict | None = None) -> LockAnyForm:
    places = (one for provider in routes().providers.values() for one in provider.connections)
    return LockAnyForm(data, auto_id="lock-%s", connections=[f"{one.provider}/{one.slug}" for one in places])


def _locked(form: LockAnyForm, actor: str) -> bool:
    """Whether it was done; if not, the form says why."""
    given = form.cleaned_data
    provider, _slash, connection = given["connection"].partition("/")
    try:
        actions.lock(
            Pair(provider, connection, given["model"]), actor=actor, reason=given["reason"], duration=given["duration"]
        )
    except ValueError as refused:
        form.add_error(None, str(refused))
        return False
    return True


def _page(request: ConsoleRequest, form: LockAnyForm) -> HttpResponse:
    context = _context(request, form) | {"lockouts": read_lockouts(timezone.now())}
    return render(request, "dashboard/lockouts.html", context, status=422 if form.is_bound else 200)


def _context(request: ConsoleRequest, form: LockAnyForm) -> dict[str, object]:
    return {
        "page": "lockouts",
        "live": "lockouts",
        "viewer": viewer_of(request.user),
        "form": form,
        "models": sorted({entry.model for chain in routes().chains.values() for entry in chain.entries}),
        "now": timezone.now(),
    }
