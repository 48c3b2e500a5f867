"""Everything that happened: every transition, cooldown, lockout, change of the configuration, and who did it."""

from django.contrib.auth import get_user_model
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from omniroute_site.dashboard.access import ConsoleRequest, for_viewers, viewer_of
from omniroute_site.dashboard.event_csv import MOST_ROWS, csv_lines
from omniroute_site.dashboard.event_filter import EventFilterForm
from omniroute_site.dashboard.selectors.events import read_events
from omniroute_site.dashboard.selectors.state import routes

MOST_NAMES = 200  # people offered for `actor`


@require_safe
@for_viewers
def events(request: ConsoleRequest) -> HttpResponse:
    """A page of events, newest first."""
    form = EventFilterForm(request.GET, providers=routes().providers)
    context = {
        "page": "events",
        "viewer": viewer_of(request.user),
        "form": form,
        "kept": form.kept,
        "events": read_events(form.kept),
        "most_rows": MOST_ROWS,
    }
    if request.htmx:
        return render(request, "dashboard/cells/events.html", context, status=422 if form.errors else 200)
    context["actors"] = get_user_model().objects.order_by("username").values_list("username", flat=True)[:MOST_NAMES]
    return render(request, "dashboard/events.html", context, status=422 if form.errors else 200)


@require_safe
@for_viewers
def events_csv(request: ConsoleRequest) -> HttpResponseBase:
    """The filtered events as a file; 422 with the page if the filter makes no sense."""
    form = EventFilterForm(request.GET, providers=routes().providers)
    if not form.is_valid():
        return events(request)
    name = f"omniroute-events-{timezone.now():%Y%m%d-%H%M%S}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(csv_lines(form.kept), content_type="text/csv; charset=utf-8", headers=headers)
