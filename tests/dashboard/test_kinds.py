"""The kinds page, and error rules: added, edited, moved and deleted with a reason."""

import html
import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from resilience.core.kinds import RULES
from resilience.models import ResilienceEvent
from routing.models import ErrorRule, FallbackChain, Provider, UnmatchedError
from tests.dashboard.reading import said_by, stamp, text


def rules() -> list[str]:
    return [f"{rule.status} {rule.kind}" for rule in ErrorRule.objects.order_by("position", "id")]


@pytest.fixture
def ruled(fleet: FallbackChain) -> Provider:
    provider = Provider.objects.get(slug="openai")
    for position, (status, kind) in enumerate([(529, "overloaded"), (418, "auth")]):
        ErrorRule.objects.create(provider=provider, position=position, status=status, kind=kind)
    return provider


def do(client: Client, number: int, what: str, **fields: str) -> int:
    path = f"/providers/openai/rules/{number}/"
    data = {"seen": stamp(client, path), "do": what, "reason": "because", **fields}
    return client.post(path, data).status_code


def test_every_kind_of_the_table_is_shown_with_its_effects(operator: Client) -> None:
    page = text(operator, "/kinds/")
    assert re.findall(r'data-kind="(\w+)"', page) == [kind.value for kind in RULES]
    row = page.split('data-kind="rate_limit"')[1].split("</tr>")[0]
    assert re.findall(r'data-effect="(\w+)"', row) == ["yes", "no", "counts_if_alone", "always", "counts"]


def test_rules_are_listed_with_their_provider(operator: Client, ruled: Provider) -> None:
    page = text(operator, "/kinds/")
    assert re.findall(r'data-rules="(\w+)"', page) == ["openai"]
    assert 'href="/providers/openai/rules/1/"' in page
    assert 'id="add-rule-groq"' in page
    assert "status <b>529</b>" in text(operator, "/providers/openai/")


def test_a_rule_is_added(operator: Client, ruled: Provider) -> None:
    data = {"pattern": "melted", "kind": "timeout", "cooldown": "30 s", "name": "heat", "reason": "their new words"}
    answer = operator.post("/providers/openai/rules/_new/", data)
    assert answer["Location"] == "/providers/openai/"
    rule = ErrorRule.objects.get(pattern="melted")
    assert (rule.position, rule.kind, rule.cooldown, rule.name) == (2, "timeout", 30, "heat")
    event = ResilienceEvent.objects.get()
    assert (event.cause, event.reason) == ("error rule added: pattern melted → timeout", "their new words")


def test_a_rule_needs_something_to_look_for_and_a_pattern_that_compiles(operator: Client, ruled: Provider) -> None:
    answer = operator.post("/providers/openai/rules/_new/", {"kind": "timeout", "reason": "because"})
    assert answer.status_code == 422
    assert "needs a status, a code or a pattern to look for" in answer.content.decode()
    answer = operator.post("/providers/openai/rules/_new/", {"pattern": "(", "kind": "local", "reason": "because"})
    assert "must be a regular expression" in answer.content.decode()
    assert "must be one of rate_limit" in answer.content.decode()
    assert ErrorRule.objects.count() == 2


def test_a_pattern_that_would_have_to_backtrack_is_refused_in_the_form(operator: Client, ruled: Provider) -> None:
    data = {"pattern": "quota(?! left)", "kind": "timeout", "reason": "because"}
    answer = operator.post("/providers/openai/rules/_new/", data)
    assert answer.status_code == 422
    assert "put a rule for the exception before this one" in answer.content.decode()


def test_a_rule_of_an_older_release_that_never_fires_says_so_and_is_in_nobodys_way(
    operator: Client, ruled: Provider
) -> None:
    ErrorRule.objects.create(provider=ruled, position=2, pattern="quota(?! left)", kind="auth")
    for path in ("/kinds/", "/providers/openai/"):
        page = text(operator, path)
        assert page.count("never fires") == 1
        assert "There is no lookaround" in page
    assert do(operator, 0, "", status="530", kind="timeout") == 302
    assert rules() == ["530 timeout", "418 auth", "None auth"]


def test_a_link_fills_a_new_rule_in(operator: Client, ruled: Provider) -> None:
    page = text(operator, '/providers/openai/rules/_new/?status=529&code=melted&pattern=too+"hot"&other=1')
    assert 'name="status" value="529"' in page
    assert 'name="code" value="melted"' in page
    assert 'too "hot"' in page


def test_a_rule_is_changed_in_its_place(operator: Client, ruled: Provider) -> None:
    assert do(operator, 0, "", status="530", kind="timeout") == 302
    assert rules() == ["530 timeout", "418 auth"]


def test_rules_are_moved_and_deleted_with_a_reason(operator: Client, ruled: Provider) -> None:
    assert do(operator, 1, "move-up") == 302
    assert rules() == ["418 auth", "529 overloaded"]
    assert do(operator, 0, "move-down") == 302
    assert rules() == ["529 overloaded", "418 auth"]
    assert do(operator, 0, "delete", reason="") == 422
    assert do(operator, 0, "delete") == 302
    assert rules() == ["418 auth"]


def test_rules_that_changed_meanwhile_are_not_overwritten(operator: Client, ruled: Provider) -> None:
    path = "/providers/openai/rules/0/"
    mine = {"seen": stamp(operator, path), "status": "530", "kind": "timeout", "reason": "because"}
    do(operator, 0, "", status="531", kind="timeout", reason="they changed it")
    answer = operator.post(path, mine)
    said = said_by(answer)
    assert answer.status_code == 422
    assert "“they changed it”" in said
    assert "now: <b>531</b>" in said
    assert rules() == ["531 timeout", "418 auth"]


def unmatched(provider: str, **columns: Any) -> UnmatchedError:
    now = timezone.now()
    values = {
        "digest": "d",
        "status": 529,
        "code": "melted",
        "shape": "{}",
        "example": "engine # is cold",
        "kind": "overloaded",
    }
    return UnmatchedError.objects.create(
        provider=provider, count=3, first_seen_at=now, last_seen_at=now, **(values | columns)
    )


def test_errors_that_nobody_knows_are_shown_and_begin_a_rule(operator: Client, viewer: Client, ruled: Provider) -> None:
    unmatched("openai")
    unmatched("gone")
    page = operator.get("/kinds/").content.decode()
    assert "“engine # is cold”" in page
    links = re.findall(r'href="([^"]*)">Make a rule', page)
    assert len(links) == 1  # of a provider that is not there any more, none
    form = text(operator, html.unescape(links[0]))
    assert 'name="status" value="529"' in form
    assert 'name="code" value="melted"' in form
    assert '<option value="overloaded" selected>' in form
    assert "Make a rule" not in text(viewer, "/kinds/")
    assert "“engine # is cold”" in text(viewer, "/kinds/")


def test_without_such_an_error_the_page_says_so(operator: Client) -> None:
    assert "None: every error so far was told" in text(operator, "/kinds/")
