"""Errors that nobody knows are counted by shape, and become rules."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.management import call_command
from django.db import DataError, OperationalError
from django.test import Client
from django.utils import timezone

from resilience.core.classify import ErrorFormat, classify_http
from resilience.core.outcome import DecidedBy, Failure
from routing import requestlog, unmatched
from routing.ids import uuid7
from routing.models import ErrorRule, RequestLog, UnmatchedError
from routing.requestlog import RequestRecord
from routing.table_compile import compile_table
from routing.unmatched import count_unmatched
from tests.routing.rows import make_provider

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def error(message: str, status: int = 400, **members: Any) -> Failure:
    body = json.dumps({"error": {"message": message} | members}).encode()
    failure = classify_http(ErrorFormat.OPENAI, status, {}, body, now=NOW, max_cooldown=DAY)
    assert failure.unmatched is not None
    return failure


def record(*failures: Failure, provider: str = "a", at: datetime = NOW) -> RequestRecord:
    return RequestRecord(id=uuid7(), started_at=at, unmatched=[(provider, failure) for failure in failures])


def counts() -> dict[str, int]:
    return {f"{row.provider} {row.example}": row.count for row in UnmatchedError.objects.all()}


def test_errors_are_counted_by_provider_status_code_and_shape() -> None:
    cold = [error(f"engine {number} is cold") for number in (7, 8, 9)]
    count_unmatched([record(cold[0], cold[1]), record(cold[2], provider="b"), record(at=NOW)])
    count_unmatched([record(cold[2], at=NOW + DAY), record(error("engine 7 is cold", 409))])
    count_unmatched([record(error("engine 7 is cold", code="c1"))])
    row = UnmatchedError.objects.of("a").get(status=400, code="")
    assert (row.count, row.first_seen_at, row.last_seen_at) == (3, NOW, NOW + DAY)
    assert (row.shape, row.example) == ('{"error":{"message":"engine # is cold"}}', "engine 7 is cold")
    assert (row.kind, str(row)) == ("invalid_request", "a: 400")
    assert sorted(UnmatchedError.objects.values_list("provider", "status", "code", "count")) == [
        ("a", 400, "", 3),
        ("a", 400, "c1", 1),
        ("a", 409, "", 1),
        ("b", 400, "", 1),
    ]
    assert UnmatchedError.objects.latest_first().first() == row


def test_what_is_one_shape_too_many_is_counted_as_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unmatched, "MAX_SHAPES", 2)
    count_unmatched([record(error("engine is cold"), error("engine is gone"), error("engine is old"))])
    count_unmatched([record(error("engine is new"), error("engine is cold")), record(error("x"), provider="b")])
    assert counts() == {"a engine is cold": 2, "a engine is gone": 1, "a ": 2, "b x": 1}
    assert [str(row) for row in UnmatchedError.objects.of("a").filter(shape="")] == ["a: others"]


def test_what_cannot_be_stored_costs_only_the_count(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(groups: object) -> None:
        raise DataError

    monkeypatch.setattr(unmatched, "_write", refuse)
    assert requestlog._write([record(error("engine is cold"))]) == 0
    assert RequestLog.objects.count() == 1
    assert [entry.message for entry in caplog.records] == ["unmatched.refused"]


def test_a_batch_that_comes_again_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = [record(error("engine is cold"), error("engine is gone"))]
    with monkeypatch.context() as broken:

        def fail(groups: object) -> None:
            written(groups)
            raise OperationalError("gone")

        written = unmatched._write
        broken.setattr(unmatched, "_write", fail)
        with pytest.raises(OperationalError):
            requestlog._write(batch)
    requestlog._write(batch)
    assert RequestLog.objects.count() == 1
    assert counts() == {"a engine is cold": 1, "a engine is gone": 1}


def test_any_text_can_be_stored() -> None:
    count_unmatched([record(error("bad \x00 byte \ud800", code="c\x00"))])
    assert UnmatchedError.objects.get().example == "bad  byte ?"


def test_prune_deletes_what_has_not_been_seen_for_long(capsys: pytest.CaptureFixture[str]) -> None:
    now = timezone.now()
    count_unmatched([record(error("old"), at=now - 40 * DAY), record(error("new"), at=now)])
    call_command("prune")
    assert counts() == {"a new": 1}
    assert "1 unmatched errors" in capsys.readouterr().out


def test_a_rule_can_be_made_from_an_error_and_then_matches_it(operator: Client) -> None:
    provider = make_provider("a")
    failure = error("engine 7 is (very) cold", code="engine_state")
    count_unmatched([record(failure)])
    page = operator.get("/admin/routing/unmatchederror/").content.decode()
    link = page[page.index("/admin/routing/errorrule/add/?") :].split('"')[0].replace("&amp;", "&")
    form = operator.get(link).content.decode()
    assert r'value="is \(very\) cold"' in form
    said = {name: values[0] for name, values in parse_qs(urlsplit(link).query).items()}
    assert said == {
        "provider": str(provider.pk),
        "status": "400",
        "code": "engine_state",
        "pattern": r"is \(very\) cold",
    }
    posted = operator.post(
        "/admin/routing/errorrule/add/", said | {"position": 0, "kind": "overloaded", "reason": "seen"}
    )
    assert posted.status_code == 302
    assert ErrorRule.objects.get().kind == "overloaded"
    rules = compile_table().providers["a"].error_rules
    body = b'{"error": {"message": "engine 12 is (very) cold", "code": "engine_state"}}'
    again = classify_http(ErrorFormat.OPENAI, 400, {}, body, now=NOW, max_cooldown=DAY, rules=rules)
    assert (again.kind, again.decided_by, again.unmatched) == ("overloaded", DecidedBy.RULE, None)


def test_there_is_no_link_without_a_provider_or_a_shape(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unmatched, "MAX_SHAPES", 0)
    make_provider("a")
    count_unmatched([record(error("cold"))])
    monkeypatch.undo()
    count_unmatched([record(error("cold"), provider="gone")])
    assert "Make a rule" not in operator.get("/admin/routing/unmatchederror/").content.decode()


def test_the_collection_can_be_read_and_cleared_but_not_edited(operator: Client) -> None:
    count_unmatched([record(error("engine <b> is cold"))])
    row = UnmatchedError.objects.get()
    base = f"/admin/routing/unmatchederror/{row.pk}"
    assert b"engine &lt;b&gt; is cold" in operator.get(f"{base}/change/").content
    assert operator.get("/admin/routing/unmatchederror/add/").status_code == 403
    assert operator.post(f"{base}/change/", {"count": 5}).status_code == 403
    assert operator.post(f"{base}/delete/", {"post": "yes"}).status_code == 302
    assert not UnmatchedError.objects.exists()


def test_a_status_that_stands_as_its_code_is_not_asked_for_twice() -> None:
    count_unmatched([record(error("cold", code=400)), record(error("cold", code="[key]"), provider="b")])
    assert [row.rule_fields["code"] for row in UnmatchedError.objects.all()] == ["", ""]
