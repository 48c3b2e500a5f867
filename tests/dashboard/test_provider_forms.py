"""Forms of providers and connections: the file's limits in the file's words, on what the editor has seen."""

import html
import json
import re
from typing import Any

import pytest
from django.test import Client

from resilience.models import ResilienceEvent
from routing import crypto
from routing.configfile import ConfigFileError, apply_file
from routing.models import Connection, FallbackChain, Provider
from routing.table import current_sync
from routing.tunables import TUNABLES
from tests.dashboard.reading import said_by

HTMX = {"HX-Request": "true"}
NEW = {
    "slug": "acme",
    "format": "openai",
    "base_url": "https://acme.example/v1",
    "connection": "main",
    "api_key": "sk-0123456789-abcdef",
    "reason": "a new account",
}


def sent(client: Client, path: str, **more: str) -> dict[str, str]:
    """What a browser sends of a form that nobody touched, with `more` typed into it."""
    page = client.get(path).content.decode()
    fields = {
        name: html.unescape(value)
        for name, value in re.findall(r'<input type="\w+" name="(\w+)" value="([^"]*)"', page)
    }
    for name, options in re.findall(r'<select name="(\w+)".*?>(.*?)</select>', page, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options)
        fields[name] = chosen[1] if chosen else ""
    boxes = dict.fromkeys(re.findall(r'type="checkbox" name="(\w+)"[^>]* checked', page), "on")
    return {**fields, **boxes, "reason": "because", **more}


def error_of(field: str, page: str) -> str:
    """What stands beside a field, in plain text."""
    return re.sub(r"<[^>]+>", "", page.split(f'id="sheet-{field}_error">')[1].split("</ul>", maxsplit=1)[0]).strip()


def told() -> list[tuple[str, str, str, str]]:
    rows = ResilienceEvent.objects.filter(name="config_changed").order_by("id")
    return [(row.data["subject"], row.cause, row.actor, row.reason) for row in rows]


def test_a_provider_is_added_with_its_connection(operator: Client) -> None:
    answer = operator.post("/providers/_new/", NEW)
    assert answer["Location"] == "/providers/acme/"
    connection = current_sync().providers["acme"].connections[0]
    assert (connection.slug, connection.api_key) == ("main", "sk-0123456789-abcdef")
    assert told() == [
        ("provider acme", "created", "alice", "a new account"),
        ("connection acme/main", "created", "alice", "a new account"),
    ]
    assert "0123456789" not in said_by(operator.get("/providers/acme/"))


def test_htmx_is_led_to_the_page_of_what_was_saved(operator: Client) -> None:
    assert operator.post("/providers/_new/", NEW, headers=HTMX)["HX-Redirect"] == "/providers/acme/"


def test_every_mistake_stands_beside_its_field_and_nothing_is_made(operator: Client) -> None:
    wrong = {"slug": "Acme!", "format": "foo", "base_url": "ftp://x", "connection": "UPPER", "api_key": "no spaces"}
    answer = operator.post("/providers/_new/", {**wrong, "reason": ""}, headers=HTMX)
    assert answer.status_code == 422
    said = said_by(answer)
    for field, words in {
        "slug": "must be lower-case letters, digits and hyphens, at most 64 characters",
        "format": "must be one of openai, anthropic, gemini, azure",
        "base_url": "must be an http:// or https:// URL",
        "connection": "must be lower-case letters, digits and hyphens",
        "api_key": "must be env:NAME or a key of printable ASCII characters without spaces",
        "reason": "Say why",
    }.items():
        assert words in error_of(field, said)
    assert "no spaces<" not in said  # the key that was typed is not sent back
    assert 'value="no spaces"' not in said
    assert not Provider.objects.exists()


def test_a_name_that_is_taken_is_said(operator: Client, fleet: FallbackChain) -> None:
    answer = operator.post("/providers/_new/", {**NEW, "slug": "openai"})
    assert answer.status_code == 422
    assert "is taken: there is a provider of that name" in said_by(answer)


