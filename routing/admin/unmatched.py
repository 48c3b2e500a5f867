"""Errors that nobody knows, to be read, and to begin a rule with."""

from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from routing.admin.readonly import UnwrittenAdmin
from routing.models import Provider, UnmatchedError


@admin.register(UnmatchedError)
class UnmatchedErrorAdmin(UnwrittenAdmin):
    """What no rule, code or text told. Errors count themselves; what has been seen to is deleted."""

    list_display = ("__str__", "shown_example", "kind", "count", "last_seen_at", "rule_link")
    list_filter = ("kind", "status")
    search_fields = ("provider", "code", "example")
    fields = (
        *("provider", "status", "code", "kind", "example", "shape"),
        *("count", "first_seen_at", "last_seen_at", "rule_link"),
    )
    readonly_fields = ("rule_link",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[UnmatchedError]:
        """With the id of the provider, for the link."""
        same = Provider.objects.filter(slug=OuterRef("provider")).values("pk")
        rows: QuerySet[UnmatchedError] = super().get_queryset(request).annotate(provider_id=Subquery(same))
        return rows

    @admin.display(description="Example")
    def shown_example(self, row: UnmatchedError) -> str:
        """Return the message, or the shape of an error without one."""
        return row.example or row.shape

    @admin.display(description="Rule")
    def rule_link(self, row: UnmatchedError) -> str:
        """Link to a new rule that begins with what these errors have in common."""
        provider = getattr(row, "provider_id", None)
        if not provider or not row.shape:
            return ""
        said = {name: value for name, value in row.rule_fields.items() if value}
        query = urlencode({"provider": provider, **said})
        return format_html('<a href="{}?{}">Make a rule…</a>', reverse("admin:routing_errorrule_add"), query)
