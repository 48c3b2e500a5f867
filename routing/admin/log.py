"""The request log, to be read."""

import json

from django.contrib import admin
from django.utils.html import format_html

from routing.admin.readonly import ReadOnlyAdmin
from routing.models import RequestLog


@admin.register(RequestLog)
class RequestLogAdmin(ReadOnlyAdmin):
    """What happened. Requests write themselves, and `prune` deletes what is past retention."""

    list_display = (
        "started_at",
        "chain",
        "outcome",
        "status",
        "provider",
        "model",
        "attempts",
        "duration",
        "key_name",
        "id",
    )
    list_display_links = ("started_at", "id")
    list_filter = ("outcome",)
    search_fields = ("chain__exact", "provider__exact")  # what has an index; the table grows by the request
    search_help_text = "The exact name of a chain or a provider."
    show_full_result_count = False
    fields = tuple(
        "shown_targets" if field.name == "targets_json" else field.name
        for field in RequestLog._meta.concrete_fields  # noqa: SLF001 (documented API)
    )
    readonly_fields = ("shown_targets",)

    @admin.display(description="Attempts and skips")
    def shown_targets(self, row: RequestLog) -> str:
        """Return the targets in order, readable."""
        return format_html("<pre>{}</pre>", json.dumps(row.targets, indent=2, ensure_ascii=False))