def test_a_setting_is_changed_and_an_emptied_one_is_the_default_again(operator: Client, fleet: FallbackChain) -> None:
    path = "/providers/openai/settings/"
    Provider.objects.filter(slug="openai").update(retries=4)
    operator.post(path, sent(operator, path, breaker_reset_timeout="45", timeout_idle="2.5 s", retries=""))
    row = Provider.objects.get(slug="openai")
    assert (row.breaker_reset_timeout, row.timeout_idle, row.retries) == (45, 2.5, 1)
    assert told() == [
        ("provider openai", "breaker_reset_timeout 30 → 45, timeout_idle 20 → 2.5, retries 4 → 1", "alice", "because")
    ]


def test_a_form_that_nobody_touched_changes_nothing(operator: Client, fleet: FallbackChain) -> None:
    Provider.objects.filter(slug="openai").update(name="Open AI", breaker_degradation_threshold=2, stream_rescue="off")
    Connection.objects.filter(slug="batch").update(headers={"X-Key": "hidden", "X-B": "b"}, weight=2.5, api_key_env="K")
    for path in ("/providers/openai/settings/", "/providers/openai/connections/batch/"):
        answer = operator.post(path, sent(operator, path, **area(operator, path)), follow=True)
        assert "Nothing differed, nothing was changed." in said_by(answer)
    assert told() == []


def area(client: Client, path: str) -> dict[str, str]:
    """The text area of a page, if it has one."""
    found = re.search(r'<textarea name="(\w+)".*?>\s*(.*?)</textarea>', client.get(path).content.decode(), re.DOTALL)
    return {found[1]: html.unescape(found[2])} if found else {}


def test_limits_are_those_of_the_file_in_the_same_words(operator: Client, fleet: FallbackChain) -> None:
    too_high = {column: tunable.high + 1 for column, tunable in TUNABLES.items()}
    document: dict[str, Any] = {"slug": "x", "format": "openai", "base_url": "http://x", "connections": []}
    for column, tunable in TUNABLES.items():
        place = document.setdefault(tunable.section, {}) if tunable.section else document
        place[tunable.name] = too_high[column]
    with pytest.raises(ConfigFileError) as caught:
        apply_file(json.dumps({"providers": [document]}).encode())
    path = "/providers/openai/settings/"
    answer = operator.post(path, sent(operator, path, **{column: str(value) for column, value in too_high.items()}))
    assert answer.status_code == 422
    of_the_file = {problem.path[2:]: problem.message for problem in caught.value.problems}
    assert len(of_the_file) == len(TUNABLES)
    for column, tunable in TUNABLES.items():
        where = (tunable.section, tunable.name) if tunable.section else (tunable.name,)
        assert error_of(column, said_by(answer)) == of_the_file[where]


@pytest.mark.parametrize("nonsense", ["nan", "inf", "-1", "1e400", "soon", "9" * 39, "0x10", "1,5"])
def test_what_is_no_number_is_refused(operator: Client, fleet: FallbackChain, nonsense: str) -> None:
    path = "/providers/openai/settings/"
    answer = operator.post(path, sent(operator, path, breaker_reset_timeout=nonsense))
    assert answer.status_code == 422
    assert "must be a number from 0 to 31622400" in said_by(answer)


def test_settings_that_contradict_each_other_are_said_where_it_matters(operator: Client, fleet: FallbackChain) -> None:
    path = "/providers/openai/settings/"
    answer = operator.post(path, sent(operator, path, lockout_lockout_duration="4000"))
    said = error_of("lockout_max_lockout_duration", said_by(answer))
    assert said == "must not be below lockout_duration, which is 4000"


