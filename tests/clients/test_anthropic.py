"""The `anthropic` SDK, unchanged but for base URL and key, against targets of every format."""

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from anthropic.types import ModelInfo

from tests.clients.targets import CITY, FORECAST, MESSAGES, Forecast, every_target
from tests.site.processes import KEY
from tests.stage import Stage

TOOL: Any = {"name": "get_weather", "input_schema": CITY}


@pytest.fixture
def sdk(stage: Stage) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=stage.url, api_key=KEY, max_retries=0) as client:
        yield client


@every_target
def test_plain(sdk: anthropic.Anthropic, model: str) -> None:
    message = sdk.messages.create(model=model, max_tokens=500, messages=MESSAGES, system="be brief")
    [block] = message.content
    assert block.type == "text"
    assert block.text
    assert message.stop_reason == "end_turn"
    assert message.usage.output_tokens > 0
    assert message._request_id


@every_target
def test_streamed_text_equals_the_plain_text(sdk: anthropic.Anthropic, model: str) -> None:
    plain = sdk.messages.create(model=model, max_tokens=500, messages=MESSAGES)
    with sdk.messages.stream(model=model, max_tokens=500, messages=MESSAGES) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert plain.content[0].type == "text"
    assert text == plain.content[0].text
    assert final.stop_reason == "end_turn"
    assert final.usage.output_tokens > 0


@every_target
def test_a_tool_is_called_and_its_result_goes_back(sdk: anthropic.Anthropic, model: str) -> None:
    choice: Any = {"type": "tool", "name": "get_weather"}
    with sdk.messages.stream(
        model=model, max_tokens=500, messages=MESSAGES, tools=[TOOL], tool_choice=choice
    ) as stream:
        message = stream.get_final_message()
    assert message.stop_reason == "tool_use"
    [call] = [block for block in message.content if block.type == "tool_use"]
    assert (call.name, call.input) == ("get_weather", {"city": "sample"})
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "rain"}
    history: list[Any] = [
        *MESSAGES,
        {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in message.content]},
        {"role": "user", "content": [result]},
    ]
    answer = sdk.messages.create(model=model, max_tokens=500, messages=history, tools=[TOOL])
    assert answer.content


@every_target
def test_output_has_the_structure_asked_for(sdk: anthropic.Anthropic, model: str) -> None:
    asked: Any = {"model": model, "max_tokens": 500, "messages": MESSAGES, "output_format": Forecast}
    with sdk.messages.stream(**asked) as stream:
        streamed = stream.get_final_message()
    assert sdk.messages.parse(**asked).parsed_output == streamed.parsed_output == FORECAST


@every_target
def test_tokens_are_counted(sdk: anthropic.Anthropic, model: str) -> None:
    assert sdk.messages.count_tokens(model=model, messages=MESSAGES).input_tokens > 0


def test_models_are_listed_page_by_page(sdk: anthropic.Anthropic) -> None:
    listed = [ModelInfo.model_validate(model.to_dict()) for model in sdk.models.list(limit=2)]
    names = [model.id for model in listed]
    assert len(set(names)) == len(names) > 4
    assert {"gpt-4o", "primary/gpt-4o"} <= set(names)
    assert sdk.models.retrieve("primary/gpt-4o") == next(model for model in listed if model.id == "primary/gpt-4o")
    assert [model.id for model in sdk.models.list(limit=2, before_id=names[3])] == [*names[1:3], names[0]]
    with pytest.raises(anthropic.NotFoundError, match="does not exist"):
        sdk.models.retrieve("none")
    with pytest.raises(anthropic.BadRequestError, match="after_id"):
        sdk.models.list(after_id="none")


def test_a_chain_answers_although_its_first_provider_fails(stage: Stage, sdk: anthropic.Anthropic) -> None:
    stage.control("primary-one", mode="error", times=1)
    raw = sdk.messages.with_raw_response.create(model="gpt-4o", max_tokens=500, messages=MESSAGES)
    assert raw.headers["x-omniroute-provider"] == "backup"


def test_errors_are_the_sdks_own_classes(sdk: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.NotFoundError) as missing:
        sdk.messages.create(model="no-such-model", max_tokens=500, messages=MESSAGES)
    assert isinstance(missing.value.body, dict)
    assert missing.value.body["error"]["type"] == "not_found_error"
    with pytest.raises(anthropic.BadRequestError, match="at least one message"):
        sdk.messages.create(model="gpt-4o", max_tokens=500, messages=[])
