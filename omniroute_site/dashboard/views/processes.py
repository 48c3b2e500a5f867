"""What each process knows, how old that is, and what it has in hand."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from omniroute_site.dashboard.access import ConsoleRequest, for_viewers, viewer_of
from omniroute_site.dashboard.selectors.processes import read_processes


@require_safe
@for_viewers
def processes(request: ConsoleRequest) -> HttpResponse:
    """Every process that spoke of late."""
    now = timezone.now()
    context = {
        "page": "processes",
        "live": "processes",
        "viewer": viewer_of(request.user),
        "processes": read_processes(now),
        "now": now,
    }
    return render(request, "dashboard/processes.html", context)
