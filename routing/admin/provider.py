"""Providers and what belongs to them."""

# mypy: disable-error-code="type-arg"
# Django's admin and form classes take no type arguments at run time.

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from routing.admin.forms import ConnectionForm, ReasonedConnectionForm
from routing.admin.reasoned import ReasonedAdmin
from routing.models import Connection, ErrorRule, Provider, UpstreamModel
from routing.tunables import TUNABLES


def _section(name: str) -> tuple[str, ...]:
    return tuple(column for column, tunable in TUNABLES.items() if tunable.section == name)


class ShowsKey:
    """Which key a connection has stored, without its value."""

    @admin.display(description="API key")
    def shown_key(self, connection: Connection) -> str:
        """Return the reference, or the end of a literal."""
        return connection.shown_key or "none"


class ConnectionInline(ShowsKey, admin.StackedInline):
    """The accounts of a provider."""

    model = Connection
    form = ConnectionForm
    extra = 0
    fields = (
        ("slug", "enabled", "priority", "weight", "max_concurrency"),
        ("shown_key", "new_api_key", "remove_api_key"),
        ("base_url", "headers"),
    )
    readonly_fields = ("shown_key",)


class ErrorRuleInline(admin.TabularInline):
    """The operator's rules for reading a provider's errors."""

    model = ErrorRule
    extra = 0


class UpstreamModelInline(admin.TabularInline):
    """What is known of a provider's models."""

    model = UpstreamModel
    extra = 0


@admin.register(Provider)
class ProviderAdmin(ReasonedAdmin):
    """Who is called."""

    list_display = ("slug", "title", "format", "base_url", "enabled")
    list_editable = ("enabled",)
    list_filter = ("enabled", "format")
    search_fields = ("slug", "name", "base_url")
    inlines = (ConnectionInline, UpstreamModelInline, ErrorRuleInline)
    fieldsets = (
        (None, {"fields": ("slug", "name", "format", "base_url", "enabled")}),
        ("Breaker", {"fields": _section("breaker"), "classes": ("collapse",)}),
        (
            "Cooldowns by kind (s)",
            {"fields": (*_section("cooldown_by_kind"), "max_cooldown"), "classes": ("collapse",)},
        ),
        ("Lockouts", {"fields": _section("lockout"), "classes": ("collapse",)}),
        ("Timeouts (s)", {"fields": _section("timeouts"), "classes": ("collapse",)}),
        ("Attempts", {"fields": ("retries", "retry_backoff", "stream_rescue"), "classes": ("collapse",)}),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Provider | None = None) -> Any:
        """Slugs never change: state, logs and files name providers by them."""
        _ = request
        return ("slug",) if obj else ()


@admin.register(Connection)
class ConnectionAdmin(ShowsKey, ReasonedAdmin):
    """One account at a provider."""

    form = ReasonedConnectionForm
    actions: tuple[str, ...] = (*ReasonedAdmin.actions, "move_to_priority")
    list_display = ("__str__", "provider", "shown_key", "enabled", "priority", "weight", "max_concurrency")
    list_editable = ("enabled", "priority", "weight")
    list_filter = ("enabled", "provider")
    list_select_related = ("provider",)
    search_fields = ("slug", "provider__slug")
    fields = (
        "provider",
        "slug",
        "shown_key",
        "new_api_key",
        "remove_api_key",
        "base_url",
        "enabled",
        "priority",
        "weight",
        "max_concurrency",
        "headers",
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Connection | None = None) -> Any:
        """Slugs never change."""
        _ = request
        return ("provider", "slug", "shown_key") if obj else ("shown_key",)


@admin.register(UpstreamModel)
class UpstreamModelAdmin(ReasonedAdmin):
    """Facts about a model of a provider."""

    actions: tuple[str, ...] = ("delete",)
    list_display = ("model", "provider", "context_window", "max_output_tokens", "input_price", "output_price")
    list_editable = ("input_price", "output_price")
    list_filter = ("provider",)
    list_select_related = ("provider",)
    search_fields = ("model",)


@admin.register(ErrorRule)
class ErrorRuleAdmin(ReasonedAdmin):
    """An operator's rule for reading a provider's errors."""

    actions: tuple[str, ...] = ("delete",)
    list_display = ("__str__", "provider", "position", "status", "code", "pattern", "kind", "cooldown")
    list_editable = ("position",)
    list_filter = ("provider", "kind")
    list_select_related = ("provider",)
    search_fields = ("name", "code", "pattern")