def test_two_editors_see_both_versions_and_the_second_decides(operator: Client, fleet: FallbackChain) -> None:
    path = "/providers/openai/settings/"
    mine = sent(operator, path, breaker_reset_timeout="45", retries="3")
    operator.post(path, sent(operator, path, breaker_reset_timeout="90", reason="theirs are slow"))
    answer = operator.post(path, mine, headers=HTMX)
    said = said_by(answer)
    assert answer.status_code == 422
    assert "Somebody else changed this meanwhile. Nothing of yours was saved." in said
    assert "“theirs are slow”" in said
    assert 'name="breaker_reset_timeout" value="45"' in said
    assert re.findall(r'class="stored">now: <b>(.*?)</b>', said) == ["90", "default 1"]
    assert Provider.objects.get(slug="openai").breaker_reset_timeout == 90
    fresh = re.search(r'name="seen" value="(\w+)"', said)
    assert fresh
    operator.post(path, {**mine, "seen": fresh[1]})
    assert Provider.objects.get(slug="openai").breaker_reset_timeout == 45


def test_a_connection_is_added_and_changed(operator: Client, fleet: FallbackChain) -> None:
    data = {"slug": "spare", "api_key": "env:SPARE_KEY", "weight": "2", "enabled": "on", "headers": "X-Team: search"}
    operator.post("/providers/openai/connections/_new/", {**data, "reason": "more room"})
    row = Connection.objects.get(slug="spare")
    assert (row.api_key_env, row.weight, row.headers) == ("SPARE_KEY", 2, {"X-Team": "search"})
    path = "/providers/openai/connections/spare/"
    operator.post(path, sent(operator, path, api_key="sk-0123456789-abcdef", headers="", priority="7"))
    row.refresh_from_db()
    assert (row.api_key_env, row.key_hint, row.headers, row.priority) == ("", "cdef", {}, 7)
    assert told()[-1][1] == "priority 0 → 7, headers [X-Team] → [], api_key changed"


def test_an_empty_key_field_keeps_the_key_and_a_box_takes_it_away(operator: Client, fleet: FallbackChain) -> None:
    Connection.objects.filter(slug="batch").update(api_key_encrypted=crypto.encrypt("sk-1"), key_hint="")
    path = "/providers/openai/connections/batch/"
    operator.post(path, sent(operator, path, weight="3"))
    assert crypto.decrypt(Connection.objects.get(slug="batch").api_key_encrypted) == "sk-1"
    both = sent(operator, path, api_key="sk-2", remove_key="on")
    assert operator.post(path, both).status_code == 422
    operator.post(path, sent(operator, path, remove_key="on"))
    assert Connection.objects.get(slug="batch").api_key_encrypted == ""


def test_a_secret_header_is_not_shown_and_stays_unless_it_is_replaced(operator: Client, fleet: FallbackChain) -> None:
    Connection.objects.filter(slug="batch").update(headers={"X-Key": "hidden", "X-Team": "search"})
    path = "/providers/openai/connections/batch/"
    assert area(operator, path) == {"headers": "X-Key: (stored)\nX-Team: search"}
    operator.post(path, sent(operator, path, headers="X-Key: (stored)\r\nX-Team: ads"))
    assert Connection.objects.get(slug="batch").headers == {"X-Key": "hidden", "X-Team": "ads"}
    operator.post(path, sent(operator, path, headers="X-Key: other"))
    assert Connection.objects.get(slug="batch").headers == {"X-Key": "other"}
    assert "hidden" not in str(told())


def test_a_header_that_cannot_be_sent_is_refused_in_the_file_s_words(operator: Client, fleet: FallbackChain) -> None:
    path = "/providers/openai/connections/main/"
    for line, words in (("Content-Length: 3", "set by the gateway itself"), ("no colon", "is not a header name")):
        assert words in said_by(operator.post(path, sent(operator, path, headers=line)))


def test_a_connection_that_was_deleted_meanwhile_is_not_found(operator: Client, fleet: FallbackChain) -> None:
    path = "/providers/openai/connections/batch/"
    mine = sent(operator, path, weight="3")
    Connection.objects.filter(slug="batch").delete()
    assert operator.post(path, mine).status_code == 404
    assert told() == []
