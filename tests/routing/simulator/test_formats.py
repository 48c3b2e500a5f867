"""What a good answer says, in each format."""

import base64
import struct

import pytest

from routing.simulator import Simulator
from tests.routing.simulator.client import KEYS, ask, exchange, request, send

WEATHER = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
TIME = {"type": "object", "properties": {"zone": {"enum": ["UTC", "CET"]}}}
OPENAI_TOOLS = [
    {"type": "function", "function": {"name": "weather", "parameters": WEATHER}},
    {"type": "function", "function": {"name": "time", "parameters": TIME}},
]
ANTHROPIC_TOOLS = [{"name": "weather", "input_schema": WEATHER}, {"name": "time", "input_schema": TIME}]
GEMINI_TOOLS = [
    {"functionDeclarations": [{"name": "weather", "parameters": WEATHER}, {"name": "time", "parameters": TIME}]}
]


def said(prompt: str) -> list[dict[str, object]]:
    return [{"role": "user", "content": prompt}]


async def test_the_same_question_gets_the_same_words_whole_streamed_and_in_every_format():
    async with Simulator() as simulator:
        openai = (await ask(simulator, "openai")).json["choices"][0]["message"]["content"]
        streamed = (await ask(simulator, "openai", stream=True)).events
        anthropic = (await ask(simulator, "anthropic")).json["content"][0]["text"]
        gemini = (await ask(simulator, "gemini")).json["candidates"][0]["content"]["parts"][0]["text"]
    assert openai == "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in streamed)
    assert openai == anthropic == gemini
    assert len(openai.split()) == 60
    assert openai.startswith("You asked: hello ")


async def test_an_answer_begun_by_the_client_is_continued():
    async with Simulator() as simulator:
        simulator.behave("openai", words=6)
        simulator.behave("anthropic", words=6)
        whole = (await ask(simulator, "openai")).json["choices"][0]["message"]["content"]
        beginning = {"role": "assistant", "content": "You asked: hello"}
        messages = [*said("hello"), beginning]
        rest = (await ask(simulator, "openai", messages=messages)).json["choices"][0]["message"]["content"]
        also = (await ask(simulator, "anthropic", messages=messages)).json["content"][0]["text"]
        beginning["content"] += " "
        refused = await ask(simulator, "anthropic", messages=messages)
    assert whole == "You asked: hello" + rest
    assert rest == also
    assert refused.status == 400
    assert "trailing whitespace" in refused.json["error"]["message"]


async def test_the_answer_can_be_dictated():
    async with Simulator() as simulator:
        simulator.behave("openai", text="one  two\nthree")
        streamed = (await ask(simulator, "openai", stream=True)).events
        plain = (await ask(simulator, "openai")).json
    assert plain["choices"][0]["message"]["content"] == "one  two\nthree"
    assert [c["choices"][0]["delta"]["content"] for c in streamed[1:-1]] == ["one", "  two\nthree"]


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
async def test_openai_stops_at_the_token_limit(limit):
    async with Simulator() as simulator:
        document = (await ask(simulator, "openai", **{limit: 5})).json
        events = (await ask(simulator, "openai", stream=True, **{limit: 5})).events
    assert "length" == document["choices"][0]["finish_reason"] == events[-1]["choices"][0]["finish_reason"]
    assert 5 == document["usage"]["completion_tokens"] == len(document["choices"][0]["message"]["content"].split())


async def test_anthropic_and_gemini_stop_at_the_token_limit():
    async with Simulator() as simulator:
        anthropic = (await ask(simulator, "anthropic", max_tokens=5)).json
        gemini = (await ask(simulator, "gemini", generationConfig={"maxOutputTokens": 5})).json
    assert anthropic["stop_reason"] == "max_tokens"
    assert gemini["candidates"][0]["finishReason"] == "MAX_TOKENS"
    assert 5 == anthropic["usage"]["output_tokens"] == gemini["usageMetadata"]["candidatesTokenCount"]


async def test_openai_sends_a_usage_chunk_only_when_asked():
    async with Simulator() as simulator:
        bare = (await ask(simulator, "openai", stream=True)).events
        asked = (await ask(simulator, "openai", stream=True, stream_options={"include_usage": True})).events
    assert all("usage" not in event for event in bare)
    assert asked[-1]["choices"] == []
    assert {"prompt_tokens": 1, "completion_tokens": 60, "total_tokens": 61}.items() <= asked[-1]["usage"].items()
    assert all(event["usage"] is None for event in asked[:-1])


