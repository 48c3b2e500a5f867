"""Forms whose fields are members of the configuration file: the file's schema checks them, in its own words.

    fields ──said()──► section of the file ──check_section──► checked, or errors beside the fields they are about

An empty field is a member left out, so the default holds and stands in grey where the value would be.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from django import forms
from django.forms import BoundField

from omniroute_site.dashboard.forms import AskForm
from routing.configfile.problems import ConfigFileError, Path
from routing.configfile.schema import Section, check_section
from routing.configfile.values import plain

S = TypeVar("S", bound=Section)
LONGEST_NUMBER = 40


@dataclass(frozen=True, slots=True)
class Group:
    """Fields that stand together. `folded`: seldom needed, opened by the reader."""

    title: str
    purpose: str
    fields: Sequence[BoundField]
    folded: bool = False


class SheetForm(AskForm, Generic[S]):
    """A section of the file, and the reason for changing it. Valid: `checked` is the section."""

    section: ClassVar[type[Section]]
    checked: S

    def said(self) -> dict[str, Any]:
        """The section as the file would have it, from cleaned data."""
        raise NotImplementedError

    def field_of(self, path: Path) -> str | None:
        """The field a mistake at this path belongs to; None: the whole form."""
        name = path[-1] if path else None
        return name if isinstance(name, str) and name in self.fields else None

    def groups(self) -> Iterator[Group]:
        """The fields as they stand on the page."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        """Check as the file is checked."""
        try:
            self.checked = check_section(self.section, self.said())  # type: ignore[assignment]  # of this form's type
        except ConfigFileError as error:
            self.refuse(error)
        return self.cleaned_data

    def refuse(self, error: ConfigFileError) -> None:
        """Say what is wrong beside the fields it is wrong with."""
        for problem in error.problems:
            name = self.field_of(problem.path)
            if name is None or not self.has_error(name):  # one mistake a field is enough
                self.add_error(name, problem.message)

    def settle_focus(self) -> None:
        """Put the cursor into the first field, or into the first that is wrong."""
        shown = [field.name for group in self.groups() for field in group.fields] + ["reason"]
        wrong = [name for name in shown if self.is_bound and name in self.errors]
        self.fields[(wrong or shown)[0]].widget.attrs["autofocus"] = True

    def compare(self, stored: Mapping[str, Any]) -> None:
        """Note on each field what is stored there now (`stored_now`), where that is something else."""
        for name, value in stored.items():
            if name in self.fields and _text(value) != _text(self[name].value()):
                empty = self.fields[name].widget.attrs.get("placeholder", "nothing")
                setattr(self.fields[name], "stored_now", _text(value) or empty)  # noqa: B010 (fields take no such attribute for the type checker)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value).replace("\r\n", "\n").strip()


def number_field(label: str, default: str, **more: Any) -> forms.CharField:
    """A number that may be left out; the schema says what it may be."""
    attributes = {"class": "input", "inputmode": "decimal", "placeholder": default, "autocomplete": "off"}
    widget = forms.TextInput(attrs=attributes)
    return forms.CharField(label=label, required=False, max_length=LONGEST_NUMBER, widget=widget, **more)


def text_field(label: str, placeholder: str = "", *, look: str = "", **more: Any) -> forms.CharField:
    """A line of text; empty is allowed here, and refused by the schema where it must not be. look: `mono`, `wide`."""
    attributes = {"class": f"input {look}".strip(), "placeholder": placeholder, "autocomplete": "off"}
    return forms.CharField(label=label, required=False, widget=forms.TextInput(attrs=attributes), **more)


def choice_field(label: str, choices: Sequence[tuple[str, str]], **more: Any) -> forms.CharField:
    """One of some values. A CharField with a select: what else is sent, the schema refuses in its words."""
    widget = forms.Select(choices=choices, attrs={"class": "input"})
    return forms.CharField(label=label, required=False, widget=widget, **more)


def read_number(text: str, unit: str = "") -> int | float | str:
    """A number as written, with or without its unit; what is none is returned as it is, for the schema to refuse."""
    bare = text.strip().removesuffix(unit).strip()
    for kind in (int, float):
        try:
            return kind(bare)
        except ValueError:
            continue
    return text


def written(value: float | None) -> str:
    """A stored number for a field."""
    return "" if value is None else str(plain(value))


def given(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members that were filled in."""
    return {name: value for name, value in members.items() if value not in ("", None)}
