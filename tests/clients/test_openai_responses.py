"""`responses` of the `openai` SDK, unchanged but for base URL and key: passed through (azure) and translated (the others)."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from tests.clients.targets import QUESTION, TARGETS, every_target
from tests.site.processes import KEY
from tests.stage import Stage

TOOL: Any = {
    "type": "function",
    "name": "get_weather",
    "strict": False,
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
FORCED: Any = {"type": "function", "name": "get_weather"}


class Weather(BaseModel):
    city: str
    degrees: float


@pytest.fixture
def sdk(stage: Stage) -> Iterator[openai.OpenAI]:
    stage.calm()
    with openai.OpenAI(base_url=f"{stage.url}/v1", api_key=KEY, max_retries=0) as client:
        yield client


@every_target
def test_plain(sdk: openai.OpenAI, model: str) -> None:
    response = sdk.responses.create(model=model, input=QUESTION, instructions="be brief")
    assert response.output_text
    assert (response.status, response.instructions) == ("completed", "be brief")
    assert response.usage is not None
    assert response.usage.output_tokens > 0


@every_target
def test_streamed_text_equals_the_plain_text(sdk: openai.OpenAI, model: str) -> None:
    plain = sdk.responses.create(model=model, input=QUESTION)
    raw = list(sdk.responses.create(model=model, input=QUESTION, stream=True))
    assert [event.type for event in raw[:2]] == ["response.created", "response.in_progress"]
    assert [event.sequence_number for event in raw] == list(range(len(raw)))
    assert "".join(event.delta for event in raw if event.type == "response.output_text.delta") == plain.output_text
    with sdk.responses.stream(model=model, input=QUESTION) as stream:
        for _ in stream:
            pass
        final = stream.get_final_response()
    assert (final.status, final.output_text) == ("completed", plain.output_text)
    assert final.usage is not None
    assert final.usage.output_tokens > 0


@every_target
def test_a_tool_is_called_and_its_result_goes_back(sdk: openai.OpenAI, model: str) -> None:
    with sdk.responses.stream(model=model, input=QUESTION, tools=[TOOL], tool_choice=FORCED) as stream:
        for _ in stream:
            pass
        response = stream.get_final_response()
    [call] = [item for item in response.output if item.type == "function_call"]
    assert (call.name, call.arguments[:1]) == ("get_weather", "{")
    history: list[Any] = [
        {"role": "user", "content": QUESTION},
        *(item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output),
        {"type": "function_call_output", "call_id": call.call_id, "output": "rain"},
    ]
    assert sdk.responses.create(model=model, input=history, tools=[TOOL]).output_text


@every_target
def test_structured_output_is_parsed(sdk: openai.OpenAI, model: str) -> None:
    response = sdk.responses.parse(model=model, input="The weather?", text_format=Weather)
    assert isinstance(response.output_parsed, Weather)
    with sdk.responses.stream(model=model, input="The weather?", text_format=Weather) as stream:
        for _ in stream:
            pass
        assert stream.get_final_response().output_parsed == response.output_parsed


@every_target
def test_an_answer_that_was_cut_is_incomplete(sdk: openai.OpenAI, model: str) -> None:
    response = sdk.responses.create(model=model, input=QUESTION, max_output_tokens=2)
    assert response.status == "incomplete"
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"
    *_, last = sdk.responses.create(model=model, input=QUESTION, max_output_tokens=2, stream=True)
    assert last.type == "response.incomplete"


def test_a_conversation_moves_from_provider_to_provider(sdk: openai.OpenAI) -> None:
    history: list[Any] = [{"role": "user", "content": QUESTION}]
    for model in [*TARGETS, *TARGETS]:
        response = sdk.responses.create(model=model, input=history, tools=[TOOL], tool_choice=FORCED)
        history += [item.model_dump(exclude_none=True) for item in response.output]
        calls = [item for item in response.output if item.type == "function_call"]
        assert calls
        history += [{"type": "function_call_output", "call_id": call.call_id, "output": "rain"} for call in calls]
    assert len(history) == 1 + 2 * len(TARGETS) * 2


def test_a_chain_answers_although_its_first_provider_fails(stage: Stage, sdk: openai.OpenAI) -> None:
    stage.control("primary-one", mode="error", times=1)
    raw = sdk.responses.with_raw_response.create(model="gpt-4o", input=QUESTION)
    assert raw.headers["x-omniroute-provider"] == "backup"
    assert raw.parse().output_text


def test_errors_are_the_sdks_own_classes(stage: Stage, sdk: openai.OpenAI) -> None:
    def ask(**options: Any) -> None:
        sdk.responses.create(**({"model": "primary/gpt-4o", "input": QUESTION} | options))

    with pytest.raises(openai.NotFoundError) as missing:
        ask(model="no-such-model")
    assert missing.value.code == "model_not_found"
    for options, param in (
        ({"input": []}, "input"),
        ({"tools": [{"type": "web_search"}]}, "tools[0]"),
        ({"previous_response_id": "resp_0"}, "previous_response_id"),
    ):
        with pytest.raises(openai.BadRequestError) as refused:
            ask(**options)
        assert refused.value.param == param
    stage.control("primary-one", mode="rate_limit", retry_after=1)
    with pytest.raises(openai.RateLimitError) as limited:
        ask()
    assert limited.value.response.headers["retry-after"] == "1"


def test_a_stream_that_breaks_raises_in_the_middle(stage: Stage, sdk: openai.OpenAI) -> None:
    stage.control("backup-one", mode="cut", after=3, times=1)
    stream = sdk.responses.create(model="backup/gpt-4o", input=QUESTION, stream=True)
    assert next(stream).type == "response.created"
    with pytest.raises(openai.APIError, match="broke after its first content") as broken:
        list(stream)
    assert broken.value.code == "stream_interrupted"
    assert isinstance(broken.value.body, dict)
    assert broken.value.body["omniroute"]["targets"][0]["provider"] == "backup"
