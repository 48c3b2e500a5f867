"""Requests of Anthropic clients, each with what providers of OpenAI's and Gemini's format are to be sent."""

from typing import Any, NamedTuple

from tests.routing.adapters.conversations import PNG, Json, call, said, text

PICTURE: Json = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
LINKED: Json = {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}}
PDF: Json = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"}}
NOTES: Json = {
    "type": "document",
    "title": "Notes",
    "source": {"type": "text", "media_type": "text/plain", "data": "n"},
}
DATA_URL = f"data:image/png;base64,{PNG}"
CHAT_PICTURE: Json = {"type": "image_url", "image_url": {"url": DATA_URL}}
GEMINI_PICTURE: Json = {"inlineData": {"mimeType": "image/png", "data": PNG}}
MARK: Json = {"cache_control": {"type": "ephemeral"}}

TOOL: Json = {
    "name": "get_weather",
    "description": "The weather.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
CHAT_TOOL: Json = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": TOOL["input_schema"], "description": "The weather."},
}


def user(*blocks: Any) -> Json:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> Json:
    return {"role": "assistant", "content": list(blocks)}


def use(call_id: str, city: str) -> Json:
    return {"type": "tool_use", "id": call_id, "name": "get_weather", "input": {"city": city}}


def result(call_id: str, content: Any, **members: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **members}


def chat_call(call_id: str, city: str) -> Json:
    return call(call_id, "get_weather", f'{{"city":"{city}"}}')


def answer_to(call_id: str, content: Any) -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def called(call_id: str, city: str) -> Json:
    return {"functionCall": {"id": call_id, "name": "get_weather", "args": {"city": city}}}


CALLS = assistant(text("Let me look."), use("toolu_1", "Oslo"), use("toolu_2", "Rome"))
CHAT_CALLS: Json = {
    "role": "assistant",
    "content": "Let me look.",
    "tool_calls": [chat_call("toolu_1", "Oslo"), chat_call("toolu_2", "Rome")],
}


class Conversation(NamedTuple):
    """`asked`: members of the request; `chat` and `contents`: the messages and contents that are sent for them."""

    asked: Json
    chat: list[Json]
    contents: list[Json]
    system: str = ""


HI: Json = {"role": "user", "content": "hi"}

CONVERSATIONS = {
    "one question": Conversation({"messages": [HI]}, [HI], [said("hi")]),
    "a system prompt": Conversation(
        {"system": "be brief", "messages": [HI]},
        [{"role": "system", "content": "be brief"}, HI],
        [said("hi")],
        "be brief",
    ),
    "a system prompt of blocks, one of them marked for the cache": Conversation(
        {"system": [text("be brief"), {**text("and kind"), **MARK}], "messages": [HI]},
        [{"role": "system", "content": "be brief\n\nand kind"}, HI],
        [said("hi")],
        "be brief\n\nand kind",
    ),
    "turns": Conversation(
        {"messages": [HI, {"role": "assistant", "content": "hello"}, user(text("a"), text("b"))]},
        [HI, {"role": "assistant", "content": "hello"}, {"role": "user", "content": [text("a"), text("b")]}],
        [said("hi"), {"role": "model", "parts": [{"text": "hello"}]}, said("a", "b")],
    ),
    "pictures and documents": Conversation(
        {"messages": [user(text("look"), {**PICTURE, **MARK}, LINKED, PDF, NOTES)]},
        [
            {
                "role": "user",
                "content": [
                    text("look"),
                    CHAT_PICTURE,
                    {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}},
                    {
                        "type": "file",
                        "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,JVBE"},
                    },
                    text("Notes\n\nn"),
                ],
            }
        ],
        [
            {
                "role": "user",
                "parts": [
                    {"text": "look"},
                    GEMINI_PICTURE,
                    {"fileData": {"mimeType": "image/png", "fileUri": "https://x.test/a.png"}},
                    {"inlineData": {"mimeType": "application/pdf", "data": "JVBE"}},
                    {"text": "Notes\n\nn"},
                ],
            }
        ],
    ),
    "parallel calls, their results and a word of the user's": Conversation(
        {
            "messages": [
                HI,
                CALLS,
                user(result("toolu_1", "rain"), result("toolu_2", [text("sun"), text("wind")]), text("and now?")),
            ],
            "tools": [TOOL],
        },
        [
            HI,
            CHAT_CALLS,
            answer_to("toolu_1", "rain"),
            answer_to("toolu_2", "sun\nwind"),
            {"role": "user", "content": "and now?"},
        ],
        [
            said("hi"),
            {
                "role": "model",
                "parts": [{"text": "Let me look."}, called("toolu_1", "Oslo"), called("toolu_2", "Rome")],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "toolu_1", "name": "get_weather", "response": {"output": "rain"}}},
                    {"functionResponse": {"id": "toolu_2", "name": "get_weather", "response": {"output": "sun\nwind"}}},
                ],
            },
            said("and now?"),
        ],
    ),
    "a tool that failed": Conversation(
        {"messages": [HI, assistant(use("toolu_1", "Oslo")), user(result("toolu_1", "no such city", is_error=True))]},
        [
            HI,
            {"role": "assistant", "content": None, "tool_calls": [chat_call("toolu_1", "Oslo")]},
            answer_to("toolu_1", "Error: no such city"),
        ],
        [
            said("hi"),
            {"role": "model", "parts": [called("toolu_1", "Oslo")]},
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "id": "toolu_1",
                            "name": "get_weather",
                            "response": {"output": "Error: no such city"},
                        }
                    }
                ],
            },
        ],
    ),
    "a tool that gave a picture": Conversation(
        {"messages": [HI, assistant(use("toolu_1", "Oslo")), user(result("toolu_1", [text("map"), PICTURE]))]},
        [
            HI,
            {"role": "assistant", "content": None, "tool_calls": [chat_call("toolu_1", "Oslo")]},
            answer_to("toolu_1", "map"),
            {"role": "user", "content": [text("The tool call toolu_1 gave this:"), CHAT_PICTURE]},
        ],
        [],
    ),
    "a tool that gave nothing": Conversation(
        {
            "messages": [
                HI,
                assistant(use("toolu_1", "Oslo")),
                user({"type": "tool_result", "tool_use_id": "toolu_1"}),
            ]
        },
        [
            HI,
            {"role": "assistant", "content": None, "tool_calls": [chat_call("toolu_1", "Oslo")]},
            answer_to("toolu_1", ""),
        ],
        [],
    ),
    "thoughts of earlier turns stay behind": Conversation(
        {
            "messages": [
                HI,
                assistant(
                    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                    {"type": "redacted_thinking", "data": "eHg="},
                    text("hello"),
                ),
                HI,
            ]
        },
        [HI, {"role": "assistant", "content": "hello"}, HI],
        [said("hi"), {"role": "model", "parts": [{"text": "hello"}]}, said("hi")],
    ),
    "the beginning of the answer": Conversation(
        {"messages": [HI, {"role": "assistant", "content": "{"}]},
        [HI, {"role": "assistant", "content": "{"}],
        [said("hi"), {"role": "model", "parts": [{"text": "{"}]}],
    ),
}

