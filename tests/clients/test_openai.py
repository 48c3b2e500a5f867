"""The `openai` SDK, unchanged but for base URL and key, against targets of every format."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.clients.targets import CITY, FORECAST, MESSAGES, Forecast, every_target
from tests.site.processes import KEY
from tests.stage import Stage

TOOL: Any = {"type": "function", "function": {"name": "get_weather", "parameters": CITY}}
FORCED: Any = {"type": "function", "function": {"name": "get_weather"}}


@pytest.fixture
def sdk(stage: Stage) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{stage.url}/v1", api_key=KEY, max_retries=0) as client:
        yield client


@every_target
def test_plain(sdk: openai.OpenAI, model: str) -> None:
    answer = sdk.chat.completions.create(
        model=model, messages=[{"role": "developer", "content": "be brief"}, *MESSAGES]
    )
    assert answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.completion_tokens > 0
    assert answer._request_id


@every_target
def test_streamed_text_equals_the_plain_text(sdk: openai.OpenAI, model: str) -> None:
    plain = sdk.chat.completions.create(model=model, messages=MESSAGES)
    chunks = list(sdk.chat.completions.create(model=model, messages=MESSAGES, stream=True))
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert text == plain.choices[0].message.content
    assert all(chunk.usage is None for chunk in chunks)


@every_target
def test_streamed_usage_comes_when_asked_for(sdk: openai.OpenAI, model: str) -> None:
    stream = sdk.chat.completions.create(
        model=model, messages=MESSAGES, stream=True, stream_options={"include_usage": True}
    )
    *_, last = stream
    assert last.usage is not None
    assert last.usage.completion_tokens > 0


@every_target
def test_a_tool_is_called_and_its_result_goes_back(sdk: openai.OpenAI, model: str) -> None:
    asked: Any = {"model": model, "messages": MESSAGES, "tools": [TOOL], "tool_choice": FORCED}
    answer = sdk.chat.completions.create(**asked)
    with sdk.chat.completions.stream(**asked) as stream:
        final = stream.get_final_completion()
    for choice in (*answer.choices, *final.choices):
        assert choice.finish_reason == "tool_calls"
        [call] = choice.message.tool_calls or ()
        assert (call.function.name, call.function.arguments) == ("get_weather", '{"city":"sample"}')
    called: Any = final.choices[0].message
    result = {"role": "tool", "tool_call_id": called.tool_calls[0].id, "content": "rain"}
    answer = sdk.chat.completions.create(model=model, messages=[*MESSAGES, called, result], tools=[TOOL])
    assert answer.choices[0].message.content


@every_target
def test_output_has_the_structure_asked_for(sdk: openai.OpenAI, model: str) -> None:
    asked: Any = {"model": model, "messages": MESSAGES, "response_format": Forecast}
    with sdk.chat.completions.stream(**asked) as stream:
        streamed = stream.get_final_completion()
    for answer in (sdk.chat.completions.parse(**asked), streamed):
        assert answer.choices[0].message.parsed == FORECAST


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


EMBEDDERS = ["primary/text-embedding-3-small", "azure/text-embedding-3-small", "google/gemini-embedding-001"]


@pytest.mark.parametrize("model", EMBEDDERS)
def test_embeddings(sdk: openai.OpenAI, model: str) -> None:
    answer = sdk.embeddings.create(model=model, input=["a", "b b"], dimensions=16)  # the SDK asks for base64
    assert [len(row.embedding) for row in answer.data] == [16, 16]
    assert [row.index for row in answer.data] == [0, 1]
    assert answer.data[0].embedding != answer.data[1].embedding
    assert answer.usage.prompt_tokens == 3
    numbers = sdk.embeddings.create(model=model, input="a", dimensions=16, encoding_format="float")
    assert numbers.data[0].embedding == pytest.approx(answer.data[0].embedding)


def test_embeddings_are_refused_where_there_are_none(sdk: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="has no embeddings"):
        sdk.embeddings.create(model="claude/claude-sonnet-4-5", input="a")
    with pytest.raises(openai.BadRequestError, match="no tokens") as refused:
        sdk.embeddings.create(model="google/gemini-embedding-001", input=[[1, 2], [3]])
    assert refused.value.param == "input[0]"
