"""Providers, connections and error rules as forms (see `sheets`)."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms

from omniroute_site.dashboard.sheets import (
    Group,
    SheetForm,
    choice_field,
    given,
    number_field,
    read_number,
    text_field,
    written,
)
from omniroute_site.dashboard.tunable_words import SECTIONS, WORDS, file_name, section_of, shown
from resilience.core.kinds import RULES, Kind
from routing.configfile.problems import Path
from routing.configfile.rules import stored_rules
from routing.configfile.schema import ConnectionFile, ErrorRuleFile, ProviderFile
from routing.models import RULE_KINDS, Connection, Format, Provider, StreamRescue
from routing.redaction import is_secret_header
from routing.secrets import ENV_PREFIX
from routing.tunables import TUNABLES

KEPT = "(stored)"
"""Stands for the value of a secret header that is not shown; sent back, the stored value stays."""
URL = "https://api.openai.com/v1"
KEY_HELP = "Kept encrypted and never shown again, but for its end. env:NAME reads it from the environment."


def key_field(label: str) -> forms.CharField:
    """A secret: goes in, never comes out."""
    attributes = {"class": "input mono wide", "autocomplete": "new-password", "placeholder": "sk-… or env:NAME"}
    widget = forms.PasswordInput(render_value=False, attrs=attributes)
    return forms.CharField(label=label, required=False, strip=True, widget=widget, help_text=KEY_HELP)


class ProviderForm(SheetForm[ProviderFile]):
    """A provider's address and numbers. Its slug never changes: state, logs and files name it by that."""

    section = ProviderFile
    name = text_field("Name", "as the slug", help_text="What people read.")
    format = choice_field("Format", Format.choices, help_text="The wire format it speaks.")
    base_url = text_field("Base URL", URL, look="mono wide", help_text="Up to and including the version.")
    enabled = forms.BooleanField(label="Takes calls", required=False)
    stream_rescue = choice_field("When a stream dies", StreamRescue.choices)

    def __init__(self, *args: Any, slug: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.slug = slug
        for column, tunable in TUNABLES.items():
            words = WORDS[column]
            default = f"default {shown(tunable.default, words.unit)}"
            label = f"{words.label} ({words.unit})" if words.unit else words.label
            self.fields[column] = number_field(label, default, help_text=file_name(tunable))
        self.fields["stream_rescue"].help_text = "stream_rescue"

    @staticmethod
    def stored(row: Provider) -> dict[str, Any]:
        """What the fields show of a row: numbers that are the default's stay empty."""
        columns = ("name", "format", "base_url", "enabled", "stream_rescue")
        numbers = {
            column: "" if getattr(row, column) == tunable.default else written(getattr(row, column))
            for column, tunable in TUNABLES.items()
        }
        return {**{column: getattr(row, column) for column in columns}, **numbers}

    def said(self) -> dict[str, Any]:
        """The provider without connections: they have forms of their own."""
        cleaned = self.cleaned_data
        sections: dict[str, Any] = {section: {} for section in SECTIONS if section}
        for column, tunable in TUNABLES.items():
            if text := cleaned.get(column, ""):
                place = sections[tunable.section] if tunable.section else sections
                place[tunable.name] = read_number(text, WORDS[column].unit)
        plainly = given({name: cleaned.get(name) for name in ("name", "stream_rescue")})
        required = {name: cleaned.get(name, "") for name in ("format", "base_url", "enabled")}
        return {"slug": self.slug, **required, **plainly, **sections, "connections": []}

    def field_of(self, path: Path) -> str | None:
        """By section and name for numbers."""
        for column, tunable in TUNABLES.items():
            if path == ((tunable.section, tunable.name) if tunable.section else (tunable.name,)):
                return column
        return super().field_of(path)

    def groups(self) -> Iterator[Group]:
        """Who it is, then layer by layer."""
        yield Group("Provider", "", [self[name] for name in ("name", "format", "base_url", "enabled")])
        for section, (title, purpose) in SECTIONS.items():
            fields = [self[column] for column in TUNABLES if section_of(column) == section]
            yield Group(title, purpose, fields if section else [*fields, self["stream_rescue"]])


class NewProviderForm(SheetForm[ProviderFile]):
    """What a provider needs to be called: an address and one account. The rest has defaults, changed on its page."""

    section = ProviderFile
    slug = text_field("Slug", "openai", look="mono", help_text="Lower-case letters, digits and hyphens. Never changes.")
    name = text_field("Name", "as the slug", help_text="What people read.")
    format = choice_field("Format", Format.choices, help_text="The wire format it speaks.")
    base_url = text_field("Base URL", URL, look="mono wide", help_text="Up to and including the version.")
    connection = text_field("Connection", "main", look="mono", help_text="What you call this account. Never changes.")
    api_key = key_field("API key")

    def said(self) -> dict[str, Any]:
        """The provider with its first connection."""
        cleaned = self.cleaned_data
        account = {"slug": cleaned.get("connection") or "main", "api_key": cleaned.get("api_key", "")}
        required = {name: cleaned.get(name, "") for name in ("slug", "format", "base_url")}
        return {**required, **given({"name": cleaned.get("name")}), "connections": [account]}

    def field_of(self, path: Path) -> str | None:
        """The connection's slug is not the provider's."""
        return "connection" if path[-1:] == ("slug",) and "connections" in path else super().field_of(path)

    def groups(self) -> Iterator[Group]:
        """Who, and by which account."""
        yield Group("Provider", "", [self[name] for name in ("slug", "name", "format", "base_url")])
        yield Group("First connection", "One account at the provider.", [self["connection"], self["api_key"]])


class ConnectionForm(SheetForm[ConnectionFile]):
    """One account. Its key is replaced or taken away, not read."""

    section = ConnectionFile
    api_key = key_field("API key")
    remove_key = forms.BooleanField(label="Remove the stored key", required=False)
    enabled = forms.BooleanField(label="Takes calls", required=False)
    base_url = text_field("Base URL", "the provider's", look="mono wide", help_text="Where this account's calls go.")
    priority = number_field("Priority", "default 0", help_text="Lower is tried first.")
    weight = number_field("Weight", "default 1", help_text="Share among connections of one priority.")
    max_concurrency = number_field("Calls at a time", "default 0, no limit", help_text="max_concurrency")
    headers = forms.CharField(
        label="Extra headers",
        required=False,
        help_text="One a line, Name: value. Put secrets as env:NAME.",
        widget=forms.Textarea(attrs={"class": "input mono wide", "rows": 3, "placeholder": "X-Team: search"}),
    )

    def __init__(self, *args: Any, row: Connection | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.row = row
        if row is None:
            self.fields["slug"] = text_field(
                "Slug", "main", look="mono", help_text="What you call this account. Never changes."
            )
        stored_key = row.shown_key if row else ""
        if not stored_key:
            del self.fields["remove_key"]
            return
        key = self.fields["api_key"]
        key.label, key.help_text = "New API key", f"Stored now: {stored_key}. {KEY_HELP}"
        key.widget.attrs["placeholder"] = "empty keeps the stored one"

    @staticmethod
    def stored(row: Connection) -> dict[str, Any]:
        """What the fields show of a row."""
        numbers = {"priority": 0, "weight": 1, "max_concurrency": 0}
        shown_numbers = {
            name: "" if getattr(row, name) == default else written(getattr(row, name))
            for name, default in numbers.items()
        }
        headers = "\n".join(f"{name}: {_shown_header(name, value)}" for name, value in sorted(row.headers.items()))
        return {"enabled": row.enabled, "base_url": row.base_url, "headers": headers, **shown_numbers}

    def said(self) -> dict[str, Any]:
        """The connection; without a word on its key, the stored one stays."""
        cleaned = self.cleaned_data
        said = given({"base_url": cleaned.get("base_url")})
        for name in ("priority", "weight", "max_concurrency"):
            if text := cleaned.get(name, ""):
                said[name] = read_number(text)
        if cleaned.get("api_key") or cleaned.get("remove_key"):
            said["api_key"] = cleaned.get("api_key", "")
        slug = self.row.slug if self.row else cleaned.get("slug", "")
        return {"slug": slug, "enabled": cleaned.get("enabled", False), "headers": self._headers(), **said}

    def clean(self) -> dict[str, Any]:
        """Also refuse two wishes for one key."""
        super().clean()
        if self.cleaned_data.get("api_key") and self.cleaned_data.get("remove_key"):
            self.add_error("remove_key", "Either a new key or none.")
        return self.cleaned_data

    def _headers(self) -> dict[str, str]:
        before = self.row.headers if self.row else {}
        headers = {}
        for line in self.cleaned_data.get("headers", "").splitlines():
            name, _colon, value = (part.strip() for part in line.partition(":"))
            if name or value:
                headers[name] = before[name] if value == KEPT and name in before else value
        return headers

    def groups(self) -> Iterator[Group]:
        """The account, then what is seldom set."""
        account = [name for name in ("slug", "api_key", "remove_key", "enabled") if name in self.fields]
        yield Group("Account", "", [self[name] for name in account])
        yield Group("When it is used", "", [self[name] for name in ("priority", "weight", "max_concurrency")])
        yield Group("How it is called", "", [self["base_url"], self["headers"]])


def _shown_header(name: str, value: str) -> str:
    return KEPT if is_secret_header(name) and not value.startswith(ENV_PREFIX) else value


KINDS = [(kind, RULES[Kind(kind)].label) for kind in RULE_KINDS]


class RuleForm(SheetForm[ErrorRuleFile]):
    """What an error of this provider means. All that is filled in must match; the first rule that fits decides."""

    section = ErrorRuleFile
    status = number_field("Status", "any", help_text="Of the answer or of its error envelope.")
    code = text_field("Code", "any", look="mono", help_text="The error's code or type, case ignored.")
    pattern = text_field(
        "Message matches", "any", look="mono wide", help_text="A regular expression (RE2), case ignored."
    )
    kind = choice_field("Means", KINDS)
    cooldown = number_field("Cooldown", "as its kind has it", help_text="Seconds, in place of the provider's hint too.")
    name = text_field("Name", "as its number", help_text="Recorded with each attempt it decides.")

    @staticmethod
    def stored_rules(provider: Provider) -> list[dict[str, Any]]:
        """What the fields show of each of a provider's rules, in order."""
        numbers = ("status", "cooldown")
        return [rule | {name: written(rule[name]) for name in numbers} for rule in stored_rules(provider)]

    def said(self) -> dict[str, Any]:
        """The rule."""
        cleaned: Mapping[str, str] = self.cleaned_data
        said = given({name: cleaned.get(name) for name in ("name", "code", "pattern")})
        for name, unit in (("status", ""), ("cooldown", "s")):
            if text := cleaned.get(name, ""):
                said[name] = read_number(text, unit)
        return {**said, "kind": cleaned.get("kind", "")}

    def groups(self) -> Iterator[Group]:
        """When, and what then."""
        yield Group("If an error has", "", [self["status"], self["code"], self["pattern"]])
        yield Group("Then it", "", [self["kind"], self["cooldown"], self["name"]])
