"""Events as the ticker and the events page tell them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.dateparse import parse_datetime

from omniroute_site.dashboard.board_rows import EventRow
from omniroute_site.dashboard.event_filter import EventFilter
from omniroute_site.dashboard.rows import BREAKER_TONES
from resilience.core.events import ConfigChanged
from resilience.core.kinds import RULES, Kind
from resilience.models import ResilienceEvent

LATEST = 30
PAGE_SIZE = 50
LABELLED = frozenset(kind.value for kind in Kind)
STATE_VERBS = {"CLOSED": "closed", "DEGRADED": "degraded", "OPEN": "open", "HALF_OPEN": "half-open"}


def latest_events(limit: int = LATEST) -> tuple[EventRow, ...]:
    """The newest events, newest first."""
    return tuple(told(event) for event in ResilienceEvent.objects.order_by("-id")[:limit])


@dataclass(frozen=True, slots=True)
class EventList:
    """A page of events; `older` is where the next one begins."""

    rows: tuple[EventRow, ...]
    older: int | None = None


def read_events(kept: EventFilter) -> EventList:
    """One page of events, newest first."""
    rows = [told(event) for event in kept.rows()[: PAGE_SIZE + 1]]
    more = len(rows) > PAGE_SIZE
    return EventList(tuple(rows[:PAGE_SIZE]), rows[PAGE_SIZE - 1].id if more else None)


def told(event: ResilienceEvent) -> EventRow:
    """One event: who, what happened to it, why."""
    subject = "/".join(part for part in (event.provider, event.connection) if part)
    verb, tone, rest = event.name.replace("_", " "), "off", ""
    until: datetime | None = None
    match event.name:
        case "breaker_moved":
            verb, tone = STATE_VERBS.get(event.to_state, event.to_state), BREAKER_TONES.get(event.to_state, "off")
            rest = _lasting(event, "retry_at") if event.to_state == "OPEN" else ""
        case "breaker_held":
            verb, tone, until = f"held {event.data.get('mode', '')}", "forced", _moment(event, "until")
        case "breaker_released":
            verb, tone = "released", "ok"
        case "probe_allowed":
            verb, tone = "may probe now", "probe"
        case "cooldown_started":
            verb, tone, rest = "cooling", "degraded", _lasting(event, "until")
        case "cooldown_cleared":
            verb, tone = "cooldown cleared", "ok"
        case "model_locked":
            verb, tone, rest = f"locked {event.model}", "degraded", _lasting(event, "until")
        case "model_unlocked":
            verb, tone = f"unlocked {event.model}", "ok"
        case "config_changed":
            subject, verb = str(event.data.get("subject", subject)), event.cause
    return EventRow(
        id=event.pk,
        at=event.at,
        tone=tone,
        subject=subject,
        verb=verb,
        rest=rest,
        until=until,
        detail=_detail(event),
        request_id=event.request_id,
        actor=event.actor,
        reason=event.reason,
    )


def last_change(subject: str, provider: str = "") -> ResilienceEvent | None:
    """Who changed a thing of the configuration last on a page, and why. provider: whose thing it is, if anyone's."""
    events = ResilienceEvent.objects.filter(provider=provider, name=ConfigChanged.name, data__subject=subject)
    return events.order_by("-id").first()


def label_of(kind: str) -> str:
    """A kind of failure in the operators' words."""
    return RULES[Kind(kind)].label if kind in LABELLED else kind


def _detail(event: ResilienceEvent) -> str:
    parts = []
    if event.actor:
        return ""
    if event.cause:
        parts.append(event.cause.replace("_", " "))
    if event.kind:
        parts.append(label_of(event.kind))
    if event.name == "cooldown_started" and event.data.get("source"):
        parts.append(f"from {event.data['source']}")
    return " · ".join(dict.fromkeys(parts))


def _moment(event: ResilienceEvent, name: str) -> datetime | None:
    value = event.data.get(name)
    return parse_datetime(value) if isinstance(value, str) else None


def _lasting(event: ResilienceEvent, name: str) -> str:
    """For how long, said once and for all: an event does not count down."""
    until = _moment(event, name)
    return f"for {spelled(until - event.at)}" if until else ""


def spelled(length: timedelta) -> str:
    """A length of time in at most two units."""
    seconds = max(0, round(length.total_seconds()))
    if seconds < 120:
        return f"{seconds} s"
    if seconds < 7200:
        return f"{seconds // 60} min" + (f" {seconds % 60} s" if seconds % 60 and seconds < 600 else "")
    if seconds < 172_800:
        return f"{seconds // 3600} h" + (f" {seconds % 3600 // 60} min" if seconds % 3600 >= 60 else "")
    return f"{seconds // 86_400} d"