async def test_openai_answers_as_many_choices_as_asked():
    async with Simulator() as simulator:
        plain = (await ask(simulator, "openai", n=3)).json
        events = (await ask(simulator, "openai", n=3, stream=True)).events
    assert [choice["index"] for choice in plain["choices"]] == [0, 1, 2]
    finished = {c["choices"][0]["index"] for c in events if c["choices"][0]["finish_reason"] == "stop"}
    assert {0, 1, 2} == finished
    assert plain["usage"]["completion_tokens"] == 180


@pytest.mark.parametrize(
    ("prompt", "members", "called"),
    [
        ("please use a tool", {}, ["weather"]),
        ("use two tools", {}, ["weather", "time"]),
        ("hello", {}, []),
        ("hello", {"tool_choice": "required"}, ["weather"]),
        ("hello", {"tool_choice": {"type": "function", "function": {"name": "time"}}}, ["time"]),
        ("use a tool", {"tool_choice": "none"}, []),
    ],
)
async def test_openai_calls_the_tools_it_is_told_to(prompt, members, called):
    async with Simulator() as simulator:
        asked = {"messages": said(prompt), "tools": OPENAI_TOOLS, **members}
        plain = (await ask(simulator, "openai", **asked)).json["choices"][0]
        events = (await ask(simulator, "openai", stream=True, **asked)).events
    calls = plain["message"].get("tool_calls", [])
    assert called == [call["function"]["name"] for call in calls]
    assert ("tool_calls" if called else "stop") == plain["finish_reason"]
    arguments: dict[int, str] = {}
    for event in events:
        for piece in event["choices"][0]["delta"].get("tool_calls", []):
            arguments[piece["index"]] = arguments.get(piece["index"], "") + piece["function"]["arguments"]
    assert [call["function"]["arguments"] for call in calls] == list(arguments.values())
    assert all(argument in ('{"city":"sample","days":7}', '{"zone":"UTC"}') for argument in arguments.values())


async def test_an_agent_that_forces_each_turn_comes_to_the_tool_it_has_not_called():
    call = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    openai = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": "sunny"}]
    used = {"type": "tool_use", "id": "c", "name": "weather", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "sunny"}
    anthropic = [{"role": "assistant", "content": [used]}, {"role": "user", "content": [result]}]
    answer = {"functionResponse": {"name": "weather", "response": {}}}
    gemini = [
        {"role": "user", "parts": [{"text": "hello"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {}}}]},
        {"role": "user", "parts": [answer]},
    ]
    config = {"functionCallingConfig": {"mode": "ANY"}}
    async with Simulator() as simulator:
        turn = {"messages": [*said("hello"), *openai], "tools": OPENAI_TOOLS, "tool_choice": "required"}
        calls = (await ask(simulator, "openai", **turn)).json["choices"][0]["message"]["tool_calls"]
        turn = {"messages": [*said("hello"), *anthropic], "tools": ANTHROPIC_TOOLS, "tool_choice": {"type": "any"}}
        blocks = (await ask(simulator, "anthropic", **turn)).json["content"]
        turn = {"contents": gemini, "tools": GEMINI_TOOLS, "toolConfig": config}
        parts = (await ask(simulator, "gemini", **turn)).json["candidates"][0]["content"]["parts"]
    assert "time" == calls[0]["function"]["name"] == blocks[0]["name"] == parts[0]["functionCall"]["name"]


async def test_a_tools_result_is_answered_in_words():
    async with Simulator() as simulator:
        messages = [*said("use a tool"), {"role": "tool", "tool_call_id": "c", "content": "sunny"}]
        openai = (await ask(simulator, "openai", messages=messages, tools=OPENAI_TOOLS)).json
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "sunny"}]}
        anthropic = (
            await ask(simulator, "anthropic", messages=[*said("use a tool"), result], tools=ANTHROPIC_TOOLS)
        ).json
    assert openai["choices"][0]["finish_reason"] == "stop"
    assert anthropic["stop_reason"] == "end_turn"


@pytest.mark.parametrize(
    ("prompt", "choice", "called"),
    [
        ("use two tools", None, ["weather", "time"]),
        ("hello", {"type": "any"}, ["weather"]),
        ("hello", {"type": "tool", "name": "time"}, ["time"]),
        ("use a tool", {"type": "none"}, []),
        ("hello", {"type": "auto"}, []),
    ],
)
async def test_anthropic_calls_the_tools_it_is_told_to(prompt, choice, called):
    async with Simulator() as simulator:
        asked = {"messages": said(prompt), "tools": ANTHROPIC_TOOLS, "tool_choice": choice}
        plain = (await ask(simulator, "anthropic", **asked)).json
        events = (await ask(simulator, "anthropic", stream=True, **asked)).events
    uses = [block for block in plain["content"] if block["type"] == "tool_use"]
    assert called == [block["name"] for block in uses]
    assert ("tool_use" if called else "end_turn") == plain["stop_reason"]
    started = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    assert called == [block["name"] for block in started if block["type"] == "tool_use"]


