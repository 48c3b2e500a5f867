"""Acting on a circuit: ask why, do it, show what came of it. Works without a script, as pages."""

from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods
from django_htmx.http import HttpResponseClientRefresh, trigger_client_event

from omniroute_site.dashboard.access import ConsoleRequest, for_operators, for_viewers, viewer_of
from omniroute_site.dashboard.acts import ACTS, Act, Scope, Target, acts_of
from omniroute_site.dashboard.forms import AskForm
from omniroute_site.dashboard.live import PAGES, everything
from omniroute_site.dashboard.lockout_rows import nearest
from omniroute_site.dashboard.rows import dom_id
from omniroute_site.dashboard.selectors.impact import impact_of_opening
from omniroute_site.dashboard.selectors.lockouts import read_lockouts
from omniroute_site.dashboard.selectors.state import routes

INSTEAD = {"disable": "enable", "enable": "disable"}
"""The button that stands where the one just used stood."""


@require_GET
@for_viewers
def acts(request: ConsoleRequest) -> HttpResponse:
    """The controls of a provider, connection or pair at rest."""
    target = _target(request.GET, Scope.PAIR)
    context = {
        "viewer": viewer_of(request.user),
        "target": target,
        "acts": acts_of(target.scope),
        "focus": request.GET.get("focus", ""),
    }
    return render(request, "dashboard/cells/acts.html", context)


@require_http_methods(["GET", "POST"])
@for_operators
def act(request: ConsoleRequest) -> HttpResponse:
    """GET asks for the reason; POST acts, or answers 422 with what is missing beside the fields."""
    given = request.POST if request.method == "POST" else request.GET
    chosen = ACTS.get(given.get("action", ""))
    if chosen is None:
        raise Http404
    if chosen.configures and not viewer_of(request.user).may_configure:
        raise PermissionDenied
    target = _target(given, chosen.scope)
    form = _form(chosen, target, request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid() and _done(chosen, target, form, request.user.get_username()):
        return _after(request, chosen, target)
    return _asked(request, chosen, target, form)


def _target(given: QueryDict, scope: Scope) -> Target:
    """The thing meant, no narrower than `scope`: below it the names are fields of a form, which checks them.

    Raises Http404 if no such provider or connection is configured.
    """
    target = Target(
        given.get("provider", ""),
        given.get("connection", "") if scope is not Scope.PROVIDER else "",
        given.get("model", "") if scope is Scope.PAIR else "",
    )
    provider = routes().providers.get(target.provider)
    if provider is None:
        raise Http404
    if target.connection and target.connection not in {connection.slug for connection in provider.connections}:
        raise Http404
    return target


def _form(chosen: Act, target: Target, data: QueryDict | None) -> AskForm:
    provider = routes().providers[target.provider]
    connections = [connection.slug for connection in provider.connections]
    return chosen.form(data, auto_id=f"ask-{target.key}-%s", connections=connections)


def _done(chosen: Act, target: Target, form: AskForm, actor: str) -> bool:
    """Whether it was done; if not, the form says why."""
    try:
        chosen.run(target, actor, form.cleaned_data)
    except ValueError as refused:
        form.add_error(None, str(refused))
        return False
    except ObjectDoesNotExist as error:  # deleted since it was looked up
        raise Http404 from error
    return True


def _asked(request: ConsoleRequest, chosen: Act, target: Target, form: AskForm) -> HttpResponse:
    form.settle_focus()
    back = _page_behind(request)
    at_rest = {"provider": target.provider, "connection": target.connection, "model": target.model}
    context: Mapping[str, object] = {
        "viewer": viewer_of(request.user),
        "act": chosen,
        "target": target,
        "form": form,
        "impact": impact_of_opening(target.provider, timezone.now()) if chosen.name == "force-open" else [],
        "back": back,
        "rest": f"{reverse('dashboard:acts')}?{urlencode({**at_rest, 'focus': chosen.name})}",
        "rest_page": reverse(f"dashboard:{back}"),
    }
    template = "dashboard/cells/ask.html" if request.htmx else "dashboard/ask.html"
    return render(request, template, context, status=422 if form.is_bound else 200)


def _after(request: ConsoleRequest, chosen: Act, target: Target) -> HttpResponse:
    """The controls at rest again, and the page as it is now; the focus goes back to where the operator was."""
    back = _page_behind(request)
    if not request.htmx:
        place = f"#tile-{dom_id(target.provider)}" if back == "board" else ""
        return HttpResponseRedirect(reverse(f"dashboard:{back}") + place)
    here = request.htmx.current_url_abs_path
    if here and urlsplit(here).path not in (reverse("dashboard:board"), reverse("dashboard:lockouts")):
        return HttpResponseClientRefresh()
    gone = chosen.name in ("unlock", "clear-cooldown", "unforce", "probe")
    controls = {
        "viewer": viewer_of(request.user),
        "target": target,
        "acts": acts_of(target.scope),
        "focus": "" if gone else INSTEAD.get(chosen.name, chosen.name),
    }
    answer = render(request, "dashboard/cells/acts.html", controls)
    answer.write("".join(everything(back, timezone.now()).values()))
    if gone:  # the button just used is no longer there
        trigger_client_event(answer, "console:focus", {"id": _nearby(back, target)}, after="settle")
    return answer


def _page_behind(request: ConsoleRequest) -> str:
    """The live page that the operator acts from, the board if it is none of them."""
    given = request.POST if request.method == "POST" else request.GET
    if given.get("back") in PAGES:
        return given["back"]
    address = urlsplit(request.htmx.current_url or request.headers.get("Referer", ""))
    try:
        name = resolve(address.path).url_name or ""
    except Resolver404:
        name = ""
    return name if name in PAGES else "board"


def _nearby(back: str, target: Target) -> str:
    """What the focus goes to when its button is gone: what it belonged to, or what stands there now."""
    if back != "lockouts":
        return f"name-{dom_id(target.provider)}"
    row = nearest(read_lockouts(timezone.now()).rows, (target.provider, target.connection, target.model))
    return f"act-unlock-{row.key}" if row else "lockouts-title"
