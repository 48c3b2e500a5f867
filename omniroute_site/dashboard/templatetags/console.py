"""How times, marks and controls are written in the console's templates."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from omniroute_site.dashboard.acts import Target, acts_of
from omniroute_site.dashboard.chain_cells import draw_lane
from omniroute_site.dashboard.chain_rows import Lane
from omniroute_site.dashboard.key_rows import KeyAct, KeyRow, acts_on
from omniroute_site.dashboard.selectors.events import label_of, spelled
from routing.models.key import Scope

register = template.Library()

MARKS: Mapping[str, str] = MappingProxyType(
    {
        "ok": '<circle cx="7" cy="7" r="5.5"/>',
        "degraded": '<path d="M7 1.5a5.5 5.5 0 0 1 0 11z"/><circle class="hollow" cx="7" cy="7" r="5"/>',
        "open": '<rect x="1.5" y="1.5" width="11" height="11" rx="1.5"/>',
        "probe": '<path class="hollow" d="M7 1l6 6-6 6-6-6z"/>',
        "forced": '<path d="M3 1v12h1.6V8.5H12L9.8 5.2 12 2H4.6V1z"/>',
        "off": '<circle class="hollow" cx="7" cy="7" r="5"/><path class="hollow" d="M3.6 10.4l6.8-6.8"/>',
    }
)


EFFECTS: Mapping[str, str] = MappingProxyType(
    {
        "by_setting": "by setting",
        "stop": "stops",
        "counts_if_alone": "counts if alone",
        "none": "recorded",
        "release": "not its doing",
        "always": "yes",
        "hint_only": "if stated",
        "never": "no",
        "at_once": "locks at once",
    }
)
"""The values of the kinds' table that are not words as they stand."""


@register.simple_tag
def mark(name: str) -> SafeString:
    """Return the shape of a state: ● closed, ◐ degraded, ■ open, ◇ half-open, ⚑ forced."""
    return mark_safe(f'<svg class="mark" data-tone="{name}" viewBox="0 0 14 14" aria-hidden="true">{MARKS[name]}</svg>')  # noqa: S308 (own text)


@register.simple_tag
def countdown(moment: datetime | None, lead: str = "", done: str = "now") -> SafeString:
    """Return a moment that the browser counts down to; the clock time where no script runs."""
    if moment is None:
        return mark_safe("")
    return format_html(
        '<time data-until="{0}" data-lead="{1}" data-done="{2}" datetime="{0}" title="{3}">{4}</time>',
        iso(moment), lead, done, full(moment), f"at {moment.astimezone(UTC):%H:%M:%S}",
    )  # fmt: skip


@register.simple_tag
def since(moment: datetime | None) -> SafeString:
    """Return a moment that the browser tells as so long ago."""
    if moment is None:
        return mark_safe("")
    return format_html(
        '<time data-since="{0}" datetime="{0}" title="{1}">{2}</time>',
        iso(moment), full(moment), f"at {moment.astimezone(UTC):%H:%M:%S}",
    )  # fmt: skip


@register.simple_tag
def clock(moment: datetime | None) -> SafeString:
    """Return a moment as clock time, the whole of it in its title."""
    if moment is None:
        return mark_safe("—")
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', iso(moment), full(moment), f"{moment.astimezone(UTC):%H:%M:%S}"
    )


@register.filter
def iso(moment: datetime) -> str:
    """`2026-11-30T12:00:00.000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@register.filter
def full(moment: datetime) -> str:
    """Date, time and zone."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


@register.filter
def day(moment: datetime) -> str:
    """`Nov 30`: the year stands in the title."""
    return f"{moment.astimezone(UTC):%b %d}"


@register.filter
def lasting(value: timedelta) -> str:
    """A length of time in words."""
    return spelled(value)


@register.filter
def seconds(value: float | None) -> str:
    """A measured time: `230 ms`, `0.94 s`, `12 s`."""
    if value is None:
        return "—"
    if value < 0.0995:
        return f"{value * 1000:.1f} ms" if value < 0.00995 else f"{value * 1000:.0f} ms"
    return f"{value:.2f} s" if value < 9.995 else f"{value:.0f} s"


@register.filter
def grouped(value: int | None) -> str:
    """A number with its thousands set apart; a question mark for one that is not known."""
    return "?" if value is None else f"{value:,}"


@register.filter
def kind(value: str) -> str:
    """A kind of failure in the operators' words."""
    return label_of(value)


@register.filter
def scope(value: str) -> str:
    """What a scope of a key opens; itself if this version does not know it."""
    return str(dict(Scope.choices).get(value, value))


@register.filter
def key_acts(row: KeyRow) -> tuple[KeyAct, ...]:
    """What can be done to a key as it is."""
    return acts_on(row)


@register.filter
def effect(value: str) -> str:
    """What a kind does to a layer, in a word or two."""
    return EFFECTS.get(value, value)


@register.filter
def tail(identifier: object) -> str:
    """The end of a request id: its beginning is the time, and so the same for all neighbours."""
    return f"…{str(identifier)[-8:]}"


@register.simple_tag
def lane(row: Lane) -> SafeString:
    """Return a chain's lane."""
    return mark_safe(draw_lane(row))  # noqa: S308 (a rendered template)


@register.inclusion_tag("dashboard/cells/acts.html", takes_context=True)
def acts(context: template.Context, provider: str, connection: str = "", model: str = "") -> dict[str, Any]:
    """Return the controls of a provider, connection or pair; their empty place where nobody looks (a push)."""
    target = Target(provider, connection, model)
    return {
        "viewer": context.get("viewer"),
        "target": target,
        "acts": acts_of(target.scope),
    }