@pytest.mark.parametrize(
    ("prompt", "calling", "called"),
    [
        ("use two tools", {}, ["weather", "time"]),
        ("hello", {"mode": "ANY", "allowedFunctionNames": ["time"]}, ["time"]),
        ("use a tool", {"mode": "NONE"}, []),
    ],
)
async def test_gemini_calls_the_tools_it_is_told_to(prompt, calling, called):
    contents = [{"role": "user", "parts": [{"text": prompt}]}]
    asked = {"contents": contents, "tools": GEMINI_TOOLS, "toolConfig": {"functionCallingConfig": calling}}
    async with Simulator() as simulator:
        plain = (await ask(simulator, "gemini", **asked)).json
        events = (await ask(simulator, "gemini", stream=True, **asked)).events
    for parts in (
        plain["candidates"][0]["content"]["parts"],
        [part for event in events for part in event["candidates"][0]["content"]["parts"]],
    ):
        assert called == [part["functionCall"]["name"] for part in parts if "functionCall" in part]


async def test_json_is_answered_when_json_is_wanted():
    async with Simulator() as simulator:
        schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": WEATHER}}
        openai = (await ask(simulator, "openai", response_format=schema)).json
        config = {
            "responseMimeType": "application/json",
            "responseSchema": {"type": "ARRAY", "items": {"type": "NUMBER"}},
        }
        gemini = (await ask(simulator, "gemini", generationConfig=config)).json
        loose = (await ask(simulator, "openai", response_format={"type": "json_object"})).json
        output = {"format": {"type": "json_schema", "schema": WEATHER}}
        claude = (await ask(simulator, "anthropic", output_config=output)).json
    assert '{"city":"sample","days":7}' == openai["choices"][0]["message"]["content"] == claude["content"][0]["text"]
    assert gemini["candidates"][0]["content"]["parts"][0]["text"] == "[7.5]"
    assert loose["choices"][0]["message"]["content"] == '{"answer":"hello","simulated":true}'


async def test_anthropic_streams_its_events_in_their_order():
    async with Simulator() as simulator:
        simulator.behave("anthropic", words=2)
        seen = await ask(simulator, "anthropic", stream=True)
    names = [event["type"] for event in seen.events]
    assert names == [
        "message_start", "content_block_start", "ping", "content_block_delta", "content_block_delta",
        "content_block_stop", "message_delta", "message_stop",
    ]  # fmt: skip
    assert names == [line[7:].decode() for line in seen.body.split(b"\n") if line.startswith(b"event: ")]
    assert {"input_tokens": 1, "output_tokens": 1}.items() <= seen.events[0]["message"]["usage"].items()
    assert seen.events[-2]["usage"]["output_tokens"] == 2


async def test_gemini_streams_an_array_unless_asked_for_events():
    async with Simulator() as simulator:
        simulator.behave("gemini", words=2)
        body = {"contents": [{"parts": [{"text": "hello"}]}]}
        seen = await send(simulator, "POST", "/gemini/v1beta/models/g:streamGenerateContent", body, **KEYS["gemini"])
    assert len(seen.json) == 3
    assert seen.json[-1]["candidates"][0]["finishReason"] == "STOP"


async def test_azure_opens_a_stream_with_filter_results_and_needs_an_api_version():
    async with Simulator() as simulator:
        events = (await ask(simulator, "azure", stream=True)).events
        body = {"messages": said("hello")}
        without = await send(simulator, "POST", "/azure/openai/deployments/d/chat/completions", body, **KEYS["azure"])
        newer = await send(
            simulator, "POST", "/azure/openai/v1/chat/completions", {"model": "d", **body}, **KEYS["azure"]
        )
        path = "/azure/openai/deployments/d/embeddings?api-version=1"
        embedded = await send(simulator, "POST", path, {"input": "a"}, **KEYS["azure"])
    assert (events[0]["choices"], list(events[0])[-1]) == ([], "prompt_filter_results")
    assert (without.status, newer.status, embedded.status) == (404, 200, 200)
    assert embedded.json["model"] == "d"


