"""Client keys: shown once, when they are made."""

# mypy: disable-error-code="type-arg"
# Django's admin and form classes take no type arguments at run time.

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from resilience.bulk import Given, Work
from routing.admin.forms import ClientKeyForm
from routing.admin.reasoned import ReasonedAdmin, record
from routing.client_keys import give_secret
from routing.models import ClientKey


@admin.register(ClientKey)
class ClientKeyAdmin(ReasonedAdmin):
    """Who may call us."""

    form = ClientKeyForm
    list_display = ("name", "shown_key", "scopes", "models", "requests_per_minute", "enabled", "created_at")
    list_editable = ("requests_per_minute", "enabled")
    list_filter = ("enabled",)
    search_fields = ("name",)
    fields = ("name", "shown_key", "scopes", "models", "requests_per_minute", "enabled", "created_at")
    readonly_fields = ("shown_key", "created_at")
    actions: tuple[str, ...] = (*ReasonedAdmin.actions, "replace_key")

    @admin.display(description="Key")
    def shown_key(self, key: ClientKey) -> str:
        """Return the end of the key, as far as it may be seen."""
        return f"…{key.key_hint}" if key.key_hint else "stored"

    def save_model(self, request: HttpRequest, obj: ClientKey, form: Any, change: bool) -> None:  # noqa: FBT001 (Django's signature)
        """Generate a new key's secret and show it, this once."""
        secret = None if change else give_secret(obj)
        super().save_model(request, obj, form, change)
        if secret:
            _show(self, request, obj, secret)

    @admin.action(description="Replace the secret of selected keys", permissions=["change"])
    def replace_key(self, request: HttpRequest, queryset: QuerySet[ClientKey]) -> TemplateResponse | None:
        """Generate other secrets; the old ones stop working within a second."""
        made: list[tuple[ClientKey, str]] = []

        def act(key: ClientKey, actor: str, reason: str, given: Given) -> None:
            del given
            made.append((key, give_secret(key)))
            key.save(update_fields=["key_hash", "key_hint"])
            record(key, "secret replaced", actor, reason)

        work: Work[ClientKey] = Work(
            explanation="Gives these keys other secrets, shown once; the old ones stop working within a second.",
            before=self.shown_key,
            after=lambda _key, _given: "a new one",
            act=act,
        )
        asked = self.confirmed(request, queryset, work)
        if asked is None:  # all of it is committed
            for key, secret in made:
                _show(self, request, key, secret)
        return asked


def _show(key_admin: ClientKeyAdmin, request: HttpRequest, key: ClientKey, secret: str) -> None:
    text = f"The key of {key.name} is {secret} — copy it now, only its hash is stored."
    key_admin.message_user(request, text, messages.WARNING)
