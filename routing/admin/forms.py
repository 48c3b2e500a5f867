"""Forms whose secrets are write-only."""

# mypy: disable-error-code="type-arg"
# Django's admin and form classes take no type arguments at run time.

from typing import Any

from django import forms

from routing import crypto
from routing.admin.reasoned import ReasonedForm
from routing.configfile.secrets import stored_api_key
from routing.configfile.values import check_api_key
from routing.models import ClientKey, Connection, Scope


class ConnectionForm(forms.ModelForm):
    """A connection; its key can be replaced or taken away, not read."""

    new_api_key = forms.CharField(
        label="New API key",
        required=False,
        strip=True,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text="A key, stored encrypted, or env:NAME. Blank keeps the stored one.",
    )
    remove_api_key = forms.BooleanField(label="Remove the API key", required=False)

    class Meta:
        model = Connection
        fields = ("provider", "slug", "base_url", "enabled", "priority", "weight", "max_concurrency", "headers")
        help_texts = {"headers": "Extra upstream headers. Everyone here can read them: put secrets as env:NAME."}  # noqa: RUF012 (Django's way)

    def clean(self) -> dict[str, Any]:
        """Put the new key, encrypted, on the row."""
        cleaned = super().clean() or self.cleaned_data
        key = cleaned.get("new_api_key", "")
        if key and cleaned.get("remove_api_key"):
            self.add_error("remove_api_key", "Either a new key or none.")
        elif key or cleaned.get("remove_api_key"):
            self._take(key)
        return cleaned

    def _take(self, key: str) -> None:
        try:
            columns = stored_api_key(check_api_key(key), self.instance)
        except (ValueError, crypto.EncryptionUnavailableError) as error:
            self.add_error("new_api_key", str(error))
            return
        for column, value in columns.items():
            setattr(self.instance, column, value)


class ReasonedConnectionForm(ConnectionForm, ReasonedForm):
    """A connection on a page of its own."""


class ClientKeyForm(ReasonedForm):
    """A client key without its secret."""

    scopes = forms.MultipleChoiceField(choices=Scope.choices, widget=forms.CheckboxSelectMultiple, initial=["chat"])

    class Meta:
        model = ClientKey
        fields = ("name", "scopes", "models", "requests_per_minute", "enabled")
        help_texts = {"models": 'Names or patterns this key may use, such as ["gpt-*"].'}  # noqa: RUF012 (Django's way)
