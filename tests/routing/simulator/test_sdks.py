"""The providers' own SDKs take what the simulator sends for the real thing."""

import anthropic
import openai
import pytest
from google import genai
from google.genai import errors as genai_errors
from google.genai import types as genai_types

from routing.simulator import Simulator
from tests.routing.simulator.test_formats import ANTHROPIC_TOOLS, GEMINI_TOOLS, OPENAI_TOOLS

HELLO = [{"role": "user", "content": "hello"}]
TOOLS = [{"role": "user", "content": "use two tools"}]


def openai_client(simulator: Simulator) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{simulator.url}/openai/v1", api_key="sk-test", max_retries=0)


def anthropic_client(simulator: Simulator) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(base_url=f"{simulator.url}/anthropic", api_key="sk-test", max_retries=0)


def genai_client(simulator: Simulator) -> genai.Client:
    return genai.Client(api_key="test", http_options=genai_types.HttpOptions(base_url=f"{simulator.url}/gemini"))


async def test_openai_chats():
    async with Simulator() as simulator, openai_client(simulator) as client:
        plain = await client.chat.completions.create(model="m", messages=HELLO, n=2)
        options = {"include_usage": True}
        stream = await client.chat.completions.create(model="m", messages=HELLO, stream=True, stream_options=options)
        chunks = [chunk async for chunk in stream]
        listed = [model.id async for model in client.models.list()]
        embedded = await client.embeddings.create(model="e", input="hello")
    assert plain.choices[1].message.content == "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert chunks[-1].usage is not None
    assert "gpt-4o" in listed
    assert len(embedded.data[0].embedding) == 64


async def test_openai_calls_tools():
    async with Simulator() as simulator, openai_client(simulator) as client:
        # strict, or the SDK streams none
        tools = [{**tool, "function": {"strict": True, **tool["function"]}} for tool in OPENAI_TOOLS]
        plain = await client.chat.completions.create(model="m", messages=TOOLS, tools=tools)
        async with client.chat.completions.stream(model="m", messages=TOOLS, tools=tools) as stream:
            final = await stream.get_final_completion()
    for message in (plain.choices[0].message, final.choices[0].message):
        assert [call.function.name for call in message.tool_calls or ()] == ["weather", "time"]


async def test_openai_responds():
    async with Simulator() as simulator, openai_client(simulator) as client:
        plain = await client.responses.create(model="m", input="hello", max_output_tokens=5)
        async with client.responses.stream(model="m", input="hello") as stream:
            final = await stream.get_final_response()
        tools = [{"type": "function", "strict": False, **tool["function"]} for tool in OPENAI_TOOLS]
        called = await client.responses.create(model="m", input=TOOLS, tools=tools)
        async with client.responses.stream(model="m", input=TOOLS, tools=tools) as calling:
            streamed = await calling.get_final_response()
    assert (plain.status, plain.output_text) == ("incomplete", "You asked: hello This answer")
    assert final.output_text.startswith(plain.output_text)
    assert [item.name for item in called.output] == [item.name for item in streamed.output] == ["weather", "time"]


async def test_openai_responds_with_a_thought_and_to_a_message_in_progress():
    async with Simulator() as simulator, openai_client(simulator) as client:
        async with client.responses.stream(model="gpt-5", input="hello") as stream:
            whole = await stream.get_final_response()
        beginning = " ".join(whole.output_text.split()[:40])
        part = {"type": "output_text", "text": beginning, "annotations": []}
        begun = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": [part]}
        rest = await client.responses.create(model="m", input=[{"role": "user", "content": "hello"}, begun])
    assert [item.type for item in whole.output] == ["reasoning", "message"]
    assert beginning + rest.output_text == whole.output_text


@pytest.mark.parametrize(
    ("mode", "raised"),
    [
        ("rate_limit", openai.RateLimitError),
        ("error", openai.InternalServerError),
        ("auth", openai.AuthenticationError),
        ("model_missing", openai.NotFoundError),
        ("context_length", openai.BadRequestError),
        ("reset", openai.APIConnectionError),
    ],
)
async def test_openai_raises_its_own_errors(mode, raised):
    async with Simulator() as simulator, openai_client(simulator) as client:
        simulator.behave("openai", mode=mode)
        with pytest.raises(raised):
            await client.chat.completions.create(model="m", messages=HELLO)


