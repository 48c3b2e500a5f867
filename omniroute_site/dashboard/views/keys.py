"""Client keys: made and shown once, switched and deleted with a reason. Works without a script, as pages."""

from collections.abc import Mapping

from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import reswap, retarget, trigger_client_event

from omniroute_site.dashboard.access import ConsoleRequest, for_key_issuers, for_viewers, viewer_of
from omniroute_site.dashboard.forms import AskForm
from omniroute_site.dashboard.key_forms import KeyForm
from omniroute_site.dashboard.key_rows import DELETE, DISABLE, ENABLE, KEY_ACTS, KeyAct, KeyRow
from omniroute_site.dashboard.selectors.keys import read_key, read_keys
from routing import client_keys
from routing.models import ClientKey

OPPOSITE = {DISABLE.name: ENABLE.name, ENABLE.name: DISABLE.name}


@require_safe
@for_viewers
def keys(request: ConsoleRequest) -> HttpResponse:
    """Who may call us, and for what."""
    return render(request, "dashboard/keys.html", _context(request, KeyForm(auto_id="key-%s")))


@require_POST
@for_key_issuers
def create(request: ConsoleRequest) -> HttpResponse:
    """Make a key and show it, in this answer and never again; or 422 with what is wrong beside the fields."""
    form = KeyForm(request.POST, auto_id="key-%s")
    made = _made(form, request.user.get_username()) if form.is_valid() else None
    if made is None:
        form.settle_focus()
    context = _context(request, KeyForm(auto_id="key-%s") if made else form) | {"made": made}
    template = "dashboard/cells/key_form.html" if request.htmx else "dashboard/keys.html"
    answer = render(request, template, context, status=200 if made else 422)
    if made and request.htmx:
        answer.write(render(request, "dashboard/cells/keys.html", context | {"oob": True}).content.decode())
    add_never_cache_headers(answer)
    return answer


def _made(form: KeyForm, actor: str) -> tuple[ClientKey, str] | None:
    """The key and its secret; None if it could not be made, and the form says why."""
    given = form.cleaned_data
    try:
        return client_keys.create(
            given["name"],
            scopes=given["scopes"],
            models=given["models"],
            requests_per_minute=given["requests_per_minute"] or 0,
            actor=actor,
            reason=given["reason"],
        )
    except client_keys.NameTakenError as taken:
        form.add_error("name", str(taken))
    except (ValidationError, ValueError) as refused:
        form.add_error(None, refused if isinstance(refused, ValidationError) else str(refused))
    return None


@require_http_methods(["GET", "POST"])
@for_key_issuers
def act(request: ConsoleRequest, key_id: int) -> HttpResponse:
    """GET asks for the reason, or without an action gives the buttons at rest; POST acts, or answers 422."""
    given = request.POST if request.method == "POST" else request.GET
    row = read_key(key_id, timezone.now())
    chosen = KEY_ACTS.get(given.get("action", ""))
    if row is None or (chosen is None and request.method == "POST"):
        raise Http404
    if chosen is None:
        context = {"viewer": viewer_of(request.user), "row": row, "focus": given.get("focus", "")}
        return render(request, "dashboard/cells/key_acts.html", context)
    form = AskForm(request.POST if request.method == "POST" else None, auto_id=f"ask-key-{row.id}-%s")
    if form.is_bound and form.is_valid():
        _do(chosen, row, form.cleaned_data["reason"], request.user.get_username())
        return _after(request, chosen, row)
    return _asked(request, chosen, row, form)


def _do(chosen: KeyAct, row: KeyRow, reason: str, actor: str) -> None:
    try:
        if chosen is DELETE:
            client_keys.delete(row.id, actor=actor, reason=reason)
        else:
            client_keys.switch(row.id, enabled=chosen is ENABLE, actor=actor, reason=reason)
    except ClientKey.DoesNotExist:  # deleted since it was looked up
        raise Http404 from None


def _asked(request: ConsoleRequest, chosen: KeyAct, row: KeyRow, form: AskForm) -> HttpResponse:
    form.settle_focus()
    at_rest = reverse("dashboard:key", args=[row.id])
    context: Mapping[str, object] = {
        "page": "keys",
        "viewer": viewer_of(request.user),
        "act": chosen,
        "row": row,
        "form": form,
        "rest": f"{at_rest}?focus={chosen.name}",
        "rest_page": reverse("dashboard:keys"),
    }
    template = "dashboard/cells/key_ask.html" if request.htmx else "dashboard/key_ask.html"
    return render(request, template, context, status=422 if form.is_bound else 200)


def _after(request: ConsoleRequest, chosen: KeyAct, row: KeyRow) -> HttpResponse:
    """The list as it is now; the focus goes to the button that took the place of the one just used."""
    if not request.htmx:
        return HttpResponseRedirect(reverse("dashboard:keys"))
    answer = render(request, "dashboard/cells/keys.html", _context(request, KeyForm()))
    focus = "keys-title" if chosen is DELETE else f"act-{OPPOSITE[chosen.name]}-key-{row.id}"
    trigger_client_event(answer, "console:focus", {"id": focus}, after="settle")
    return reswap(retarget(answer, "#keys"), "outerHTML")


def _context(request: ConsoleRequest, form: KeyForm) -> dict[str, object]:
    now = timezone.now()
    return {"page": "keys", "viewer": viewer_of(request.user), "form": form, "rows": read_keys(now), "now": now}
