"""`langchain-openai`, unchanged but for base URL and key, against targets of every format."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from tests.clients.targets import FORECAST, QUESTION, Forecast, every_target, get_weather
from tests.site.processes import KEY
from tests.stage import Stage

Chat = Callable[..., ChatOpenAI]

# it dumps a completion whose `parsed` it has filled in itself
pytestmark = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")


@pytest.fixture
def chat(stage: Stage) -> Chat:
    return partial(ChatOpenAI, base_url=f"{stage.url}/v1", api_key=KEY, max_retries=0)


@every_target
def test_streamed_text_and_usage_equal_the_plain_ones(chat: Chat, model: str) -> None:
    plain = chat(model=model).invoke(QUESTION)
    streamed = sum(chat(model=model, stream_usage=True).stream(QUESTION), AIMessageChunk(""))
    assert plain.text
    assert streamed.text == plain.text
    assert plain.usage_metadata is not None
    assert streamed.usage_metadata is not None
    assert streamed.usage_metadata["output_tokens"] == plain.usage_metadata["output_tokens"] > 0


@every_target
@pytest.mark.parametrize("options", [{}, {"strict": True, "parallel_tool_calls": False}], ids=["loose", "strict"])
def test_a_bound_tool_is_called_and_its_result_goes_back(chat: Chat, model: str, options: dict[str, Any]) -> None:
    weather = tool(get_weather)
    bound = chat(model=model).bind_tools([weather], **options)
    history: list[BaseMessage] = [HumanMessage(QUESTION)]
    called = bound.invoke(history)
    assert [(call["name"], call["args"]) for call in called.tool_calls] == [
        ("get_weather", {"city": "sample", "days": 7})
    ]
    history += [called, weather.invoke(called.tool_calls[0])]
    answer = bound.invoke(history)
    assert answer.text
    assert not answer.tool_calls


@every_target
@pytest.mark.parametrize("choice", ["any", "get_weather"])
def test_a_bound_tool_can_be_forced(chat: Chat, model: str, choice: str) -> None:
    bound = chat(model=model).bind_tools([get_weather], tool_choice=choice)
    streamed = sum(bound.stream("Hello"), AIMessageChunk(""))
    assert [call["name"] for call in streamed.tool_calls] == ["get_weather"]


@every_target
@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
@pytest.mark.parametrize("strict", [None, True])
def test_output_has_the_structure_asked_for(chat: Chat, model: str, method: Any, strict: bool | None) -> None:
    structured = chat(model=model).with_structured_output(Forecast, method=method, strict=strict)
    assert structured.invoke("Hello") == FORECAST
    *_, last = structured.stream("Hello")
    assert last == FORECAST
