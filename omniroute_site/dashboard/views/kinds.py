"""What each kind of failure does, and the rules by which operators read a provider's errors."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_safe

from omniroute_site.dashboard.access import ConsoleRequest, for_configurers, for_viewers, viewer_of
from omniroute_site.dashboard.provider_forms import RuleForm
from omniroute_site.dashboard.selectors.providers import read_rules, read_unmatched
from omniroute_site.dashboard.views.sheet_pages import AUTO_ID, More, Save, Sheet, Who, answer, sent
from resilience.core.kinds import RULES
from routing import edits
from routing.configfile.plan import Plan
from routing.models import Provider

PREFILLED = ("status", "code", "pattern", "kind")
"""Members of a rule that a link may fill in."""


@require_safe
@for_viewers
def kinds(request: ConsoleRequest) -> HttpResponse:
    """The table that decides, and what operators added to it."""
    rules = read_rules()
    context = {
        "page": "kinds",
        "kinds": RULES.values(),
        "ruled": [(provider, found) for provider, found in rules.items() if found],
        "unruled": [provider for provider, found in rules.items() if not found],
        "unmatched": read_unmatched(rules),
        "viewer": viewer_of(request.user),
    }
    return render(request, "dashboard/kinds.html", context)


@require_http_methods(["GET", "POST"])
@for_configurers
def new_rule(request: ConsoleRequest, slug: str) -> HttpResponse:
    """Another rule, tried after the others; a link may fill it in."""
    get_object_or_404(Provider, slug=slug)
    initial = {name: request.GET[name][:500] for name in PREFILLED if name in request.GET}
    form = RuleForm(sent(request), auto_id=AUTO_ID, initial=initial)

    def put(_seen: str, who: Who) -> Plan:
        return edits.edit_rules(slug, edits.rule_added(form.checked), None, **who)

    return answer(request, Sheet("New error rule", slug, form, edits.NEW, put))


@require_http_methods(["GET", "POST"])
@for_configurers
def rule(request: ConsoleRequest, slug: str, number: int) -> HttpResponse:
    """A rule: changed, moved or deleted."""
    provider = get_object_or_404(Provider, slug=slug)
    form = RuleForm(sent(request), auto_id=AUTO_ID, initial=_stored(provider, number))

    def doing(arrange: edits.Arrange) -> Save:
        return lambda seen, who: edits.edit_rules(slug, arrange, seen, **who)

    def put(seen: str, who: Who) -> Plan:
        return doing(edits.rule_replaced(number, form.checked))(seen, who)

    def fresh() -> tuple[str, dict[str, Any]]:
        return edits.rules_stamp(provider), _stored(provider, number)

    more = {
        "move-up": More("Move up", doing(edits.rule_moved(number, -1))),
        "move-down": More("Move down", doing(edits.rule_moved(number, +1))),
        "delete": More("Delete rule", doing(edits.rule_removed(number)), danger=True),
    }
    sheet = Sheet(
        f"Error rule {number + 1}", slug, form, edits.rules_stamp(provider), put, fresh, f"rules {slug}", more=more
    )
    return answer(request, sheet)


def _stored(provider: Provider, number: int) -> dict[str, Any]:
    """What the fields show of a rule. Raises Http404 if it is not there."""
    rules = RuleForm.stored_rules(provider)
    if number >= len(rules):
        raise Http404
    return rules[number]
