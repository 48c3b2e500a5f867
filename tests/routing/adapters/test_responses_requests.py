"""Responses requests as chat completions, for targets that have no Responses of their own."""

from typing import Any, NamedTuple

import pytest

from routing.adapters.responses_parameters import TABLE
from routing.errors import GatewayError
from routing.table import ModelFacts
from tests.routing.adapters.conversations import PNG, WEATHER, Json, call, text
from tests.routing.adapters.responses import asking, check_request, left_out, told
from tests.routing.adapters.sdk_types import CHECKS

TOOL: Json = {"type": "function", **WEATHER["function"], "strict": True}
SCHEMA: Json = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
NAMED = {"type": "function", "function": {"name": "get_weather"}}
PICTURE: Json = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "low"}
IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}}
PDF = "data:application/pdf;base64,JVBE"


def called(call_id: str, arguments: str = '{"city":"Oslo"}', name: str = "get_weather") -> Json:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, "id": f"fc_{call_id}"}


def gave(call_id: str, output: Any) -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def spoke(*parts: Json) -> Json:
    return {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": list(parts)}


def output_text(value: str) -> Json:
    return {"type": "output_text", "text": value, "annotations": []}


class Golden(NamedTuple):
    input: Any
    messages: list[Json]
    instructions: str | None = None


INPUTS = {
    "a text": Golden("hi", [{"role": "user", "content": "hi"}]),
    "instructions come first": Golden(
        [
            {"role": "user", "content": "hi"},
            {"role": "developer", "content": [{"type": "input_text", "text": "be brief"}], "type": "message"},
            {"role": "system", "content": "really"},
        ],
        [
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "hi"},
            {"role": "system", "content": "be brief"},
            {"role": "system", "content": "really"},
        ],
        "be kind",
    ),
    "pictures and files": Golden(
        [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "look"},
                    PICTURE,
                    {"type": "input_image", "image_url": "https://x.test/a.png", "detail": "original"},
                    {"type": "input_file", "filename": "a.pdf", "file_data": PDF},
                ],
            }
        ],
        [
            {
                "role": "user",
                "content": [
                    text("look"),
                    IMAGE,
                    {"type": "image_url", "image_url": {"url": "https://x.test/a.png", "detail": "high"}},
                    {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF}},
                ],
            }
        ],
    ),
    "a turn with thoughts, words and parallel calls is one message": Golden(
        [
            {"role": "user", "content": "weather?"},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]},
            spoke(output_text("Let me "), output_text("look.")),
            called("call_1"),
            called("call_2", '{"city":"Rome"}'),
            gave("call_1", "12 degrees"),
            gave("call_2", [{"type": "input_text", "text": "20 degrees"}]),
            {"role": "user", "content": "and?"},
        ],
        [
            {"role": "user", "content": "weather?"},
            {
                "role": "assistant",
                "content": "Let me look.",
                "tool_calls": [
                    call("call_1", "get_weather", '{"city":"Oslo"}'),
                    call("call_2", "get_weather", '{"city":"Rome"}'),
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "12 degrees"},
            {"role": "tool", "tool_call_id": "call_2", "content": "20 degrees"},
            {"role": "user", "content": "and?"},
        ],
    ),
    "calls one after the other": Golden(
        [
            {"role": "user", "content": "go"},
            called("a"),
            gave("a", "1"),
            called("b"),
            gave("b", ""),
            spoke({"type": "refusal", "refusal": "no"}),
            spoke(output_text("more")),
        ],
        [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": None, "tool_calls": [call("a", "get_weather", '{"city":"Oslo"}')]},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "assistant", "content": None, "tool_calls": [call("b", "get_weather", '{"city":"Oslo"}')]},
            {"role": "tool", "tool_call_id": "b", "content": ""},
            {"role": "assistant", "content": "no\n\nmore"},
        ],
    ),
    "pictures of results follow the last result": Golden(
        [
            {"role": "user", "content": "draw"},
            called("a", "{}"),
            called("b", "{}"),
            gave("a", [{"type": "input_text", "text": "done"}, PICTURE]),
            gave("b", "done"),
            {"role": "user", "content": "and?"},
        ],
        [
            {"role": "user", "content": "draw"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [call("a", "get_weather", "{}"), call("b", "get_weather", "{}")],
            },
            {"role": "tool", "tool_call_id": "a", "content": "done"},
            {"role": "tool", "tool_call_id": "b", "content": "done"},
            {"role": "user", "content": [text("The tool call a gave this:"), IMAGE]},
            {"role": "user", "content": "and?"},
        ],
    ),
}


