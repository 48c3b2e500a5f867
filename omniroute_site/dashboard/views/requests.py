"""The request list and one request."""

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from omniroute_site.dashboard.access import ConsoleRequest, for_viewers, viewer_of
from omniroute_site.dashboard.forms import FilterForm
from omniroute_site.dashboard.selectors.requests import (
    count_newer,
    newest_request,
    read_request,
    read_requests,
)
from omniroute_site.dashboard.selectors.state import routes


@require_safe
@for_viewers
def requests(request: ConsoleRequest) -> HttpResponse:
    """Requests, newest first."""
    form = _form(request)
    kept = form.kept
    context = {
        "page": "requests",
        "live": "requests",
        "viewer": viewer_of(request.user),
        "form": form,
        "kept": kept,
        "requests": read_requests(kept),
        "now": timezone.now(),
    }
    status = 200 if form.is_valid() else 422
    if request.htmx:
        return render(request, "dashboard/cells/requests.html", context, status=status)
    context["newest"] = newest_request(timezone.now())
    return render(request, "dashboard/requests.html", context, status=status)


@require_safe
@for_viewers
def newer(request: ConsoleRequest) -> HttpResponse:
    """How many came since the list was read; the list itself stays still until its reader asks."""
    form = _form(request)
    try:
        seen = UUID(request.GET.get("seen", ""))
    except ValueError:
        raise Http404 from None
    context = {"kept": form.kept, "newer": count_newer(form.kept, seen)}
    return render(request, "dashboard/cells/requests_newer.html", context)


@require_safe
@for_viewers
def one_request(request: ConsoleRequest, request_id: UUID) -> HttpResponse:
    """One request with all its attempts and skips."""
    found = read_request(request_id)
    if found is None:
        raise Http404
    return render(request, "dashboard/request.html", {"page": "requests", "found": found})


def _form(request: ConsoleRequest) -> FilterForm:
    known = routes()
    keys = (key.name for key in known.keys.values())
    return FilterForm(request.GET, chains=known.chains, providers=known.providers, keys=keys)
