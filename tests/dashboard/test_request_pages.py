"""The request list, and one request as a waterfall."""

import html
import re
from datetime import timedelta
from decimal import Decimal
from urllib.parse import parse_qs, quote, urlsplit
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from omniroute_site.dashboard.request_cells import request_cells
from omniroute_site.dashboard.selectors import requests as selectors
from omniroute_site.dashboard.selectors.requests import PAGE_SIZE
from routing.ids import uuid7
from routing.models import FallbackChain
from tests.dashboard.conftest import attempt, log


def listed(client: Client, query: str = "") -> list[str]:
    return re.findall(r'data-request="([^"]+)"', client.get(f"/requests/{query}").content.decode())


def test_newest_stand_first(operator: Client, fleet: FallbackChain) -> None:
    now = timezone.now()
    rows = [log(now - timedelta(seconds=age)) for age in (30, 10, 20)]
    assert listed(operator) == [str(rows[position].pk) for position in (1, 2, 0)]


def test_pages_follow_each_other_without_gap_or_repetition(operator: Client, fleet: FallbackChain) -> None:
    now = timezone.now()
    rows = [str(log(now - timedelta(seconds=age)).pk) for age in range(PAGE_SIZE + 5)]
    page = operator.get("/requests/").content.decode()
    older = re.search(r'href="(\?[^"]*before=[^"]*)">Older', page)
    assert older is not None
    assert listed(operator) == rows[:PAGE_SIZE]
    assert listed(operator, older[1].replace("&amp;", "&")) == rows[PAGE_SIZE:]


def test_the_list_is_filtered(operator: Client, fleet: FallbackChain) -> None:
    failed = log(outcome="failed", provider="", connection="", model="", status=502, code="upstream_error")
    log(chain="cheap", provider="groq")
    assert listed(operator, "?outcome=failed") == [str(failed.pk)]
    assert len(listed(operator, "?provider=groq")) == 1
    assert len(listed(operator, "?chain=cheap&provider=groq&outcome=answered")) == 1
    assert "No request like that" in operator.get("/requests/?chain=gone").content.decode()


def test_rescued_ones_and_those_of_a_key_are_kept(operator: Client, fleet: FallbackChain) -> None:
    rescued = log(outcome="rescued", key_name="support-bot")
    log()
    assert listed(operator, "?rescued=on") == [str(rescued.pk)]
    assert listed(operator, "?key=support-bot") == [str(rescued.pk)]
    assert listed(operator, "?rescued=on&key=my-app") == []


def test_a_text_is_an_id_its_end_a_model_or_an_error(operator: Client, fleet: FallbackChain) -> None:
    failed = attempt(decision="failed", reason="transient", message="The engine is overloaded", code="server_busy")
    lines = [failed, attempt("groq", model="llama-3.3-70b")]
    one = log(id=UUID(uuid7()), targets=lines, model="llama-3.3-70b", outcome="rescued")
    two = log(
        id=UUID(uuid7()),
        error="Every target failed: DNS",
        code="upstream_error",
        requested_model="groq/other",
        targets=[],
    )
    for text, found in {
        str(one.pk): one, str(one.pk)[-8:]: one, f"…{str(two.pk)[-8:]}": two, "ENGINE is over": one, "server_busy": one,
        "llama-3.3": one, "every target": two, "upstream_e": two, "groq/oth": two,
    }.items():  # fmt: skip
        assert listed(operator, f"?text={quote(text)}") == [str(found.pk)], text
    for text in ("decision", "started", "100%", "_", str(uuid4())):  # names of members, wildcards, somebody else's id
        assert listed(operator, f"?text={quote(text)}") == ([str(two.pk), str(one.pk)] if text == "_" else []), text


def test_a_search_looks_through_a_window_and_goes_on_where_it_ended(
    operator: Client, fleet: FallbackChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selectors, "WINDOW", 3)
    now = timezone.now()
    rows = [log(now - timedelta(seconds=age), error="needle" if age == 4 else "") for age in range(1, 7)]
    page = operator.get("/requests/?text=needle").content.decode()
    assert "Nothing in the newest of them" in page
    assert "Looked through back to" in page
    older = re.search(r'id="requests-older" href="([^"]+)"', page)
    assert older is not None
    assert listed(operator, html.unescape(older[1])) == [str(rows[3].pk)]


def test_pages_keep_their_filter(operator: Client, fleet: FallbackChain) -> None:
    for _ in range(PAGE_SIZE + 1):
        log(outcome="rescued", key_name="a b&c")
    page = operator.get("/requests/?rescued=on&key=a+b%26c").content.decode()
    older = re.search(r'id="requests-older" href="([^"]+)"', page)
    assert older is not None
    assert parse_qs(urlsplit(html.unescape(older[1])).query).items() >= {"rescued": ["on"], "key": ["a b&c"]}.items()


def newer(client: Client, page: str) -> str:
    """Ask as an open page does when it hears that there is news."""
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))
    return re.sub(r"<[^>]+>", "", client.get("/requests/newer/", hidden).content.decode()).strip()


def test_an_open_list_is_told_how_many_came_that_fit_its_filter(operator: Client, fleet: FallbackChain) -> None:
    now = timezone.now()
    log(now - timedelta(seconds=30))
    pages = [operator.get(f"/requests/{query}").content.decode() for query in ("", "?provider=groq", "?text=needle")]
    assert [newer(operator, page) for page in pages] == ["Reload"] * 3
    for ahead in range(3):
        log(now + timedelta(seconds=5 + ahead), provider="groq" if ahead else "openai", error="needle" * (ahead == 2))
    assert [newer(operator, page) for page in pages] == ["3 new", "2 new", "1 new"]
    assert operator.get("/requests/newer/?seen=nonsense").status_code == 404


