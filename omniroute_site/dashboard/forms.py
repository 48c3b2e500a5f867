"""What operators are asked before something is done."""

import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django import forms
from django.http import QueryDict

from omniroute_site.dashboard.selectors.requests import Filter
from routing.models import Outcome

UNITS = {
    "": 1, "s": 1, "sec": 1, "second": 1, "seconds": 1,
    "m": 60, "min": 60, "minute": 60, "minutes": 60,
    "h": 3600, "hour": 3600, "hours": 3600,
    "d": 86_400, "day": 86_400, "days": 86_400,
}  # fmt: skip
LENGTH = re.compile(r"\s*(\d{1,9}(?:\.\d{1,3})?)\s*([a-z]*)\s*", re.IGNORECASE)
LONGEST = timedelta(days=366)


class LengthField(forms.CharField):
    """A length of time as people write it: `90`, `30 min`, `2 h`, `1.5 d`. Empty is None."""

    def clean(self, value: Any) -> timedelta | None:
        """Return the length. Raises ValidationError."""
        text: str = super().clean(value)
        if not text:
            return None
        match = LENGTH.fullmatch(text)
        if match is None or match[2].lower() not in UNITS:
            raise forms.ValidationError("Write it like 90 s, 30 min or 2 h.")
        length = timedelta(seconds=float(match[1]) * UNITS[match[2].lower()])
        if not timedelta(0) < length <= LONGEST:
            raise forms.ValidationError("More than nothing, at most a year.")
        return length


class AskForm(forms.Form):
    """A reason: what the next person on call will read."""

    use_required_attribute = False  # the server says what is missing, beside the field and in its own words
    reason = forms.CharField(
        max_length=500,
        error_messages={"required": "Say why: it is what the next person on call will read."},
        widget=forms.TextInput(attrs={"class": "input", "placeholder": "Reason", "autocomplete": "off"}),
    )

    def __init__(self, *args: Any, connections: Iterable[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer(list(connections))

    def offer(self, connections: list[str]) -> None:
        """Take the provider's connections to choose from, if the form has a use for them."""

    def settle_focus(self) -> None:
        """Put the cursor where the operator has to write next, and say which fields are wrong."""
        wrong = [name for name in self.fields if name in self.errors] if self.is_bound else []
        first = wrong[0] if wrong else next(name for name in self.fields if not self.initial.get(name))
        self.fields[first].widget.attrs["autofocus"] = True


class HoldForm(AskForm):
    """A reason and for how long."""

    duration = LengthField(
        required=False,
        max_length=20,
        label="For",
        widget=forms.TextInput(attrs={"class": "input", "placeholder": "For (e.g. 30 min)", "autocomplete": "off"}),
    )


class LockForm(HoldForm):
    """Which pair to lock, why and for how long."""

    field_order = ("connection", "model", "reason", "duration")
    connection = forms.ChoiceField(widget=forms.Select(attrs={"class": "input"}))
    model = forms.CharField(
        max_length=200,
        widget=forms.TextInput(attrs={"class": "input mono", "placeholder": "Model", "autocomplete": "off"}),
    )

    def offer(self, connections: list[str]) -> None:
        """Choose among the provider's connections."""
        field = self.fields["connection"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 (declared above; for the type checker)
        field.choices = [(slug, slug) for slug in connections]
        if connections:
            self.initial.setdefault("connection", connections[0])


class LockAnyForm(LockForm):
    """The same for any provider: connections are written `provider/connection`, and none is chosen beforehand."""

    def offer(self, connections: list[str]) -> None:
        """Choose among all of them."""
        super().offer([])
        field = self.fields["connection"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 (as above)
        field.choices = [("", "Connection"), *((name, name) for name in connections)]
        self.fields["model"].widget.attrs["list"] = "models"


class FilterForm(forms.Form):
    """What to keep of the request log."""

    chain = forms.ChoiceField(required=False)
    provider = forms.ChoiceField(required=False)
    outcome = forms.ChoiceField(required=False, choices=[("", "any outcome"), *Outcome.choices])
    key = forms.ChoiceField(required=False)
    text = forms.CharField(
        required=False,
        max_length=200,
        label="Id, model or error",
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off", "spellcheck": "false"}),
    )
    rescued = forms.BooleanField(required=False, label="rescued only")
    before = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def __init__(
        self, data: QueryDict, *, chains: Iterable[str], providers: Iterable[str], keys: Iterable[str]
    ) -> None:
        super().__init__(data, auto_id="requests-%s", label_suffix="")
        offer_names(self, "chain", "any chain", chains)
        offer_names(self, "provider", "any provider", providers)
        offer_names(self, "key", "any key", keys)

    @property
    def kept(self) -> Filter:
        """What was asked for; everything if that made no sense."""
        return Filter(**self.cleaned_data) if self.is_valid() else Filter()


def offer_names(form: forms.Form, field_name: str, anything: str, names: Iterable[str]) -> None:
    """Let a filter choose among names, or none; what it asks for may be gone from the configuration, not from the log."""
    field = form.fields[field_name]
    assert isinstance(field, forms.ChoiceField)  # noqa: S101 (declared so; for the type checker)
    asked = str(form.data.get(field_name, ""))[:200]
    field.choices = [("", anything), *((each, each) for each in sorted({*names, *filter(None, [asked])}))]
