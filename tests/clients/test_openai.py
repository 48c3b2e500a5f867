"""The `openai` SDK, unchanged but for base URL and key, against a gateway process and simulated providers."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.site.processes import KEY
from tests.stage import Stage

MESSAGES: list[Any] = [{"role": "user", "content": "Say something with a tool if you can"}]
TOOL: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


@pytest.fixture
def sdk(stage: Stage) -> Iterator[openai.OpenAI]:
    stage.calm()
    with openai.OpenAI(base_url=f"{stage.url}/v1", api_key=KEY, max_retries=0) as client:
        yield client


def test_plain(sdk: openai.OpenAI) -> None:
    answer = sdk.chat.completions.create(model="gpt-4o", messages=MESSAGES)
    assert answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.completion_tokens > 0


def test_streamed_text_equals_the_plain_text(sdk: openai.OpenAI) -> None:
    plain = sdk.chat.completions.create(model="gpt-4o", messages=MESSAGES)
    stream = sdk.chat.completions.create(model="gpt-4o", messages=MESSAGES, stream=True)
    chunks = list(stream)
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert text == plain.choices[0].message.content
    assert all(chunk.usage is None for chunk in chunks)


def test_streamed_usage_comes_when_asked_for(sdk: openai.OpenAI) -> None:
    stream = sdk.chat.completions.create(
        model="gpt-4o", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
    )
    *_, last = stream
    assert last.usage is not None
    assert last.usage.completion_tokens > 0


def test_tools_plain_and_streamed(sdk: openai.OpenAI) -> None:
    choice: Any = {"type": "function", "function": {"name": "get_weather"}}
    answer = sdk.chat.completions.create(model="gpt-4o", messages=MESSAGES, tools=[TOOL], tool_choice=choice)
    assert answer.choices[0].message.tool_calls is not None
    [call] = answer.choices[0].message.tool_calls
    assert call.type == "function"
    assert call.function.name == "get_weather"
    with sdk.chat.completions.stream(model="gpt-4o", messages=MESSAGES, tools=[TOOL], tool_choice=choice) as stream:
        final = stream.get_final_completion()
    assert final.choices[0].message.tool_calls is not None
    assert final.choices[0].message.tool_calls[0].function.arguments == call.function.arguments
    assert final.choices[0].finish_reason == "tool_calls"


def test_a_tool_result_goes_back(sdk: openai.OpenAI) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    messages = [
        *MESSAGES,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
    ]
    answer = sdk.chat.completions.create(model="gpt-4o", messages=messages, tools=[TOOL])
    assert answer.choices[0].message.content


def test_two_choices_plain_and_streamed(sdk: openai.OpenAI) -> None:
    answer = sdk.chat.completions.create(model="gpt-4o", messages=MESSAGES, n=2)
    assert [choice.index for choice in answer.choices] == [0, 1]
    finished = {
        choice.index
        for chunk in sdk.chat.completions.create(model="gpt-4o", messages=MESSAGES, n=2, stream=True)
        for choice in chunk.choices
        if choice.finish_reason
    }
    assert finished == {0, 1}


def test_the_list_of_models(sdk: openai.OpenAI) -> None:
    assert {"gpt-4o", "primary/gpt-4o"} <= {model.id for model in sdk.models.list()}
    assert sdk.models.retrieve("gpt-4o").id == "gpt-4o"


def test_the_raw_headers_say_who_answered(stage: Stage, sdk: openai.OpenAI) -> None:
    stage.control("primary-one", mode="error", times=1)
    raw = sdk.chat.completions.with_raw_response.create(model="gpt-4o", messages=MESSAGES)
    assert raw.headers["x-omniroute-provider"] == "backup"
    assert raw.headers["x-omniroute-fallback"] == "true"


def test_errors_are_the_sdks_own_classes(stage: Stage, sdk: openai.OpenAI) -> None:
    def ask(**options: Any) -> None:
        sdk.chat.completions.create(**({"model": "gpt-4o", "messages": MESSAGES} | options))

    with pytest.raises(openai.NotFoundError) as missing:
        ask(model="no-such-model")
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as malformed:
        ask(messages=[])
    assert malformed.value.param == "messages"
    with openai.OpenAI(base_url=f"{stage.url}/v1", api_key="sk-wrong", max_retries=0) as stranger:  # noqa: SIM117
        with pytest.raises(openai.AuthenticationError):
            stranger.chat.completions.create(model="gpt-4o", messages=MESSAGES)
    for key in ("primary-one", "backup-one"):
        stage.control(key, mode="rate_limit", retry_after=1)
    with pytest.raises(openai.RateLimitError) as limited:
        ask()
    assert limited.value.response.headers["retry-after"] == "1"


def test_an_exhausted_chain_is_an_internal_server_error(stage: Stage, sdk: openai.OpenAI) -> None:
    for key in ("pair-one", "pair-two", "backup-one"):
        stage.control(key, mode="error", times=1)
    with pytest.raises(openai.InternalServerError) as failed:
        sdk.chat.completions.create(model="paired", messages=MESSAGES)
    assert failed.value.code in ("upstream_error", "no_target_available")


def test_a_stream_that_breaks_raises_in_the_middle(stage: Stage, sdk: openai.OpenAI) -> None:
    stage.control("backup-one", mode="cut", after=3, times=1)
    stream = sdk.chat.completions.create(model="backup/gpt-4o", messages=MESSAGES, stream=True)
    assert next(stream).choices
    with pytest.raises(openai.APIError, match="broke after its first content"):
        list(stream)


@pytest.mark.parametrize("model", ["azure/gpt-4o", "claude/claude-sonnet-4-5", "google/gemini-2.5-pro"])
def test_targets_of_other_formats_answer_plain_streamed_and_with_tools(sdk: openai.OpenAI, model: str) -> None:
    plain = sdk.chat.completions.create(model=model, messages=MESSAGES)
    stream = sdk.chat.completions.create(model=model, messages=MESSAGES, stream=True)
    text = "".join(choice.delta.content or "" for chunk in stream for choice in chunk.choices)
    assert text == plain.choices[0].message.content
    choice: Any = {"type": "function", "function": {"name": "get_weather"}}
    with sdk.chat.completions.stream(model=model, messages=MESSAGES, tools=[TOOL], tool_choice=choice) as called:
        final = called.get_final_completion()
    assert final.choices[0].finish_reason == "tool_calls"
    assert final.choices[0].message.tool_calls is not None
    assert final.choices[0].message.tool_calls[0].function.name == "get_weather"


@pytest.mark.parametrize("model", ["primary/text-embedding-3-small", "azure/text-embedding-3-small"])
def test_embeddings(sdk: openai.OpenAI, model: str) -> None:
    answer = sdk.embeddings.create(model=model, input=["a", "b"])
    assert [len(row.embedding) > 0 for row in answer.data] == [True, True]
