"""A conversation of an Anthropic client that another maker's model answered, going on at Anthropic."""

import json
from typing import Any

import pytest

from routing.chains import Target
from routing.dialects.messages import Messages
from routing.table import Connection, Provider
from tests.routing.adapters.exchanges import BASES, KEY, MODELS, NO_FACTS
from tests.routing.adapters.sdk_types import check_anthropic

Json = dict[str, Any]

USER: Json = {"role": "user", "content": "hi"}
FOREIGN: Json = {"type": "thinking", "thinking": "hm", "signature": "omniroute"}
OWN: Json = {"type": "thinking", "thinking": "hm", "signature": "EqQB"}
TEXT: Json = {"type": "text", "text": "hello"}
CALL: Json = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
RESULT: Json = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "rain"}]}
BUDGET: Json = {"type": "enabled", "budget_tokens": 1024}
ADAPTIVE: Json = {"type": "adaptive"}


def said(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks)}


def sent(messages: list[Json], thinking: Json) -> tuple[Json, tuple[str, ...]]:
    connection = Connection("p", "main", BASES["anthropic"], api_key=KEY)
    provider = Provider("p", "P", "anthropic", BASES["anthropic"], connections=(connection,))
    asked = {"model": "chain", "max_tokens": 2048, "messages": messages, "thinking": thinking}
    request = Messages().parse(json.dumps(asked).encode(), {})
    exchange = Messages().pair(request, Target(provider, connection, MODELS["anthropic"], NO_FACTS), None)
    body: Json = json.loads(exchange.request().body)
    check_anthropic(body)
    return body, exchange.dropped_params


@pytest.mark.parametrize(
    ("messages", "kept"),
    [
        ([USER, said(FOREIGN, TEXT), USER], [USER, said(TEXT), USER]),
        ([USER, said(FOREIGN), USER], [USER, USER]),
        ([USER, said(OWN, TEXT), USER], [USER, said(OWN, TEXT), USER]),
        ([USER, said(FOREIGN, CALL), RESULT, said(OWN, CALL), RESULT],
         [USER, said(CALL), RESULT, said(OWN, CALL), RESULT]),
    ],
    ids=["beside text", "alone", "its own", "before it"],
)  # fmt: skip
def test_foreign_thoughts_are_left_out(messages: list[Json], kept: list[Json]) -> None:
    body, dropped = sent(messages, BUDGET)
    assert body["messages"] == kept
    assert body["thinking"] == BUDGET
    assert dropped == ()


@pytest.mark.parametrize(("thinking", "dropped"), [(BUDGET, ("thinking",)), (ADAPTIVE, ())])
def test_a_budget_goes_with_the_thoughts_before_the_calls_it_goes_on_from(
    thinking: Json, dropped: tuple[str, ...]
) -> None:
    body, named = sent([USER, said(FOREIGN, CALL), RESULT], thinking)
    assert body["messages"] == [USER, said(CALL), RESULT]
    assert ("thinking" not in body, named) == (bool(dropped), dropped)
