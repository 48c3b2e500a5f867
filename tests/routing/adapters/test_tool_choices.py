"""Tools, and which of them may or must be called, for targets of other formats."""

from typing import Any

import pytest

from routing.errors import GatewayError
from tests.routing.adapters.conversations import CLOCK, WEATHER, Json
from tests.routing.adapters.exchanges import HI, dropped, sent

CHOICES: list[tuple[Any, Json | None, Json | None]] = [
    (None, None, None),
    ("auto", None, None),
    ("none", {"type": "none"}, {"mode": "NONE"}),
    ("required", {"type": "any"}, {"mode": "ANY"}),
    (
        {"type": "function", "function": {"name": "clock"}},
        {"type": "tool", "name": "clock"},
        {"mode": "ANY", "allowedFunctionNames": ["clock"]},
    ),
]


@pytest.mark.parametrize(("choice", "for_anthropic", "for_gemini"), CHOICES)
def test_tools_and_their_choice(choice: Any, for_anthropic: Json | None, for_gemini: Json | None) -> None:
    wanted: Json = {"tools": [WEATHER, CLOCK], "tool_choice": choice}
    body = sent("anthropic", **wanted)
    schema = WEATHER["function"]["parameters"]  # type: ignore[index]
    assert body["tools"] == [
        {"name": "get_weather", "description": "The weather.", "input_schema": schema},
        {"name": "clock", "input_schema": {"type": "object", "properties": {}}},
    ]
    assert body.get("tool_choice") == for_anthropic
    body = sent("gemini", **wanted)
    assert [sorted(declaration) for declaration in body["tools"][0]["functionDeclarations"]] == [
        ["description", "name", "parameters"],
        ["name"],
    ]
    assert body.get("toolConfig", {}).get("functionCallingConfig") == for_gemini


def allowing(tools: Any, mode: str = "required") -> Json:
    """A `tool_choice`."""
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


def test_only_allowed_tools_are_offered() -> None:
    choice = allowing([{"type": "function", "function": {"name": "clock"}}])
    body = sent("anthropic", tools=[WEATHER, CLOCK], tool_choice=choice)
    assert [tool["name"] for tool in body["tools"]] == ["clock"]
    assert body["tool_choice"] == {"type": "any"}


def test_one_call_at_a_time_is_told_to_anthropic_and_lost_on_gemini() -> None:
    wanted: Json = {"tools": [CLOCK], "parallel_tool_calls": False}
    assert sent("anthropic", **wanted)["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert dropped("gemini", **wanted) == ("parallel_tool_calls",)
    assert "tool_choice" not in sent("anthropic", tools=[CLOCK], parallel_tool_calls=True)


def test_anthropic_is_shown_the_tools_of_earlier_turns_where_none_are_offered_now() -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "clock", "arguments": "{}"}}]
    messages = [*HI, {"role": "assistant", "tool_calls": calls}, {"role": "tool", "tool_call_id": "c", "content": "1"}]
    body = sent("anthropic", messages=messages)
    assert [tool["name"] for tool in body["tools"]] == ["clock"]
    assert body["tool_choice"] == {"type": "none"}


@pytest.mark.parametrize("format_", ["anthropic", "gemini"])
@pytest.mark.parametrize("name", [["f"], {"a": 1}, None, 3])
def test_an_allowed_tool_whose_name_is_no_string_allows_nothing(format_: str, name: object) -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    choice = allowing([{"type": "function", "function": {"name": name}}], mode="auto")
    assert "tools" not in sent(format_, tools=tools, tool_choice=choice)


@pytest.mark.parametrize("format_", ["anthropic", "gemini"])
@pytest.mark.parametrize("tools", [5, None, {}, [], [{"type": "function", "function": {"name": "other"}}]])
def test_a_call_of_none_of_the_tools_cannot_be_required(format_: str, tools: object) -> None:
    with pytest.raises(GatewayError) as refused:
        sent(format_, tools=[CLOCK], tool_choice=allowing(tools))
    assert (refused.value.status, refused.value.param) == (400, "tool_choice")
