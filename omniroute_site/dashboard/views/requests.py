"""The request list and one request."""

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from omniroute_site.dashboard.access import ConsoleRequest, for_viewers, viewer_of
from omniroute_site.dashboard.forms import FilterForm
from omniroute_site.dashboard.selectors.requests import Filter, read_request, read_requests
from omniroute_site.dashboard.selectors.state import routes


@require_safe
@for_viewers
def requests(request: ConsoleRequest) -> HttpResponse:
    """Requests, newest first."""
    known = routes()
    form = FilterForm(request.GET, chains=known.chains, providers=known.providers)
    kept = Filter(**form.cleaned_data) if form.is_valid() else Filter()
    context = {
        "page": "requests",
        "viewer": viewer_of(request.user),
        "form": form,
        "kept": kept,
        "filtered": bool(kept.chain or kept.provider or kept.outcome),
        "requests": read_requests(kept),
    }
    template = "dashboard/cells/requests.html" if request.htmx else "dashboard/requests.html"
    return render(request, template, context, status=200 if form.is_valid() else 422)


@require_safe
@for_viewers
def one_request(request: ConsoleRequest, request_id: UUID) -> HttpResponse:
    """One request with all its attempts and skips."""
    found = read_request(request_id)
    if found is None:
        raise Http404
    return render(request, "dashboard/request.html", {"page": "requests", "found": found})
