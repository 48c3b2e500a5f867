"""Chains as lanes."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from omniroute_site.dashboard.access import ConsoleRequest, for_viewers, viewer_of
from omniroute_site.dashboard.selectors.chains import read_chains


@require_safe
@for_viewers
def chains(request: ConsoleRequest) -> HttpResponse:
    """Every chain, and who would answer it now."""
    now = timezone.now()
    context = {
        "page": "chains", "live": "chains", "chains": read_chains(now), "viewer": viewer_of(request.user), "now": now,
    }  # fmt: skip
    return render(request, "dashboard/chains.html", context)
