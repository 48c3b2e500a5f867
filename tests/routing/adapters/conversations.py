"""Requests as clients send them, each with what Anthropic and Gemini are to be sent: the goldens of both translations."""

from collections.abc import Sequence
from typing import Any, NamedTuple

Json = dict[str, Any]

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CLOCK = {"type": "function", "function": {"name": "clock"}}

PNG = "iVBORw0KGgo="


def call(call_id: str, name: str, arguments: str, **more: Any) -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def text(value: str) -> Json:
    return {"type": "text", "text": value}


class Golden(NamedTuple):
    messages: list[Json]
    anthropic: list[Json]
    gemini: list[Json]
    system: Sequence[str] = ()


def user(*texts: str) -> Json:
    return {"role": "user", "content": [text(value) for value in texts]}


def said(*texts: str) -> Json:
    return {"role": "user", "parts": [{"text": value} for value in texts]}


GOLDENS = {
    "one question": Golden([{"role": "user", "content": "hi"}], [user("hi")], [said("hi")]),
    "system and developer prompts are lifted out, late ones too": Golden(
        [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "a"},
            {"role": "user", "content": [text("b")]},
            {"role": "developer", "content": [text("really"), text("brief")]},
        ],
        [user("a", "b")],
        [said("a", "b")],
        ["be brief", "really", "brief"],
    ),
    "a lone system prompt is the question": Golden(
        [{"role": "system", "content": "say hi"}], [user("say hi")], [said("say hi")]
    ),
    "turns alternate": Golden(
        [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b", "reasoning_content": "thought"},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "c"}]},
            {"role": "user", "content": "d", "name": "eve"},
        ],
        [user("a"), {"role": "assistant", "content": [text("b"), text("c")]}, user("d")],
        [said("a"), {"role": "model", "parts": [{"text": "b"}, {"text": "c"}]}, said("d")],
    ),
    "nothing empty is sent": Golden(
        [
            {"role": "system", "content": ""},
            {"role": "user", "content": [text(""), text("a"), text(" \n")]},
            {"role": "assistant", "content": None},
            {"role": "assistant", "content": ""},
            {"role": "user", "content": "b"},
        ],
        [user("a", "b")],
        [said("a", "b")],
    ),
    "a conversation that the assistant begins": Golden(
        [{"role": "assistant", "content": "welcome"}, {"role": "user", "content": "hi"}],
        [
            user("(The conversation begins with the assistant.)"),
            {"role": "assistant", "content": [text("welcome")]},
            user("hi"),
        ],
        [
            said("(The conversation begins with the assistant.)"),
            {"role": "model", "parts": [{"text": "welcome"}]},
            said("hi"),
        ],
    ),
    "the assistant's last words do not end in white space": Golden(
        [{"role": "user", "content": "count"}, {"role": "assistant", "content": "one, two, "}],
        [user("count"), {"role": "assistant", "content": [text("one, two,")]}],
        [said("count"), {"role": "model", "parts": [{"text": "one, two, "}]}],
    ),
    "pictures and files": Golden(
        [
            {
                "role": "user",
                "content": [
                    text("look"),
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
                    {"type": "image_url", "image_url": {"url": f"DATA:image/JPG;base64,{PNG}"}},
                    {"type": "image_url", "image_url": {"url": "https://x.test/a.webp?size=1"}},
                    {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"}},
                ],
            }
        ],
        [
            {
                "role": "user",
                "content": [
                    text("look"),
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": PNG}},
                    {"type": "image", "source": {"type": "url", "url": "https://x.test/a.webp?size=1"}},
                    {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"}},
                ],
            }
        ],
        [
            {
                "role": "user",
                "parts": [
                    {"text": "look"},
                    {"inlineData": {"mimeType": "image/png", "data": PNG}},
                    {"inlineData": {"mimeType": "image/jpeg", "data": PNG}},
                    {"fileData": {"mimeType": "image/webp", "fileUri": "https://x.test/a.webp?size=1"}},
                    {"inlineData": {"mimeType": "application/pdf", "data": "JVBE"}},
                ],
            }
        ],
    ),
    "parallel calls and their results": Golden(
        [
            {"role": "user", "content": "weather?"},
            {
                "role": "assistant",
                "content": "Let me look.",
                "tool_calls": [
                    call("call_1", "get_weather", '{"city":"Oslo"}'),
                    call("call.2", "get_weather", '{"city":"Rome"}'),
                    call("call_3", "clock", ""),
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "12 degrees"},
            {"role": "tool", "tool_call_id": "call.2", "content": [text('{"degrees": 20}')]},
            {"role": "tool", "tool_call_id": "call_3", "content": ""},
            {"role": "user", "content": "and?"},
        ],
        [
            user("weather?"),
            {
                "role": "assistant",
                "content": [
                    text("Let me look."),
                    {"type": "tool_use", "id": "call_1", "name": "get_weather", "input": {"city": "Oslo"}},
                    {
                        "type": "tool_use",
                        "id": "toolu_bf9fb854b2b5a00628282cdd",
                        "name": "get_weather",
                        "input": {"city": "Rome"},
                    },
                    {"type": "tool_use", "id": "call_3", "name": "clock", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "call_1", "content": "12 degrees"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_bf9fb854b2b5a00628282cdd",
                        "content": '{"degrees": 20}',
                    },
                    {"type": "tool_result", "tool_use_id": "call_3"},
                    text("and?"),
                ],
            },
        ],
        [
            said("weather?"),
            {
                "role": "model",
                "parts": [
                    {"text": "Let me look."},
                    {"functionCall": {"id": "call_1", "name": "get_weather", "args": {"city": "Oslo"}}},
                    {"functionCall": {"id": "call.2", "name": "get_weather", "args": {"city": "Rome"}}},
                    {"functionCall": {"id": "call_3", "name": "clock", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "id": "call_1",
                            "name": "get_weather",
                            "response": {"output": "12 degrees"},
                        }
                    },
                    {"functionResponse": {"id": "call.2", "name": "get_weather", "response": {"degrees": 20}}},
                    {"functionResponse": {"id": "call_3", "name": "clock", "response": {"output": ""}}},
                ],
            },
            said("and?"),
        ],
    ),
    "a result may be a picture, and comes before what the user says": Golden(
        [
            {"role": "user", "content": "draw"},
            {"role": "assistant", "tool_calls": [call("c1", "draw", "{}"), call("c2", "draw", "{}")]},
            {
                "role": "tool",
                "tool_call_id": "c1",
                "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}],
            },
            {"role": "user", "content": "hurry"},
            {"role": "tool", "tool_call_id": "c2", "content": "done"},
        ],
        [
            user("draw"),
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "c1", "name": "draw", "input": {}},
                    {"type": "tool_use", "id": "c2", "name": "draw", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": [
                            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
                        ],
                    },
                    {"type": "tool_result", "tool_use_id": "c2", "content": "done"},
                    text("hurry"),
                ],
            },
        ],
        [
            said("draw"),
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"id": "c1", "name": "draw", "args": {}}},
                    {"functionCall": {"id": "c2", "name": "draw", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "c1", "name": "draw", "response": {"output": ""}}},
                    {"inlineData": {"mimeType": "image/png", "data": PNG}},
                    {"functionResponse": {"id": "c2", "name": "draw", "response": {"output": "done"}}},
                ],
            },
            said("hurry"),
        ],
    ),
    "an id that a provider used again": Golden(
        [
            {"role": "user", "content": "a"},
            {"role": "assistant", "tool_calls": [call("call_0", "clock", "{}")]},
            {"role": "tool", "tool_call_id": "call_0", "content": "1"},
            {"role": "assistant", "tool_calls": [call("call_0", "clock", "{}")]},
            {"role": "tool", "tool_call_id": "call_0", "content": "2"},
        ],
        [
            user("a"),
            {"role": "assistant", "content": [{"type": "tool_use", "id": "call_0", "name": "clock", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_0", "content": "1"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "call_0_2", "name": "clock", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_0_2", "content": "2"}]},
        ],
        [
            said("a"),
            {"role": "model", "parts": [{"functionCall": {"id": "call_0", "name": "clock", "args": {}}}]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"id": "call_0", "name": "clock", "response": {"output": "1"}}}],
            },
            {"role": "model", "parts": [{"functionCall": {"id": "call_0_2", "name": "clock", "args": {}}}]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"id": "call_0_2", "name": "clock", "response": {"output": "2"}}}],
            },
        ],
    ),
}
