"""The processes page: who speaks, how old their copies are, who fell silent."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from omniroute_site.dashboard.process_cells import process_cells
from omniroute_site.dashboard.selectors.processes import read_processes
from routing import heartbeat
from routing.models import Provider
from tests.dashboard.conftest import add_process
from tests.dashboard.reading import said_by


def page_of(client: Client) -> str:
    text = said_by(client.get("/processes/"))
    return re.sub(r"\s+", " ", text)


def told(client: Client) -> str:
    return re.sub(r"<[^>]+>", "", page_of(client))


@pytest.mark.parametrize(
    ("given", "state"),
    [
        ({}, "live"),
        ({"lag": 3.0}, "behind"),
        ({"lag": None}, "behind"),
        ({"database_ok": False}, "behind"),
        ({"draining": True}, "draining"),
        ({"silent": 9.0}, "stale"),
        ({"silent": 61.0}, "gone"),
        ({"silent": 61.0, "draining": True}, "gone"),
    ],
)
def test_a_process_is_what_its_last_word_and_its_silence_say(db: None, given: dict[str, Any], state: str) -> None:
    add_process(**given)
    assert [row.state for row in read_processes(timezone.now()).rows] == [state]


def test_a_process_with_older_routes_is_behind_once_it_had_time_to_load_the_new(db: None) -> None:
    Provider.objects.create(slug="openai", base_url="https://openai.example/v1")
    add_process("at-once", table_version=1, silent=0)
    add_process("too-long", table_version=1, silent=-5)
    rows = {row.id: row for row in read_processes(timezone.now()).rows}
    assert (rows["at-once"].table_behind, rows["too-long"].table_behind) == (False, True)
    assert rows["too-long"].state == "behind"


def test_each_process_stands_with_its_view_and_what_it_has_in_hand(operator: Client) -> None:
    add_process(role="proxy", state_version=1234, in_flight=17, backlog=2, log_waiting=5, log_dropped=1)
    page = told(operator)
    for text in (
        "gateway-1:4242",
        "proxy",
        "0.4 s",
        "1,234",
        "17",
        "2 · 5 log · 1 lost",
        "1 serving, each with fresh copies",
    ):
        assert text in page
    assert 'data-process="gateway-1:4242" data-state="live"' in page_of(operator)


def test_who_fell_silent_or_behind_is_named_first(operator: Client) -> None:
    add_process("a", pid=1, silent=20)
    add_process("b", pid=2, lag=5)
    add_process("c", pid=3, database_ok=False)
    assert "gateway-1:1 is silent. gateway-1:2 is behind. gateway-1:3 cannot reach the database." in told(operator)


def test_the_process_that_draws_the_page_is_marked(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    add_process("me")
    monkeypatch.setattr(heartbeat, "here", lambda: "me")
    assert "draws this page" in told(operator)


def test_before_the_first_word_the_page_says_what_to_wait_for(operator: Client) -> None:
    assert "No process has spoken yet" in told(operator)


def test_nothing_is_pushed_until_somebody_speaks_or_falls_silent(db: None) -> None:
    add_process()
    now = timezone.now()
    assert process_cells(read_processes(now), read_processes(now + timedelta(seconds=1))) == {}
    assert set(process_cells(read_processes(now), read_processes(now + timedelta(seconds=20)))) == {
        "processes", "processes-verdict",
    }  # fmt: skip