def test_what_is_new_is_counted_up_to_a_bound(
    operator: Client, fleet: FallbackChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selectors, "MOST_NEW", 2)
    page = operator.get("/requests/").content.decode()
    for ahead in range(4):
        log(timezone.now() + timedelta(seconds=5 + ahead))
    assert newer(operator, page) == "2+ new"


def test_news_of_requests_touch_nothing_but_a_hidden_word(fleet: FallbackChain) -> None:
    before = selectors.newest_request(timezone.now())
    assert request_cells(before, before) == {}
    after = str(log().pk)
    (name, cell), *others = request_cells(before, selectors.newest_request(timezone.now())).items()
    assert (name, others) == ("requests-news", [])
    assert f'data-newest="{after}"' in cell


@pytest.mark.parametrize(
    "query", ["", "?provider=openai", "?outcome=rescued", "?rescued=on", "?key=my-app", "?chain=c"]
)
def test_no_filter_needs_a_count_or_a_sort(operator: Client, fleet: FallbackChain, query: str) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL chooses by statistics")
    name, _equals, value = query.removeprefix("?").partition("=")
    kept = selectors.Filter(**({name: True if name == "rescued" else value} if name else {}))
    plan = kept.rows()[:51].explain()
    assert "TEMP B-TREE" not in plan
    assert "USING INDEX" in plan or "PRIMARY KEY" in plan


def test_nonsense_in_a_filter_is_answered_with_its_error(operator: Client, fleet: FallbackChain) -> None:
    answer = operator.get("/requests/?outcome=exploded")
    assert answer.status_code == 422
    assert "Select a valid choice" in answer.content.decode()


def test_the_list_shows_tokens_and_cost(operator: Client, fleet: FallbackChain) -> None:
    log(input_tokens=1200, output_tokens=34, cost=Decimal("0.0084"))
    page = operator.get("/requests/").content.decode()
    assert "1,200/34" in page
    assert "$0.0084" in page
    log(input_tokens=None, output_tokens=None)
    assert '<td class="num minor">—</td><td class="num minor">—</td>' in operator.get("/requests/").content.decode()


def test_an_empty_log_says_so(operator: Client) -> None:
    assert "No request yet" in operator.get("/requests/").content.decode()


def test_one_request_shows_attempts_skips_codes_and_tokens(operator: Client, fleet: FallbackChain) -> None:
    request = log(
        targets=[
            attempt(decision="failed", reason="transient", status=503, message="overloaded", ended=0.3, first_token=None),
            attempt("anthropic", decision="skipped", reason="breaker_open", retry_after=24.0),
            attempt("groq", started=0.3, headers=0.4, first_token=0.8, ended=2.0, rescue="prefill"),
        ],
        outcome="rescued", duration=2.0, cost=Decimal("0.0084"), attempts=2, provider="groq", fallback=True,
    )  # fmt: skip
    page = operator.get(f"/requests/{request.pk}/").content.decode()
    for text in (
        "rescued",
        "503 transient",
        "overloaded",
        "breaker open",
        "for 24 s more",
        "first token after 0.50 s",
        "continues the stream by prefill",
    ):
        assert text in page
    for text in ("12 in · 34 out", "$0.0084", "my-app", "0.9 ms"):
        assert text in page
    assert re.findall(r"<tr data-decision=\"(\w+)\"><td>(\d?)", page) == [
        ("failed", "1"),
        ("skipped", ""),
        ("answered", "2"),
    ]


def test_the_waterfall_is_to_scale(operator: Client, fleet: FallbackChain) -> None:
    request = log(
        targets=[
            attempt(decision="failed", reason="transient", started=0.0, headers=0.1, first_token=None, ended=0.5),
            attempt("groq", started=0.5, headers=0.6, first_token=1.0, ended=2.0),
        ],
        duration=2.0,
    )
    page = operator.get(f"/requests/{request.pk}/").content.decode()
    bars = re.findall(r'<rect class="(\w+)" x="([\d.]+)" y="3" width="([\d.]+)"', page)
    assert [(part, float(x), float(width)) for part, x, width in bars] == [
        ("connecting", 0.0, 50.0), ("failed", 50.0, 200.0),
        ("connecting", 250.0, 50.0), ("waiting", 300.0, 200.0), ("streaming", 500.0, 500.0),
    ]  # fmt: skip


def test_a_request_refused_at_once_has_a_page_too(operator: Client, fleet: FallbackChain) -> None:
    request = log(targets=[], outcome="rejected", status=401, code="invalid_api_key", provider="", duration=0.0)
    page = operator.get(f"/requests/{request.pk}/").content.decode()
    assert "invalid_api_key" in page
    assert "No target was asked" in page


def test_rows_with_missing_or_odd_moments_are_drawn(operator: Client, fleet: FallbackChain) -> None:
    bare = {"provider": "openai", "connection": "main", "model": "gpt-4o", "decision": "failed"}
    request = log(
        targets=[bare, attempt(started=9.0, ended=1.0), attempt(decision="started", ended=None)], duration=1.0
    )
    assert operator.get(f"/requests/{request.pk}/").status_code == 200
    assert operator.get("/").status_code == 200