@pytest.mark.parametrize("golden", INPUTS.values(), ids=INPUTS)
def test_input_becomes_messages(golden: Golden) -> None:
    wanted = {"input": golden.input, "instructions": golden.instructions, "tools": [TOOL]}
    check_request({"model": "m", **wanted})
    body = told(**wanted)
    assert body["messages"] == golden.messages
    CHECKS["openai"](body)


@pytest.mark.parametrize("format_", ["anthropic", "gemini"])
@pytest.mark.parametrize("golden", INPUTS.values(), ids=INPUTS)
def test_every_input_is_valid_for_the_other_formats(golden: Golden, format_: str) -> None:
    CHECKS[format_](told(format_, input=golden.input, instructions=golden.instructions, tools=[TOOL]))


def test_pictures_stay_in_results_where_the_format_has_room_for_them() -> None:
    body = told("anthropic", input=INPUTS["pictures of results follow the last result"].input, tools=[TOOL])
    first = body["messages"][2]["content"][0]
    assert [block["type"] for block in first["content"]] == ["text", "image"]


MEMBERS: tuple[tuple[Json, Json], ...] = (
    ({"temperature": 0.5, "top_p": 0.2, "user": "u"}, {"temperature": 0.5, "top_p": 0.2, "user": "u"}),
    ({"max_output_tokens": 100}, {"max_tokens": 100}),
    ({"stream": True}, {"stream": True, "stream_options": {"include_usage": True}}),
    ({"text": {"format": {"type": "text"}}}, {}),
    ({"text": {"format": {"type": "json_object"}}}, {"response_format": {"type": "json_object"}}),
    (
        {"text": {"format": {"type": "json_schema", "name": "a", "schema": SCHEMA, "strict": True}}},
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "a", "schema": SCHEMA, "strict": True},
            }
        },
    ),
    ({"tool_choice": "auto", "parallel_tool_calls": True, "tools": []}, {}),
    ({"tools": [TOOL]}, {"tools": [{"type": "function", "function": {**WEATHER["function"], "strict": True}}]}),
)
CHOICES: tuple[tuple[Any, Any], ...] = (
    (None, None),
    ("auto", None),
    ("none", "none"),
    ("required", "required"),
    ({"type": "function", "name": "get_weather"}, NAMED),
    ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "get_weather"}]}, None),
    ({"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "get_weather"}]}, "required"),
)


@pytest.mark.parametrize(("wanted", "sent"), MEMBERS)
def test_members(wanted: Json, sent: Json) -> None:
    check_request({"model": "m", "input": "hi", **wanted, "stream": False})
    body = told(**wanted)
    assert body == {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}], **sent}


@pytest.mark.parametrize(("choice", "sent"), CHOICES)
def test_tool_choices(choice: Any, sent: Any) -> None:
    clock = {"type": "function", "name": "clock"}
    body = told(tools=[TOOL, clock], tool_choice=choice, parallel_tool_calls=False)
    assert (body.get("tool_choice"), body["parallel_tool_calls"]) == (sent, False)
    only = isinstance(choice, dict) and choice["type"] == "allowed_tools"
    assert [tool["function"]["name"] for tool in body["tools"]] == (
        ["get_weather"] if only else ["get_weather", "clock"]
    )


@pytest.mark.parametrize(
    ("format_", "model", "effort", "sent"),
    [
        ("openai", "gpt-oss-120b", "high", "high"),
        ("openai", "gpt-oss-120b", "xhigh", "high"),
        ("openai", "gpt-oss-120b", "none", None),
        ("openai", "llama-3", "high", None),
        ("gemini", "gemini-3-pro", "max", "HIGH"),
    ],
)
def test_effort(format_: str, model: str, effort: str, sent: str | None) -> None:
    body = told(format_, model=model, reasoning={"effort": effort, "summary": "auto"})
    config = body.get("generationConfig", {}).get("thinkingConfig", {})
    assert body.get("reasoning_effort", config.get("thinkingLevel")) == sent


def test_the_length_is_at_most_the_models() -> None:
    assert told(facts=ModelFacts(max_output_tokens=50), max_output_tokens=100)["max_tokens"] == 50
    assert told("gemini", max_output_tokens=100)["generationConfig"]["maxOutputTokens"] == 100


