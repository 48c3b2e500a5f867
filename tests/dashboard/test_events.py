"""The event log: told, filtered, paged by key, and as CSV that no spreadsheet runs."""

import csv
import io
import re
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient, Client
from django.utils import timezone

from omniroute_site.dashboard import event_csv
from omniroute_site.dashboard.event_csv import COLUMNS
from omniroute_site.dashboard.selectors.events import PAGE_SIZE
from resilience import actions
from resilience.core.events import ConfigChanged
from resilience.models import ResilienceEvent
from routing.models import FallbackChain
from tests.dashboard.conftest import user
from tests.dashboard.reading import said_by

REQUEST = "019339a1-7c00-7000-8000-0f3a9c1e77aa"


def add(name: str = "breaker_moved", provider: str = "openai", *, at: datetime | None = None, **more: Any) -> int:
    states = {"from_state": "CLOSED", "to_state": "DEGRADED"} if name == "breaker_moved" else {}
    event = ResilienceEvent.objects.create(at=at or timezone.now(), name=name, provider=provider, **(states | more))
    return int(event.pk)


def page_of(client: Client, query: str = "") -> str:
    return said_by(client.get(f"/events/{query}"))


def listed(client: Client, query: str = "") -> list[int]:
    return [int(found) for found in re.findall(r'data-event="(\d+)"', page_of(client, query))]


def test_each_event_says_what_happened_why_and_by_whom(operator: Client, fleet: FallbackChain) -> None:
    actions.force_open("openai", actor="bob", reason="billing migration")
    actions.configured(ConfigChanged("chain gpt-4o", "moved groq up"), actor="carol", reason="cheaper")
    add(cause="failures in a row", kind="timeout", request_id=REQUEST)
    page = page_of(operator)
    for text in ("openai held open", "<b>bob</b>: “billing migration”", "chain gpt-4o moved groq up", "timed out"):
        assert text in page
    assert f"/requests/{REQUEST}/" in page


def test_newest_stand_first_and_pages_follow_without_gap(operator: Client, fleet: FallbackChain) -> None:
    ids = [add() for _ in range(PAGE_SIZE + 7)][::-1]
    page = page_of(operator, "?type=transitions")
    older = re.search(r'id="events-older" href="(\?[^"]+)"', page)
    assert older is not None
    assert listed(operator, "?type=transitions") == ids[:PAGE_SIZE]
    assert listed(operator, older[1]) == ids[PAGE_SIZE:]
    assert parse_qs(urlsplit(older[1]).query)["type"] == ["transitions"]


def test_events_are_filtered_by_provider_type_actor_and_time(operator: Client, fleet: FallbackChain) -> None:
    noon = datetime(2026, 11, 30, 12, 0, tzinfo=timezone.get_current_timezone())
    first = add("cooldown_started", "groq", connection="main", at=noon - timedelta(hours=2))
    second = add("breaker_held", "openai", actor="bob", reason="because", at=noon)
    third = add("model_locked", "groq", connection="main", model="m", actor="key:ops", at=noon + timedelta(hours=2))
    assert listed(operator, "?provider=groq") == [third, first]
    assert listed(operator, "?type=cooldowns") == [first]
    assert listed(operator, "?type=people") == [third, second]
    assert listed(operator, "?actor=bob") == [second]
    assert listed(operator, "?actor=key:ops&provider=groq&type=lockouts") == [third]
    assert listed(operator, "?since=2026-11-30T12:00") == [third, second]
    assert listed(operator, "?until=2026-11-30T12:00") == [second, first]
    assert listed(operator, "?since=2026-11-30T11:00&until=2026-11-30T13:00") == [second]
    assert "No event like that" in page_of(operator, "?actor=nobody")


@pytest.mark.parametrize("query", ["?type=explosions", "?since=yesterday", "?before=-1"])
@pytest.mark.parametrize("path", ["/events/", "/events/csv/"])
def test_nonsense_in_a_filter_is_answered_with_its_error(
    operator: Client, fleet: FallbackChain, path: str, query: str
) -> None:
    assert operator.get(path + query).status_code == 422


def test_an_empty_log_says_so(operator: Client) -> None:
    page = page_of(operator)
    assert "Nothing has happened yet" in page
    assert "Download CSV" not in page


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("provider = 'openai'", "event_by_provider"),
        ("type = cooldowns", "event_by_name"),
        ("type = people", "event_by_people"),
        ("actor = bob", "event_by_people"),
    ],
)
def test_filters_have_their_index(db: None, query: str, index: str) -> None:
    from django.db import connection

    from omniroute_site.dashboard.event_filter import EventFilter

    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL chooses by statistics")
    name, _equals, value = query.partition(" = ")
    kept = EventFilter(**{name: value.strip("'")})
    assert index in kept.rows()[:50].explain()


# --- CSV


async def downloaded(query: str = "") -> list[dict[str, str]]:
    client = AsyncClient()
    person = await sync_to_async(user)("victor-csv", "viewers")
    await client.aforce_login(person, backend="django.contrib.auth.backends.ModelBackend")
    answer = await client.get(f"/events/csv/{query}")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"].startswith('attachment; filename="omniroute-events-')
    text = b"".join([piece async for piece in answer.streaming_content]).decode()
    return list(csv.DictReader(io.StringIO(text)))


async def test_the_filtered_events_are_downloaded_newest_first(db: None) -> None:
    await sync_to_async(add)("cooldown_started", "groq")
    ids = [await sync_to_async(add)(failure_count=number, request_id=REQUEST) for number in range(3)]
    rows = await downloaded("?type=transitions")
    assert [int(row["id"]) for row in rows] == ids[::-1]
    assert list(rows[0]) == list(COLUMNS)
    assert (rows[0]["failure_count"], rows[0]["request_id"], rows[0]["to_state"]) == ("2", REQUEST, "DEGRADED")


@pytest.mark.parametrize(
    "attack", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1", '=HYPERLINK("x")']
)
async def test_no_cell_begins_like_a_formula(db: None, attack: str) -> None:
    await sync_to_async(add)("breaker_held", actor=attack, reason=attack, model=attack, data={"x": attack})
    (row,) = await downloaded()
    for name, value in row.items():
        assert not value.startswith(event_csv.RUN_BY_SPREADSHEETS), name
    assert row["reason"].lstrip("'").replace("\r\n", "\n").strip() == attack.strip()


async def test_a_download_is_read_in_pieces_and_ends_at_its_bound(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_csv, "PIECE", 3)
    monkeypatch.setattr(event_csv, "MOST_ROWS", 7)
    ids = [await sync_to_async(add)() for _ in range(9)][::-1]
    assert [int(row["id"]) for row in await downloaded()] == ids[:7]


def test_strangers_download_nothing(db: None) -> None:
    assert Client().get("/events/csv/").status_code == 302
