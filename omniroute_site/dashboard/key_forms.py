"""What is asked before a client key is made."""

from django import forms

from omniroute_site.dashboard.forms import AskForm
from routing.models.key import LONGEST_PATTERN, MAX_REQUESTS_PER_MINUTE, MOST_PATTERNS, Scope


class KeyForm(AskForm):
    """Name, scopes, models, rate and why."""

    field_order = ("name", "scopes", "models", "requests_per_minute", "reason")
    name = forms.CharField(
        max_length=200,
        widget=forms.TextInput(attrs={"class": "input", "placeholder": "The app it is for", "autocomplete": "off"}),
        error_messages={"required": "Name the app or person it is for."},
    )
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        initial=[Scope.CHAT.value],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "A key without a scope opens nothing."},
    )
    models = forms.CharField(
        required=False,
        max_length=MOST_PATTERNS * LONGEST_PATTERN,
        initial="*",
        help_text="One a line; patterns such as gpt-* are possible. Empty: every model.",
        widget=forms.Textarea(attrs={"class": "input mono", "rows": 2, "spellcheck": "false"}),
    )
    requests_per_minute = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_REQUESTS_PER_MINUTE,
        help_text="Empty: no limit.",
        widget=forms.NumberInput(attrs={"class": "input", "placeholder": "no limit"}),
    )

    def clean_models(self) -> list[str]:
        """Return the patterns, each once."""
        found = list(dict.fromkeys(line.strip() for line in self.cleaned_data["models"].splitlines() if line.strip()))
        if len(found) > MOST_PATTERNS or any(len(pattern) > LONGEST_PATTERN for pattern in found):
            raise forms.ValidationError(f"At most {MOST_PATTERNS} patterns of {LONGEST_PATTERN} characters.")
        return found or ["*"]