def test_what_is_left_out_is_recorded() -> None:
    assert left_out() == ("store",)
    assert left_out(store=True) == ("store",)
    quiet = {
        "store": False,
        "truncation": "disabled",
        "include": [],
        "metadata": {},
        "background": False,
        "top_logprobs": 0,
        "service_tier": "auto",
        "tool_choice": "auto",
    }
    assert left_out(**quiet) == ()
    thoughts = [{"type": "reasoning", "id": "rs_1", "summary": []}, {"role": "user", "content": "hi"}]
    loud = {"truncation": "auto", "include": ["reasoning.encrypted_content"], "novelty": 1}
    more = {"text": {"verbosity": "low"}, "reasoning": {"effort": "high"}, "input": thoughts, "store": False}
    assert set(left_out(**loud, **more)) == {
        *("truncation", "include", "novelty", "text.verbosity", "reasoning", "input.reasoning")
    }
    assert left_out("anthropic", model="claude-3-haiku", reasoning={"effort": "high"}, store=False) == ("reasoning",)


UNNAMED: Json = {"type": "input_image", "image_url": "https://pictures.test/1"}  # whose type nobody can tell

REFUSED: tuple[tuple[Json, str], ...] = (
    *(({row.name: "x"}, row.name) for row in TABLE if row.fate == "refused"),
    ({"include": ["message.output_text.logprobs"]}, "include"),
    ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input[0]"),
    ({"input": [{"type": "web_search_call", "id": "ws_1"}]}, "input[0]"),
    ({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}, "input[0].content[0]"),
    ({"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "u"}]}]}, "input[0].content[0]"),
    ({"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]}, "input[0].content[0]"),
    ({"input": [{"role": "system", "content": [PICTURE]}]}, "input[0].content"),
    ({"input": [{"role": "critic", "content": "hm"}]}, "input[0].role"),
    ({"input": [{"role": "user"}]}, "input[0].content"),
    ({"input": [{"role": "user", "content": ""}]}, "input"),
    ({"input": [called("a") | {"arguments": {}}]}, "input[0].arguments"),
    ({"input": [called("a") | {"call_id": None}]}, "input[0].call_id"),
    ({"input": [gave("a", {"degrees": 1})]}, "input[0].output"),
    ({"tools": [{"type": "web_search"}]}, "tools[0]"),
    ({"tools": [TOOL, {"type": "function"}]}, "tools[1].name"),
    ({"tools": [TOOL | {"parameters": []}]}, "tools[0].parameters"),
    ({"tools": {"a": 1}}, "tools"),
    ({"tools": [TOOL], "tool_choice": {"type": "file_search"}}, "tool_choice"),
    ({"tool_choice": "required"}, "tool_choice"),
    ({"max_output_tokens": 0}, "max_output_tokens"),
    ({"text": {"format": {"type": "grammar"}}}, "text.format"),
    ({"text": {"format": {"type": "json_schema", "name": "a"}}}, "text.format"),
    ({"reasoning": {"effort": 3}}, "reasoning.effort"),
    ({"reasoning": {"effort": "huge"}}, "reasoning.effort"),
    ({"tools": [TOOL], "tool_choice": {"type": "function", "name": "f"}}, "tool_choice"),
    ({"tools": [TOOL], "tool_choice": {"type": "function"}}, "tool_choice"),
    ({"include": "reasoning.encrypted_content"}, "include"),
    ({"temperature": "hot"}, "temperature"),
)


@pytest.mark.parametrize(("wanted", "param"), REFUSED)
def test_what_cannot_be_sent_is_refused_with_its_place(wanted: Json, param: str) -> None:
    with pytest.raises(GatewayError) as refused:
        told(**wanted)
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, "invalid_request", param)


@pytest.mark.parametrize("format_", ["anthropic", "gemini"])
@pytest.mark.parametrize("arguments", ["{", "[1]"])
def test_arguments_that_are_no_object_are_refused_where_the_format_needs_one(format_: str, arguments: str) -> None:
    with pytest.raises(GatewayError) as refused:
        told(format_, input=[{"role": "user", "content": "a"}, called("a", arguments), gave("a", "b")], tools=[TOOL])
    assert refused.value.param == "input[1].arguments"


@pytest.mark.parametrize(
    ("format_", "wanted", "param"),
    [
        ("anthropic", {"text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}}}}, "text"),
        ("gemini", {"instructions": "hm", "input": [{"role": "user", "content": [UNNAMED]}]}, "input"),
    ],
)
def test_what_the_target_s_own_translation_refuses_has_the_clients_name(format_: str, wanted: Json, param: str) -> None:
    with pytest.raises(GatewayError) as refused:
        told(format_, **wanted)
    assert refused.value.param == param
    assert "messages" not in refused.value.message


def test_the_emergency_cap_holds() -> None:
    assert told(cap=16, max_output_tokens=100)["max_tokens"] == 16
    assert asking(cap=16).request()
