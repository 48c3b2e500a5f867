"""Every component in every state, for those who change them."""

from datetime import datetime

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from omniroute_site.dashboard import provider_samples, record_samples, samples
from omniroute_site.dashboard.access import ConsoleRequest, for_staff, viewer_of
from omniroute_site.dashboard.acts import ACTS, Target
from omniroute_site.dashboard.board_rows import Board, Count, Numbers, Phrase, Verdict
from omniroute_site.dashboard.chain_draft import forms_of, sent
from omniroute_site.dashboard.chain_rows import Lane
from omniroute_site.dashboard.forms import LockAnyForm
from omniroute_site.dashboard.key_forms import KeyForm
from omniroute_site.dashboard.selectors.requests import Filter, RequestList
from omniroute_site.dashboard.views.sheet_pages import More, Sheet, Who
from routing.configfile.plan import Plan
from routing.table import RoutingTable


@require_safe
@for_staff
def patterns(request: ConsoleRequest) -> HttpResponse:
    """The pattern page."""
    now = timezone.now()
    board = samples.board(now)
    lanes = samples.lanes(now)
    nothing = Verdict((Phrase("No provider yet."),), "No provider", "off")
    context = {
        "viewer": viewer_of(request.user),
        "board": board,
        "empty": Board((), nothing, Numbers(), ()),
        "verdicts": [
            {"verdict": board.verdict, "numbers": board.numbers},
            {"verdict": samples.healthy_verdict(), "numbers": Numbers(3.2)},
        ],
        "asks": _asks(),
        "lanes": lanes,
        "editor": _editor(lanes[0]),
        "records": _records(now),
        "fleet": provider_samples.fleet(now),
        "accounts": provider_samples.accounts(now),
        "trials": provider_samples.trials(),
        "group": provider_samples.settings(),
        "rules": provider_samples.rules(),
        "unmatched": provider_samples.unmatched(now),
        "sheet": Sheet("Connection", "sample", provider_samples.sheet(), "", _saves_nothing, more=_MORE),
        "requests": RequestList(()),
        "kept": Filter(),
    }
    return render(request, "dashboard/patterns.html", context)


def _records(now: datetime) -> dict[str, object]:
    """Lists of what happened or exists, and the forms that add to them sent empty."""
    key_form = KeyForm({}, auto_id="sample-key-%s")
    lock_form = LockAnyForm({}, auto_id="sample-lock-%s", connections=["openai/main"])
    key_form.is_valid()
    lock_form.is_valid()
    return {
        "requests": record_samples.requests(now),
        "newer": Count(12),
        "explained": record_samples.explained(now),
        "lockouts": record_samples.lockouts(now),
        "lock_form": lock_form,
        "events": record_samples.event_list(now),
        "keys": record_samples.keys(now),
        "key_form": key_form,
        "made": (record_samples.keys(now)[0], "sk-or-shown-once-and-never-again"),
        "processes": record_samples.processes(now),
    }


def _saves_nothing(seen: str, who: Who) -> Plan:
    del seen, who
    return Plan()


_MORE = {"delete": More("Delete rule", _saves_nothing, danger=True)}


def _editor(lane: Lane) -> dict[str, object]:
    """The chain editor at its worst: mistakes, and somebody else has saved."""
    data = samples.chain_form()
    draft = sent(data)
    forms = forms_of(draft, RoutingTable(), data)
    forms.is_valid()
    return {"draft": draft, "forms": forms, "lane": lane, "conflict": True}


def _asks() -> list[dict[str, object]]:
    """Forms: fresh, and sent empty."""
    asks: list[dict[str, object]] = []
    sent: list[tuple[str, dict[str, str] | None]] = [("force-open", None), ("lock", None), ("reset", {})]
    for number, (name, data) in enumerate(sent):
        act = ACTS[name]
        target = Target(f"sample-{number}")
        form = act.form(data, auto_id=f"sample-{number}-%s", connections=["main", "batch"])
        asks.append({"act": act, "form": form, "target": target, "impact": ["gpt-4o would have no target left."]})
    return asks