async def test_openai_speaks_to_azure():
    async with (
        Simulator() as simulator,
        openai.AsyncAzureOpenAI(azure_endpoint=f"{simulator.url}/azure", api_key="k", api_version="1") as client,
    ):
        plain = await client.chat.completions.create(model="d", messages=HELLO)
        stream = await client.chat.completions.create(model="d", messages=HELLO, stream=True)
        text = "".join([c.choices[0].delta.content or "" async for c in stream if c.choices])
    assert text == plain.choices[0].message.content


async def test_anthropic_chats():
    async with Simulator() as simulator, anthropic_client(simulator) as client:
        plain = await client.messages.create(model="m", max_tokens=100, messages=HELLO)
        async with client.messages.stream(model="m", max_tokens=100, messages=HELLO) as stream:
            final = await stream.get_final_message()
        counted = await client.messages.count_tokens(model="m", messages=HELLO)
        listed = [model.id async for model in await client.models.list()]
    assert plain.content[0].text == final.content[0].text
    assert (final.stop_reason, final.usage.output_tokens) == ("end_turn", 60)
    assert counted.input_tokens == 1
    assert "claude-sonnet-4" in listed


async def test_anthropic_calls_tools():
    async with Simulator() as simulator, anthropic_client(simulator) as client:
        asked = {"model": "m", "max_tokens": 100, "messages": TOOLS, "tools": ANTHROPIC_TOOLS}
        plain = await client.messages.create(**asked)
        async with client.messages.stream(**asked) as stream:
            final = await stream.get_final_message()
    for message in (plain, final):
        assert [(block.name, block.input) for block in message.content] == [
            ("weather", {"city": "sample", "days": 7}),
            ("time", {"zone": "UTC"}),
        ]


@pytest.mark.parametrize(
    ("mode", "raised"),
    [
        ("rate_limit", anthropic.RateLimitError),
        ("overloaded", anthropic.APIStatusError),
        ("quota", anthropic.BadRequestError),
        ("auth", anthropic.AuthenticationError),
    ],
)
async def test_anthropic_raises_its_own_errors(mode, raised):
    async with Simulator() as simulator, anthropic_client(simulator) as client:
        simulator.behave("anthropic", mode=mode)
        with pytest.raises(raised):
            await client.messages.create(model="m", max_tokens=9, messages=HELLO)


@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")  # google-genai's own doing
async def test_gemini_chats_and_calls_tools():
    async with Simulator() as simulator:
        client = genai_client(simulator)
        plain = await client.aio.models.generate_content(model="m", contents="hello")
        stream = await client.aio.models.generate_content_stream(model="m", contents="hello")
        streamed = [chunk async for chunk in stream]
        config = genai_types.GenerateContentConfig.model_validate({"tools": GEMINI_TOOLS})
        called = await client.aio.models.generate_content(model="m", contents="use two tools", config=config)
        counted = await client.aio.models.count_tokens(model="m", contents="hello there")
        await client.aio.aclose()
        client.close()
    assert plain.text == "".join(chunk.text or "" for chunk in streamed)
    assert streamed[-1].candidates[0].finish_reason == "STOP"
    assert [call.name for call in called.function_calls or ()] == ["weather", "time"]
    assert counted.total_tokens == 2


@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")  # google-genai's own doing
async def test_gemini_raises_its_own_errors():
    async with Simulator() as simulator:
        client = genai_client(simulator)
        simulator.behave("gemini", mode="quota")
        with pytest.raises(genai_errors.ClientError) as raised:
            await client.aio.models.generate_content(model="m", contents="hello")
        await client.aio.aclose()
        client.close()
    assert (raised.value.code, raised.value.status) == (429, "RESOURCE_EXHAUSTED")
