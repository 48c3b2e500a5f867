"""Which events to keep: the form, and the rows it means. Ids are the order, so pages follow each other by id."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict

from omniroute_site.dashboard.forms import offer_names
from resilience.models import ResilienceEvent

TYPES: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "transitions": ("breaker transitions", ("breaker_moved",)),
        "holds": ("holds and releases", ("breaker_held", "breaker_released", "probe_allowed")),
        "cooldowns": ("cooldowns", ("cooldown_started", "cooldown_cleared")),
        "lockouts": ("lockouts", ("model_locked", "model_unlocked")),
        "configuration": ("configuration", ("config_changed",)),
    }
)
"""What an event is about, in words, and the names it covers."""
BY_PEOPLE = "people"
SLACK = 1_000
"""Events that may stand out of the order of time: processes whose clocks differ append to one log."""
MOMENTS = ("%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d")


@dataclass(frozen=True, slots=True)
class EventFilter:
    """What to keep; empty keeps all. Times are inclusive."""

    provider: str = ""
    type: str = ""
    actor: str = ""
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None

    @property
    def query(self) -> str:
        """The same filter in an address, on its first page."""
        first = replace(self, before=None)
        given = {field.name: getattr(first, field.name) for field in fields(first)}
        return urlencode({name: _written(value) for name, value in given.items() if value})

    @property
    def narrows(self) -> bool:
        """Whether it leaves anything out."""
        return replace(self, before=None) != EventFilter()

    def rows(self) -> QuerySet[ResilienceEvent]:
        """The events kept, newest first."""
        rows = ResilienceEvent.objects.order_by("-id")
        if self.provider:
            rows = rows.filter(provider=self.provider)
        if self.type in TYPES:
            rows = rows.filter(name__in=TYPES[self.type][1])
        if self.actor or self.type == BY_PEOPLE:
            rows = rows.exclude(actor="")  # there is an index of these
        if self.actor:
            rows = rows.filter(actor=self.actor)
        if self.before:
            rows = rows.filter(id__lt=self.before)
        return _within(rows, self.since, self.until)


def _written(value: Any) -> str:
    return value.strftime(MOMENTS[1]) if isinstance(value, datetime) else str(value)


def _within(
    rows: QuerySet[ResilienceEvent], since: datetime | None, until: datetime | None
) -> QuerySet[ResilienceEvent]:
    """Between two moments; their ids are looked up first, so that a time long past is not walked to row by row."""
    by_time = ResilienceEvent.objects.values_list("id", flat=True)
    if since:
        first = by_time.filter(at__gte=since).order_by("at").first()
        rows = rows.filter(at__gte=since, id__gte=(first or 0) - SLACK)
    if until:
        last = by_time.filter(at__lte=until).order_by("-at").first()
        rows = rows.filter(at__lte=until, id__lte=(last or 0) + SLACK)
    return rows


class EventFilterForm(forms.Form):
    """The same as fields."""

    provider = forms.ChoiceField(required=False)
    type = forms.ChoiceField(
        required=False,
        choices=[
            ("", "any type"),
            (BY_PEOPLE, "what people did"),
            *((name, words) for name, (words, _) in TYPES.items()),
        ],
    )
    actor = forms.CharField(
        required=False, max_length=200, widget=forms.TextInput(attrs={"list": "actors", "autocomplete": "off"})
    )
    since = forms.DateTimeField(
        required=False,
        label="From (UTC)",
        input_formats=MOMENTS,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=MOMENTS[0]),
    )
    until = forms.DateTimeField(
        required=False,
        label="To (UTC)",
        input_formats=MOMENTS,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=MOMENTS[0]),
    )
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    def __init__(self, data: QueryDict, *, providers: Iterable[str]) -> None:
        super().__init__(data, auto_id="events-%s", label_suffix="")
        offer_names(self, "provider", "any provider", providers)

    @property
    def kept(self) -> EventFilter:
        """What was asked for; everything if that made no sense."""
        return EventFilter(**self.cleaned_data) if self.is_valid() else EventFilter()