SCHEMA: Json = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
FORMAT: Json = {"format": {"type": "json_schema", "schema": SCHEMA}}

# what is asked beside the messages: what of the chat completions request it becomes
MEMBERS: list[tuple[Json, Json]] = [
    ({"stop_sequences": ["END", "STOP"]}, {"stop": ["END", "STOP"]}),
    ({"stop_sequences": []}, {}),
    ({"temperature": 0.5, "top_p": 0.9}, {"temperature": 0.5, "top_p": 0.9}),
    ({"top_k": 5}, {}),
    ({"metadata": {"user_id": "eve"}}, {"user": "eve"}),
    ({"tools": [TOOL]}, {"tools": [CHAT_TOOL]}),
    ({"tools": [TOOL], "tool_choice": {"type": "auto"}}, {"tools": [CHAT_TOOL], "tool_choice": "auto"}),
    ({"tools": [TOOL], "tool_choice": {"type": "any"}}, {"tools": [CHAT_TOOL], "tool_choice": "required"}),
    ({"tools": [TOOL], "tool_choice": {"type": "none"}}, {"tools": [CHAT_TOOL], "tool_choice": "none"}),
    (
        {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "get_weather", "disable_parallel_tool_use": True}},
        {
            "tools": [CHAT_TOOL],
            "tool_choice": {"type": "function", "function": {"name": "get_weather"}},
            "parallel_tool_calls": False,
        },
    ),
    (
        {"tools": [TOOL], "tool_choice": {"type": "auto", "disable_parallel_tool_use": False}},
        {"tools": [CHAT_TOOL], "tool_choice": "auto"},
    ),
    (
        {"output_config": FORMAT},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}},
    ),
    ({"stream": True}, {"stream": True, "stream_options": {"include_usage": True}}),
]

# thinking and effort: what a model that reasons is told
EFFORTS: list[tuple[Json, str | None]] = [
    ({}, None),
    ({"thinking": {"type": "disabled"}}, None),
    ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "low"),
    ({"thinking": {"type": "enabled", "budget_tokens": 4096}}, "medium"),
    ({"thinking": {"type": "enabled", "budget_tokens": 20000}}, "high"),
    ({"thinking": {"type": "adaptive"}}, "medium"),
    ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}}, "high"),
    ({"output_config": {"effort": "low"}}, "low"),
]
