"""Adding and changing providers and their connections."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_http_methods

from omniroute_site.dashboard.access import ConsoleRequest, for_configurers
from omniroute_site.dashboard.provider_forms import ConnectionForm, NewProviderForm, ProviderForm
from omniroute_site.dashboard.views.sheet_pages import AUTO_ID, Sheet, Who, answer, sent
from routing import edits
from routing.configfile.plan import Plan
from routing.models import Connection, Provider


@require_http_methods(["GET", "POST"])
@for_configurers
def new_provider(request: ConsoleRequest) -> HttpResponse:
    """A provider with its first connection."""
    form = NewProviderForm(sent(request), auto_id=AUTO_ID, initial={"connection": "main"})

    def put(_seen: str, who: Who) -> Plan:
        return edits.save_provider(form.checked, edits.NEW, **who)

    return answer(request, Sheet("New provider", "", form, edits.NEW, put))


@require_http_methods(["GET", "POST"])
@for_configurers
def settings(request: ConsoleRequest, slug: str) -> HttpResponse:
    """A provider's address and numbers."""
    row = get_object_or_404(Provider, slug=slug)
    form = ProviderForm(sent(request), slug=slug, auto_id=AUTO_ID, initial=ProviderForm.stored(row))

    def put(seen: str, who: Who) -> Plan:
        return edits.save_provider(form.checked, seen, **who)

    def fresh() -> tuple[str, dict[str, Any]]:
        now = Provider.objects.get(slug=slug)
        return edits.stamp_of(now), ProviderForm.stored(now)

    sheet = Sheet("Settings", slug, form, edits.stamp_of(row), put, fresh, f"provider {slug}")
    return answer(request, sheet)


@require_http_methods(["GET", "POST"])
@for_configurers
def new_connection(request: ConsoleRequest, slug: str) -> HttpResponse:
    """Another account at a provider."""
    get_object_or_404(Provider, slug=slug)
    form = ConnectionForm(sent(request), auto_id=AUTO_ID, initial={"enabled": True})

    def put(_seen: str, who: Who) -> Plan:
        return edits.save_connection(slug, form.checked, edits.NEW, **who)

    return answer(request, Sheet("New connection", slug, form, edits.NEW, put))


@require_http_methods(["GET", "POST"])
@for_configurers
def connection(request: ConsoleRequest, slug: str, connection: str) -> HttpResponse:
    """An account at a provider."""
    row = get_object_or_404(Connection, provider__slug=slug, slug=connection)
    stored = ConnectionForm.stored(row)
    form = ConnectionForm(sent(request), row=row, auto_id=AUTO_ID, initial=stored)

    def put(seen: str, who: Who) -> Plan:
        return edits.save_connection(slug, form.checked, seen, **who)

    def fresh() -> tuple[str, dict[str, Any]]:
        now = Connection.objects.get(pk=row.pk)
        return edits.stamp_of(now), ConnectionForm.stored(now)

    subject = f"connection {slug}/{connection}"
    sheet = Sheet(f"Connection {connection}", slug, form, edits.stamp_of(row), put, fresh, subject)
    return answer(request, sheet)
