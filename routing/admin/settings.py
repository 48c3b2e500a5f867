"""The settings that hold for every request, and the version of the rows."""

from django.contrib import admin
from django.http import HttpRequest

from routing.admin.readonly import ReadOnlyAdmin
from routing.admin.reasoned import ReasonedAdmin
from routing.models import GatewaySettings, TableVersion


@admin.register(GatewaySettings)
class GatewaySettingsAdmin(ReasonedAdmin):
    """The single row."""

    actions: tuple[str, ...] = ()
    list_display = ("__str__", "max_attempts", "emergency_enabled", "on_content_filter")
    fieldsets = (
        (None, {"fields": ("max_attempts", "wait_for_retry_after", "max_cooldown_wait", "on_content_filter")}),
        (
            "Emergency fallback",
            {
                "fields": (
                    "emergency_enabled",
                    "emergency_provider",
                    "emergency_model",
                    "emergency_max_output_tokens",
                    "emergency_skip_tool_requests",
                )
            },
        ),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        """There is one at most."""
        return super().has_add_permission(request) and not GatewaySettings.objects.exists()

    def has_delete_permission(self, request: HttpRequest, obj: GatewaySettings | None = None) -> bool:
        """It is changed, not deleted."""
        _ = request, obj
        return False


@admin.register(TableVersion)
class TableVersionAdmin(ReadOnlyAdmin):
    """Which version of the rows the routing tables are compared with; every write of the configuration touches it."""

    list_display = ("value",)
