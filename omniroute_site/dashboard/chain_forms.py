"""The chain editor's fields."""

from collections.abc import Iterable
from typing import Any

from django import forms

from omniroute_site.dashboard.forms import AskForm
from routing.models import FallbackChain, Strategy
from routing.models.base import MAX_WEIGHT, MIN_WEIGHT

LONGEST_NAME = 200


class ChainForm(AskForm):
    """The chain itself, and why it is changed."""

    field_order = ("model", "strategy", "enabled", "reason")
    model = forms.CharField(
        max_length=LONGEST_NAME,
        label="Name apps ask for",
        error_messages={"required": "Apps ask for it by a name."},
        widget=forms.TextInput(attrs={"class": "input mono", "autocomplete": "off", "placeholder": "gpt-4o"}),
    )
    strategy = forms.ChoiceField(choices=Strategy.choices, widget=forms.Select(attrs={"class": "input"}))
    enabled = forms.BooleanField(required=False)

    def clean_model(self) -> str:
        """Refuse what no request could name."""
        model: str = self.cleaned_data["model"]
        if not model.isprintable():
            raise forms.ValidationError("Only printable characters.")
        return model

    def refuse_taken_name(self, chain_id: int | None) -> bool:
        """Whether another chain has this name; the field says so then."""
        taken = FallbackChain.objects.filter(model=self.cleaned_data["model"]).exclude(pk=chain_id or 0).exists()
        if taken:
            self.add_error("model", "There is a chain of this name already.")
        return taken


class EntryForm(forms.Form):
    """One entry."""

    use_required_attribute = False
    provider = forms.ChoiceField(
        error_messages={"required": "Choose a provider."}, widget=forms.Select(attrs={"class": "input"})
    )
    model = forms.CharField(
        max_length=LONGEST_NAME,
        required=False,
        widget=forms.TextInput(attrs={"class": "input mono", "autocomplete": "off", "placeholder": "the chain's name"}),
    )
    connection = forms.ChoiceField(required=False, widget=forms.Select(attrs={"class": "input"}))
    weight = forms.FloatField(
        min_value=MIN_WEIGHT,
        max_value=MAX_WEIGHT,
        widget=forms.NumberInput(attrs={"class": "input", "inputmode": "decimal", "step": "any"}),
    )
    enabled = forms.BooleanField(required=False)
    tied = forms.BooleanField(required=False, label="as the one above")

    def __init__(self, *args: Any, providers: Iterable[str], connections: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer("provider", "choose…", providers)
        self._offer("connection", "any", connections)

    def _offer(self, name: str, nothing: str, choices: Iterable[str]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 (declared above; for the type checker)
        field.choices = [("", nothing), *((each, each) for each in sorted(choices))]
        field.error_messages["invalid_choice"] = f"There is no {name} %(value)s here."
