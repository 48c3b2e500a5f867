"""The board, and the cells of every live page as a net under the websocket."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_safe

from omniroute_site.dashboard.access import ConsoleRequest, for_viewers, viewer_of
from omniroute_site.dashboard.live import PAGES, everything
from omniroute_site.dashboard.selectors.board import read_board


@require_safe
@for_viewers
def board(request: ConsoleRequest) -> HttpResponse:
    """What is broken, since when, what happens next, what can I do."""
    now = timezone.now()
    context = {
        "page": "board",
        "live": "board",
        "board": read_board(now),
        "viewer": viewer_of(request.user),
        "now": now,
    }
    return render(request, "dashboard/board.html", context)


@require_GET
@for_viewers
def live(request: ConsoleRequest, page: str) -> HttpResponse:
    """Every cell of a live page, to be swapped by id."""
    del request
    if page not in PAGES:
        raise Http404
    return HttpResponse("".join(everything(page, timezone.now()).values()))