async def test_embeddings_depend_on_the_text_alone_and_come_coded_as_asked():
    async with Simulator() as simulator:
        path, asked = "/openai/v1/embeddings", {"model": "e", "input": ["a", "b", "a"], "dimensions": 8}
        plain = (await send(simulator, "POST", path, asked, **KEYS["openai"])).json["data"]
        coded = (await send(simulator, "POST", path, asked | {"encoding_format": "base64"}, **KEYS["openai"])).json[
            "data"
        ]
    vectors = [row["embedding"] for row in plain]
    assert vectors[0] == vectors[2] != vectors[1]
    assert vectors[0] == pytest.approx(struct.unpack("<8f", base64.b64decode(coded[0]["embedding"])))


async def test_gemini_embeds_and_counts():
    async with Simulator() as simulator:
        base = "/gemini/v1beta/models/g"
        content = {"content": {"parts": [{"text": "two words"}]}}
        one = await send(simulator, "POST", f"{base}:embedContent", content, **KEYS["gemini"])
        batch, batched = f"{base}:batchEmbedContents", {**content, "model": "models/g"}
        many = await send(simulator, "POST", batch, {"requests": [batched] * 2}, **KEYS["gemini"])
        unnamed = await send(simulator, "POST", batch, {"requests": [batched, content]}, **KEYS["gemini"])
        contents = {"contents": [content["content"]]}
        counted = await send(simulator, "POST", f"{base}:countTokens", contents, **KEYS["gemini"])
    assert one.json["embedding"] == many.json["embeddings"][1]
    assert many.json["usageMetadata"]["promptTokenCount"] == 4
    assert (unnamed.status, "requests[1].model" in unnamed.json["error"]["message"]) == (400, True)
    assert counted.json["totalTokens"] == 2


@pytest.mark.parametrize(
    ("wire", "path"),
    [("openai", "/openai/v1/models"), ("anthropic", "/anthropic/v1/models"), ("gemini", "/gemini/v1beta/models")],
)
async def test_models_are_listed(wire, path):
    async with Simulator() as simulator:
        listed = await send(simulator, "GET", path, **KEYS[wire])
        one = await send(simulator, "GET", f"{path}/any-name", **KEYS[wire])
    assert (listed.status, one.status) == (200, 200)
    assert "any-name" in one.body.decode()


@pytest.mark.parametrize(
    ("wire", "path", "document", "status"),
    [
        ("openai", "/openai/v1/chat/completions", {"messages": said("x")}, 400),
        ("openai", "/openai/v1/chat/completions", {"model": "m", "messages": []}, 400),
        ("openai", "/openai/v1/chat/completions", [], 400),
        ("openai", "/openai/v1/nothing", {"model": "m"}, 404),
        ("openai", "/openai/v1/responses", {"model": "m"}, 400),
        ("openai", "/openai/v1/embeddings", {"model": "m"}, 400),
        ("anthropic", "/anthropic/v1/messages", {"model": "m", "messages": said("x")}, 400),
        ("anthropic", "/anthropic/v1/messages", {"model": "m", "max_tokens": 1, "messages": [{"role": "system"}]}, 400),
        ("anthropic", "/anthropic/v1/nothing", {}, 404),
        ("gemini", "/gemini/v1beta/models/m:generateContent", {}, 400),
        ("gemini", "/gemini/v1beta/models/m:generateContent", {"contents": [{"role": "assistant"}]}, 400),
        ("gemini", "/gemini/v1beta/models/m:sing", {"contents": [{}]}, 404),
    ],
)
async def test_a_wrong_request_is_refused_in_the_formats_words(wire, path, document, status):
    async with Simulator() as simulator:
        seen = await send(simulator, "POST", path, document, **KEYS[wire])
        (entry,) = simulator.log.entries
    assert status == seen.status == entry.status
    assert isinstance(seen.json["error"]["message"], str)


@pytest.mark.parametrize(("wire", "status"), [("openai", 401), ("azure", 401), ("anthropic", 401), ("gemini", 403)])
async def test_a_request_without_a_key_is_refused(monkeypatch, wire, status):
    monkeypatch.setitem(KEYS, wire, {"anthropic-version": "2023-06-01"})
    async with Simulator() as simulator:
        assert status == (await ask(simulator, wire)).status


async def test_a_lone_surrogate_in_a_prompt_harms_nobody():
    async with Simulator() as simulator:
        body = b'{"model": "m", "messages": [{"role": "user", "content": "\\ud800"}]}'
        seen = await exchange(simulator, request("POST", "/openai/v1/chat/completions", body, KEYS["openai"]))
    assert seen.status in (200, 400)
