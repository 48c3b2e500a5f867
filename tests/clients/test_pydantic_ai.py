"""`pydantic-ai` as OpenAI's client of both APIs and as Anthropic's, unchanged but for base URL and key, against every format."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import openai
import pytest
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.clients.targets import FORECAST, QUESTION, Forecast, every_target, get_weather
from tests.site.processes import KEY
from tests.stage import Stage

# Of a model whose name it does not know it assumes that it has no native structured output
NATIVE: Any = {"supports_json_schema_output": True}

OPENAIS: Any = {"openai": OpenAIChatModel, "responses": OpenAIResponsesModel}

every_client = pytest.mark.parametrize("client", ["openai", "responses", "anthropic"])
every_output = pytest.mark.parametrize("output", [ToolOutput, NativeOutput])


@asynccontextmanager
async def model_of(client: str, stage: Stage, model: str) -> AsyncIterator[Model]:
    if client in OPENAIS:
        async with openai.AsyncOpenAI(base_url=f"{stage.url}/v1", api_key=KEY, max_retries=0) as sdk:
            yield OPENAIS[client](model, provider=OpenAIProvider(openai_client=sdk), profile=NATIVE)
    else:
        async with anthropic.AsyncAnthropic(base_url=stage.url, api_key=KEY, max_retries=0) as messages:
            yield AnthropicModel(model, provider=AnthropicProvider(anthropic_client=messages), profile=NATIVE)


@every_target
@every_client
async def test_streamed_text_and_usage_equal_the_plain_ones(stage: Stage, client: str, model: str) -> None:
    async with model_of(client, stage, model) as known:
        agent = Agent(known, instructions="Be brief")
        plain = await agent.run("Hello")
        async with agent.run_stream("Hello") as stream:
            text = "".join([piece async for piece in stream.stream_text(delta=True)])
            usage = stream.usage
    assert text == plain.output
    assert usage.output_tokens == plain.usage.output_tokens > 0


@every_target
@every_client
@every_output
async def test_tools_are_called_before_the_structured_output(
    stage: Stage, client: str, model: str, output: Any
) -> None:
    async with model_of(client, stage, model) as known:
        agent = Agent(known, tools=[get_weather], output_type=output(Forecast))
        run = await agent.run(QUESTION)
    calls = [part for message in run.all_messages() for part in message.parts if isinstance(part, ToolCallPart)]
    assert (calls[0].tool_name, calls[0].args_as_dict()) == ("get_weather", {"city": "sample", "days": 7})
    assert run.output == FORECAST


@every_target
@every_client
@every_output
async def test_structured_output_streams(stage: Stage, client: str, model: str, output: Any) -> None:
    async with (
        model_of(client, stage, model) as known,
        Agent(known, output_type=output(Forecast)).run_stream("Hello") as stream,
    ):
        assert await stream.get_output() == FORECAST
