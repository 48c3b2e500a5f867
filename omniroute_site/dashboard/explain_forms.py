"""What the explain page asks: which request, and what to suppose."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django import forms
from django.http import QueryDict

from omniroute_site.dashboard.explain_rows import Candidate
from omniroute_site.dashboard.forms import LengthField
from resilience.core.kinds import RULES, BreakerEffect, Kind
from resilience.core.permit import Pair
from routing.adapters.base import ClientRequest
from routing.dialects.chat import ChatCompletions, parse_object
from routing.errors import GatewayError
from routing.what_if import Failing, Supposition

LONGEST_BODY = 200_000  # characters; pasted by hand
MOST_CALLS = 100
FAILURES = [
    (rule.kind.value, rule.label) for rule in RULES.values() if rule.breaker is not BreakerEffect.RELEASE
]  # what is released is our own doing and changes nothing
ASKS_AT_ONCE = "auto"  # the class of fields whose change sends the form where a script runs


class QuestionForm(forms.Form):
    """A chain, `provider/model`, or a body that names one."""

    use_required_attribute = False
    model = forms.CharField(
        required=False,
        max_length=200,
        label="Chain, or provider/model",
        widget=forms.TextInput(attrs={"class": "input mono", "list": "models", "autocomplete": "off"}),
    )
    body = forms.CharField(
        required=False,
        max_length=LONGEST_BODY,
        label="Or the body of a request",
        help_text="Of chat completions. Nothing of it is sent, kept or logged.",
        widget=forms.Textarea(attrs={"class": "input mono", "rows": 5, "spellcheck": "false"}),
    )

    request: ClientRequest | None = None
    """The pasted body, if it is a whole request."""

    def clean_body(self) -> str:
        """The model that the body names, read as the gateway reads it; empty without a body."""
        text = self.cleaned_data["body"].encode("utf-8", "replace")
        if not text.strip():
            return ""
        try:
            document = parse_object(text)
            model = document.get("model")
            if "messages" in document:
                self.request = ChatCompletions().parse(text, {})
        except GatewayError as error:
            raise forms.ValidationError(error.message) from None
        if not isinstance(model, str) or not model:
            raise forms.ValidationError("It has no `model`: a request without one is refused with 400.")
        return model

    @property
    def asked(self) -> str:
        """The model asked for: the body's, else the one named; empty if there is none."""
        return self.cleaned_data.get("body") or self.cleaned_data.get("model") or ""

    def refuse(self, message: str) -> None:
        """Say beside the field that named it that there is no such model."""
        self.add_error("body" if self.cleaned_data.get("body") else "model", message)


class SupposeForm(forms.Form):
    """What to imagine of the targets of one question."""

    hold = forms.MultipleChoiceField(
        required=False, label="Hold open", widget=forms.CheckboxSelectMultiple(attrs={"class": ASKS_AT_ONCE})
    )
    kind = forms.ChoiceField(
        required=False,
        label="Pretend",
        choices=[("", "no failure"), *FAILURES],
        widget=forms.Select(attrs={"class": f"input {ASKS_AT_ONCE}"}),
    )
    target = forms.ChoiceField(
        required=False, label="on", widget=forms.Select(attrs={"class": f"input mono {ASKS_AT_ONCE}"})
    )
    times = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_CALLS,
        label="calls in a row",
        widget=forms.NumberInput(attrs={"class": "input", "placeholder": "1"}),
    )
    later = LengthField(
        required=False,
        max_length=20,
        label="Move the clock forward",
        widget=forms.TextInput(attrs={"class": "input", "placeholder": "e.g. 2 min", "autocomplete": "off"}),
    )

    def __init__(self, data: QueryDict, candidates: Sequence[Candidate]) -> None:
        providers = list(dict.fromkeys(candidate.provider for candidate in candidates))
        targets = [candidate.key for candidate in candidates]
        super().__init__(_without_strangers(data, hold=providers, target=targets), auto_id="suppose-%s")
        self._offer("hold", [(provider, provider) for provider in providers])
        self._offer("target", [(one.key, f"{one.provider}/{one.connection} {one.model}") for one in candidates])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 (declared above; for the type checker)
        field.choices = choices

    @property
    def supposition(self) -> Supposition:
        """What was asked, once it is valid."""
        given: dict[str, Any] = self.cleaned_data
        failing = None
        if given["kind"] and given["target"]:
            failing = Failing(Pair(*given["target"].split("/", 2)), Kind(given["kind"]), given["times"] or 1)
        return Supposition(tuple(given["hold"]), failing, given["later"] or timedelta(0))


def _without_strangers(data: QueryDict, **known: list[str]) -> QueryDict:
    """What was ticked for the chain asked for before means nothing for this one."""
    kept = data.copy()
    for name, values in known.items():
        kept.setlist(name, [value for value in data.getlist(name) if value in values])
    return kept
