"""One chain as a form: changed row by row, saved as a whole."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from omniroute_site.dashboard.access import ConsoleRequest, for_configurers
from omniroute_site.dashboard.chain_draft import ChainDraft, DraftForms, forms_of, sent, stored, unchecked
from omniroute_site.dashboard.chain_lint import Link, unexercised, warnings
from omniroute_site.dashboard.chain_saving import ChainChangedError, Save, delete_chain, last_save, save_chain
from omniroute_site.dashboard.selectors.chain_use import answered_lately
from omniroute_site.dashboard.selectors.chains import read_lane
from omniroute_site.dashboard.selectors.state import routes
from routing.models import FallbackChain

EDITS: Mapping[str, Callable[[ChainDraft, str], ChainDraft]] = MappingProxyType(
    {
        "move-up": lambda draft, key: draft.moved(key, -1),
        "move-down": lambda draft, key: draft.moved(key, +1),
        "remove": lambda draft, key: draft.without(key),
        "add": lambda draft, _key: draft.with_another(),
        "redraw": lambda draft, _key: draft,
    }
)
"""What changes the draft and saves nothing."""


@require_http_methods(["GET", "POST"])
@for_configurers
def new_chain(request: ConsoleRequest) -> HttpResponse:
    """A chain that is not there yet."""
    return _edited(request, None)


@require_http_methods(["GET", "POST"])
@for_configurers
def chain(request: ConsoleRequest, chain_id: int) -> HttpResponse:
    """A chain of the configuration."""
    return _edited(request, get_object_or_404(FallbackChain, pk=chain_id))


def _edited(request: ConsoleRequest, found: FallbackChain | None) -> HttpResponse:
    """GET shows it; POST changes the draft, or saves it: 422 with what is wrong, or with what somebody else saved."""
    table = routes()
    if request.method == "GET":
        draft = stored(found) if found else ChainDraft().with_another()
        return _shown(request, found, draft, unchecked(draft, table))
    draft = sent(request.POST)
    what, _colon, key = request.POST.get("do", "").partition(":")
    if what in EDITS:
        draft = EDITS[what](draft, key)
        return _shown(request, found, draft, unchecked(draft, table, request.POST.get("reason", "")))
    if what == "lint":
        context = {"warnings": _warnings(found, draft), "found": found}
        return render(request, "dashboard/cells/chain_lint.html", context)
    if what not in ("save", "delete"):
        raise Http404
    forms = forms_of(draft, table, request.POST)
    return _settled(request, found, draft, forms, deleting=what == "delete")


def _settled(
    request: ConsoleRequest, found: FallbackChain | None, draft: ChainDraft, forms: DraftForms, *, deleting: bool
) -> HttpResponse:
    """Save or delete, if the form allows it and nobody came first."""
    by = Save(request.user.get_username(), request.POST.get("reason", ""))
    try:
        if deleting and found is not None:
            if not forms.chain.has_error("reason"):
                delete_chain(found, draft.version, by)
                return _left(request, f"Chain {found.model} is deleted.", "")
        elif forms.is_valid(found.pk if found else None):
            saved = save_chain(found, draft, forms, by)
            return _left(request, f"Chain {saved.model} is saved.", f"#lane-{saved.pk}")
    except ChainChangedError:
        return _conflict(request, found, draft)
    return _shown(request, found, draft, forms, status=422)


def _left(request: ConsoleRequest, word: str, place: str) -> HttpResponse:
    messages.success(request, word)
    address = reverse("dashboard:chains") + place
    return HttpResponseClientRedirect(address) if request.htmx else HttpResponseRedirect(address)


def _conflict(request: ConsoleRequest, found: FallbackChain | None, draft: ChainDraft) -> HttpResponse:
    """What is in force now above the draft, which is now based on it: saving again replaces it, knowingly."""
    current = FallbackChain.objects.filter(pk=found.pk).first() if found else None
    if found is not None and current is None:
        return _left(request, f"Chain {found.model} was deleted meanwhile. Nothing was saved.", "")
    ours = ChainDraft(draft.model, draft.strategy, draft.enabled, current.version if current else 0, draft.entries)
    forms = unchecked(ours, routes(), request.POST.get("reason", ""))
    more = {
        "conflict": True,
        "lane": read_lane(current.pk, timezone.now()) if current else None,
        "last": last_save(current.model) if current else None,
    }
    return _shown(request, current, ours, forms, status=422, more=more)


def _shown(
    request: ConsoleRequest,
    found: FallbackChain | None,
    draft: ChainDraft,
    forms: DraftForms,
    *,
    status: int = 200,
    more: Mapping[str, object] | None = None,
) -> HttpResponse:
    context = {
        "page": "chains",
        "found": found,
        "draft": draft,
        "forms": forms,
        "warnings": _warnings(found, draft),
        "action": reverse("dashboard:chain", args=[found.pk]) if found else reverse("dashboard:new-chain"),
        **(more or {}),
    }
    template = "dashboard/cells/chain_editor.html" if request.htmx else "dashboard/chain_editor.html"
    return render(request, template, context, status=status)


def _warnings(found: FallbackChain | None, draft: ChainDraft) -> list[str]:
    links = [Link(each.provider, each.model or draft.model, each.connection, each.enabled) for each in draft.entries]
    links = [link for link in links if link.provider]
    told = list(warnings(links, routes()))
    if found is not None:
        answered, requests = answered_lately(found.model, timezone.now())
        told += unexercised(links, answered, requests=requests)
    return told
