"""Every request we build is one in the eyes of the provider's own SDK."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.routing.adapters.conversations import CLOCK, GOLDENS, WEATHER, Json
from tests.routing.adapters.exchanges import HI, MODELS, answered, sent
from tests.routing.adapters.sdk_types import CHECKS, check_anthropic, check_gemini
from tests.routing.adapters.test_answers import candidate, generated, message
from tests.routing.adapters.test_parameters import ANTHROPIC, GEMINI
from tests.routing.adapters.test_schemas import GEMINI as SCHEMAS
from tests.routing.adapters.test_tool_choices import CHOICES

FORMATS = ["anthropic", "gemini"]


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", GOLDENS)
def test_conversations(name: str, format_: str) -> None:
    CHECKS[format_](sent(format_, messages=GOLDENS[name].messages, tools=[WEATHER, CLOCK]))


@pytest.mark.parametrize("wanted", [row[1] for row in ANTHROPIC], ids=[row[0] for row in ANTHROPIC])
def test_what_anthropic_is_told(wanted: Json) -> None:
    check_anthropic(sent("anthropic", **wanted))


@pytest.mark.parametrize("wanted", [row[1] for row in GEMINI], ids=[row[0] for row in GEMINI])
def test_what_gemini_is_told(wanted: Json) -> None:
    check_gemini(sent("gemini", **wanted))


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("choice", [row[0] for row in CHOICES])
def test_tool_choices(choice: Any, format_: str) -> None:
    CHECKS[format_](sent(format_, tools=[WEATHER, CLOCK], tool_choice=choice, parallel_tool_calls=False))


@pytest.mark.parametrize("schema", [row[1] for row in SCHEMAS], ids=[row[0] for row in SCHEMAS])
def test_schemas_of_gemini_s_tools(schema: Json) -> None:
    whole = {"type": "object", "properties": {"a": schema}, **{k: schema[k] for k in ("$defs",) if k in schema}}
    function = {"name": "f", "parameters": whole}
    check_gemini(sent("gemini", tools=[{"type": "function", "function": function}]))


def test_the_checks_can_fail() -> None:
    with pytest.raises(AssertionError):
        check_anthropic({**sent("anthropic"), "max_token": 1})
    with pytest.raises(ValidationError):
        check_anthropic({**sent("anthropic"), "messages": [{"role": "user", "content": [{"type": "txt"}]}]})
    with pytest.raises(ValidationError):
        check_gemini({"contents": [{"role": "user", "parts": [{"txt": "a"}]}]})


CITIES = ("Oslo", "Rome")
ANSWERS: dict[str, Json] = {
    "openai": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": f"call_{city}",
                            "type": "function",
                            "function": {"name": "get_weather", "arguments": f'{{"city":"{city}"}}'},
                        }
                        for city in CITIES
                    ],
                },
            }
        ],
    },
    "anthropic": message(
        {"type": "text", "text": "Let me look."},
        *(
            {"type": "tool_use", "id": f"toolu_{city}", "name": "get_weather", "input": {"city": city}}
            for city in CITIES
        ),
        stop="tool_use",
    ),
    "gemini": generated(
        candidate(*({"functionCall": {"name": "get_weather", "args": {"city": city}}} for city in CITIES))
    ),
}


@pytest.mark.parametrize("order", [("openai", "anthropic", "gemini"), ("gemini", "openai", "anthropic")])
def test_a_conversation_with_parallel_calls_moves_from_provider_to_provider(order: tuple[str, ...]) -> None:
    messages: list[Json] = [*HI]
    for turn, format_ in enumerate((*order, *order)):
        body = sent(format_, messages=messages, tools=[WEATHER])
        CHECKS[format_](body)
        said = answered(format_, ANSWERS[format_])["choices"][0]["message"]
        messages.append({name: value for name, value in said.items() if value is not None})
        calls = said["tool_calls"]
        assert [call["function"]["name"] for call in calls] == ["get_weather"] * 2
        messages += [
            {"role": "tool", "tool_call_id": call["id"], "content": f"{city}, turn {turn}"}
            for call, city in zip(calls, CITIES, strict=True)
        ]
    assert set(order) == set(MODELS) - {"azure"}
    last = sent("anthropic", messages=messages)["messages"]
    ids = [block["id"] for message in last for block in message["content"] if block["type"] == "tool_use"]
    assert len(set(ids)) == len(ids) == 12
