"""Chains as lanes, and their edits."""

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST, require_safe

from omniroute_site.dashboard.access import ConsoleRequest, for_configurers, for_viewers, viewer_of
from omniroute_site.dashboard.chain_edits import EDITS, ChainChangedError, NoSuchEntryError, edit
from omniroute_site.dashboard.selectors.chains import read_chains, read_lane

CHANGED = "Somebody else changed this chain meanwhile. Nothing was saved; look at it as it is now and try again."


@require_safe
@for_viewers
def chains(request: ConsoleRequest) -> HttpResponse:
    """Every chain, and who would answer it now."""
    now = timezone.now()
    context = {
        "page": "chains", "live": "chains", "chains": read_chains(now), "viewer": viewer_of(request.user), "now": now,
    }  # fmt: skip
    return render(request, "dashboard/chains.html", context)


@require_POST
@for_configurers
def chain(request: ConsoleRequest, chain_id: int) -> HttpResponse:
    """Move or switch an entry, on the version the page showed; 422 with the chain as it is if that is not the last."""
    what, _colon, entry = request.POST.get("edit", "").partition(":")
    version = request.POST.get("version", "")
    if what not in EDITS or not version.isdecimal() or not (entry.isdecimal() or not entry):
        raise Http404
    problem = ""
    try:
        edit(chain_id, int(version), what, int(entry) if entry else None, user_id=request.user.pk)
    except ChainChangedError:
        problem = CHANGED
    except NoSuchEntryError:
        problem = "This entry is gone."
    lane = read_lane(chain_id, timezone.now())
    if lane is None:
        raise Http404
    if not request.htmx and not problem:
        return HttpResponseRedirect(f"{reverse('dashboard:chains')}#lane-{chain_id}")
    context = {"lane": lane, "viewer": viewer_of(request.user), "problem": problem, "page": "chains"}
    template = "dashboard/cells/lane.html" if request.htmx else "dashboard/chain.html"
    return render(request, template, context, status=422 if problem else 200)


@require_GET
@for_viewers
def edits(request: ConsoleRequest, chain_id: int, entry_id: int) -> HttpResponse:
    """The controls of a chain (entry 0) or of one of its entries."""
    lane = read_lane(chain_id, timezone.now())
    entry = next((entry for entry in lane.entries if entry.id == entry_id), None) if lane else None
    if lane is None or (entry_id and entry is None):
        raise Http404
    context = {
        "viewer": viewer_of(request.user),
        "lane": lane,
        "entry_id": entry_id,
        "key": f"entry-{entry_id}" if entry else f"lane-{lane.id}",
        "name": entry.provider if entry else lane.model,
    }
    return render(request, "dashboard/cells/edits.html", context)
