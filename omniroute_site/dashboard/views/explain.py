"""Explain: who would be asked, what stops the others and until when, and what if. Nothing is called or changed."""

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from omniroute_site.dashboard.access import ConsoleRequest, for_viewers, viewer_of
from omniroute_site.dashboard.explain_forms import QuestionForm, SupposeForm
from omniroute_site.dashboard.explain_rows import Explained
from omniroute_site.dashboard.selectors.explain import copied_state, read_explained, read_supposed
from omniroute_site.dashboard.selectors.state import routes
from routing.errors import GatewayError
from routing.table import RoutingTable


@require_http_methods(["GET", "HEAD", "POST"])
@for_viewers
def explain(request: ConsoleRequest) -> HttpResponse:
    """The question in a form, its answer beside it. POST keeps a pasted body out of addresses, and so out of logs."""
    given = request.POST if request.method == "POST" else request.GET
    table = routes()
    form = QuestionForm(given, auto_id="ask-%s")
    explained, suppose = _answered(form, given, table) if form.is_valid() and form.asked else (None, None)
    context = {
        "page": "explain",
        "viewer": viewer_of(request.user),
        "form": form,
        "suppose": suppose,
        "explained": explained,
        "chains": [chain.model for chain in table.chains.values() if chain.enabled],
        "now": timezone.now(),
    }
    bad = form.errors or (suppose is not None and suppose.errors)
    template = "dashboard/cells/explain.html" if request.htmx else "dashboard/explain.html"
    return render(request, template, context, status=422 if bad else 200)


def _answered(form: QuestionForm, given: QueryDict, table: RoutingTable) -> tuple[Explained | None, SupposeForm | None]:
    """The answer as things are, or with what is supposed if that makes sense."""
    now, layers = timezone.now(), copied_state()
    try:
        explained = read_explained(form.asked, table, layers, now, form.request)
    except GatewayError as error:
        form.refuse(error.message)
        return None, None
    suppose = SupposeForm(given, explained.candidates)
    if suppose.is_valid() and not suppose.supposition.empty:
        explained = read_supposed(explained, table, layers, suppose.supposition, now)
    return explained, suppose
