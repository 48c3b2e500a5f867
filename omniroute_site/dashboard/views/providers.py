"""Providers: the list, one provider's page, trying a connection, switching a provider off and on."""

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from omniroute_site.dashboard.access import ConsoleRequest, for_configurers, for_operators, for_viewers, viewer_of
from omniroute_site.dashboard.forms import AskForm
from omniroute_site.dashboard.rows import dom_id
from omniroute_site.dashboard.selectors.providers import read_fleet, read_provider
from omniroute_site.dashboard.selectors.state import routes
from omniroute_site.dashboard.trial_words import tell
from routing import edits
from routing.models import Provider
from routing.trial import try_connection


@require_safe
@for_viewers
def providers(request: ConsoleRequest) -> HttpResponse:
    """Every provider, its connections and how they are."""
    now = timezone.now()
    context = {
        "page": "providers",
        "live": "providers",
        "fleet": read_fleet(now),
        "viewer": viewer_of(request.user),
        "now": now,
    }
    return render(request, "dashboard/providers.html", context)


@require_safe
@for_viewers
def provider(request: ConsoleRequest, slug: str) -> HttpResponse:
    """One provider: how it is, its connections, rules and numbers."""
    return _page(request, slug)


@require_POST
@for_operators
def trial(request: ConsoleRequest, slug: str, connection: str) -> HttpResponse:
    """Call the connection once, unbilled and counted nowhere, on the event loop: no thread of the proxy's waits for it."""
    found = routes().providers.get(slug)
    account = found.connection(connection) if found else None
    if found is None or account is None:
        raise Http404
    told = tell(async_to_sync(try_connection)(found, account))
    if request.htmx:
        context = {"key": dom_id(slug, connection), "told": told}
        return render(request, "dashboard/cells/trial.html", context)
    return _page(request, slug, tried=connection, told=told)


@require_POST
@for_configurers
def switch(request: ConsoleRequest, slug: str) -> HttpResponse:
    """Disable or enable a provider, with a reason; 422 and the page again without one."""
    form = AskForm(request.POST, auto_id="switch-%s")
    if not form.is_valid():
        return _page(request, slug, switch_form=form)
    enabled = request.POST.get("to") == "enabled"
    try:
        edits.switch_provider(
            slug, enabled=enabled, actor=request.user.get_username(), reason=form.cleaned_data["reason"]
        )
    except Provider.DoesNotExist as error:
        raise Http404 from error
    messages.success(request, f"{slug} is {'enabled' if enabled else 'disabled'}.")
    return HttpResponseRedirect(reverse("dashboard:provider", args=[slug]))


def _page(request: ConsoleRequest, slug: str, **more: object) -> HttpResponse:
    now = timezone.now()
    found = read_provider(slug, now)
    if found is None:
        raise Http404
    context = {
        "page": "providers",
        "found": found,
        "c": found.circuit,
        "now": now,
        "viewer": viewer_of(request.user),
        "switch_form": AskForm(auto_id="switch-%s"),
        **more,
    }
    return render(request, "dashboard/provider.html", context, status=422 if "switch_form" in more else 200)
