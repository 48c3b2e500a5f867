"""Explain: each target with the gate that stops it, and what if. Nothing is called, nothing changes."""

import json
import re
from collections.abc import Iterator

import pytest
from django.test import Client

from resilience import registry as registries
from resilience.models import BreakerState, ResilienceEvent, StateVersion
from resilience.reading import load_all
from resilience.registry import Registry
from routing import table
from routing.models import FallbackChain, Provider
from tests.dashboard.conftest import logged_in, user
from tests.dashboard.reading import said_by

HTMX = {"HX-Request": "true"}
OPENAI = "openai/main/gpt-4o"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """This process's copy as the rows are."""
    made = Registry()
    monkeypatch.setattr(registries, "_registry", made)
    before = table.current()
    yield made
    table.swap(before)


def ask(client: Client, *, status: int = 200, **data: object) -> str:
    answer = client.post("/explain/", data, headers=HTMX)
    assert answer.status_code == status
    return said_by(answer)


def gates(page: str) -> dict[str, str]:
    return dict(re.findall(r'data-target="([^"]+)" data-admitted="\w+" data-reason="(\w*)"', page))


def test_each_target_stands_with_the_gate_that_stops_it(
    operator: Client, on_fire: FallbackChain, registry: Registry
) -> None:
    registry.apply(load_all(), everything=True)
    page = ask(operator, model="gpt-4o")
    assert gates(page) == {
        OPENAI: "breaker_open", "openai/batch/gpt-4o": "breaker_open",
        "anthropic/main/claude-sonnet-4": "cooling", "groq/main/llama-3.3-70b": "locked",
    }  # fmt: skip
    assert "Nobody answers gpt-4o" in re.sub(r"<[^>]+>", "", page)
    assert 'data-until="' in page


def test_a_pasted_body_is_asked_by_its_model_and_comes_back_in_its_field(
    operator: Client, fleet: FallbackChain, registry: Registry
) -> None:
    body = '{"model": "groq/llama-3.3-70b", "messages": [{"role": "user", "content": "Hello"}]}'
    page = ask(operator, body=body, model="gpt-4o")
    assert list(gates(page)) == ["groq/main/llama-3.3-70b"]
    assert "Direct call" in page
    assert body in page


def test_a_whole_body_shows_what_each_format_would_not_be_told_and_where_it_would_end(
    operator: Client, fleet: FallbackChain, registry: Registry
) -> None:
    Provider.objects.filter(slug="anthropic").update(format="anthropic")
    Provider.objects.filter(slug="groq").update(format="gemini")
    body = {
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "Secret question"}],
        "seed": 7,
        "logit_bias": {"1": 2},
    }
    page = ask(operator, body=json.dumps(body), hold="openai")
    rows = page.split("data-target=")[1:]
    assert "would end here" not in rows[0]
    assert "would end here with 400: " in rows[2]
    assert "logit_bias" in rows[2]
    del body["logit_bias"]
    page = ask(operator, body=json.dumps(body))
    rows = page.split("data-target=")[1:]
    assert ["without seed" in row for row in rows] == [False, False, True, False]


@pytest.mark.parametrize(
    ("data", "says", "field"),
    [
        ({"body": "{"}, "The body is not JSON", "body"),
        ({"body": "[]"}, "must be a JSON object", "body"),
        ({"body": '{"input": []}'}, "It has no `model`", "body"),
        ({"body": '{"model": "gpt-4o", "messages": []}'}, "at least one message", "body"),
        ({"body": '{"model": "nothing"}'}, "'nothing' does not exist", "body"),
        ({"model": "nothing"}, "'nothing' does not exist", "model"),
        ({"model": "gpt-4o", "later": "soon"}, "Write it like", "later"),
        ({"model": "gpt-4o", "kind": "timeout", "target": OPENAI, "times": "0"}, "greater than or equal to 1", "times"),
    ],
)
def test_what_makes_no_sense_is_said_beside_its_field(
    operator: Client, fleet: FallbackChain, registry: Registry, data: dict[str, str], says: str, field: str
) -> None:
    page = ask(operator, status=422, **data)
    error = re.search(rf'id="\w+-{field}_error">(.*?)</ul>', page, re.DOTALL)
    assert error is not None
    assert says in error[1]


def test_holding_a_provider_open_shows_who_answers_instead(
    operator: Client, fleet: FallbackChain, registry: Registry
) -> None:
    page = ask(operator, model="gpt-4o", hold="openai")
    assert gates(page)[OPENAI] == "forced_open"
    assert "anthropic/main would be asked first, not openai/main/gpt-4o" in re.sub(
        r"\s+", " ", re.sub("<[^>]+>", "", page)
    )


def test_failures_are_pretended_and_the_clock_moves(operator: Client, fleet: FallbackChain, registry: Registry) -> None:
    failing = {"model": "gpt-4o", "kind": "transient", "target": OPENAI, "times": "9"}
    page = ask(operator, **failing)
    assert gates(page)[OPENAI] == "breaker_open"
    assert "Only 5 of 9 failing calls would get through" in page
    assert "openai degraded" in page
    assert "openai open" in page
    assert gates(ask(operator, **failing, later="1 min"))[OPENAI] == "probe"


def test_what_was_ticked_for_another_chain_is_forgotten(
    operator: Client, fleet: FallbackChain, registry: Registry
) -> None:
    page = ask(operator, model="groq/m", hold="openai", kind="timeout", target=OPENAI)
    assert gates(page) == {"groq/main/m": ""}


def test_a_look_changes_nothing(operator: Client, fleet: FallbackChain, registry: Registry) -> None:
    ask(operator, model="gpt-4o", hold="groq", kind="rate_limit", target=OPENAI, times="7", later="2 h")
    assert (registry.breakers, registry.cooldowns, registry.lockouts) == ({}, {}, {})
    assert len(registry.backlog) == 0
    for rows in (BreakerState, ResilienceEvent, StateVersion):
        assert not rows.objects.exists()


def test_a_viewer_may_ask_and_a_link_asks_too(viewer: Client, fleet: FallbackChain, registry: Registry) -> None:
    page = viewer.get("/explain/?model=gpt-4o").content.decode()
    assert next(iter(gates(page))) == OPENAI
    assert "<html" in page
    assert logged_in(user("nobody")).get("/explain/").status_code == 403


def test_without_a_question_the_chains_are_offered(operator: Client, fleet: FallbackChain, registry: Registry) -> None:
    assert "?model=gpt-4o" in operator.get("/explain/").content.decode()


def test_a_chain_without_an_entry_says_what_becomes_of_requests(
    operator: Client, fleet: FallbackChain, registry: Registry
) -> None:
    FallbackChain.objects.create(model="empty")
    assert "every request is refused" in ask(operator, model="empty")


def test_a_chain_of_chance_keeps_its_order_from_now_to_then(
    operator: Client, fleet: FallbackChain, registry: Registry
) -> None:
    FallbackChain.objects.update(strategy="random")
    assert list(gates(ask(operator, model="gpt-4o"))) == list(gates(ask(operator, model="gpt-4o", later="1 s")))
