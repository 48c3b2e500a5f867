"""One conversation with two parallel tool calls and their results moves from provider to provider between turns.

Faults at the simulated providers force the moves. What each provider was sent is taken from the simulator's log and held
against the types of that provider's SDK (and pairs.py); every answer is held against the types of the client's.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import anthropic
import openai
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import TypeAdapter

from tests.clients.pairs import PAIRS
from tests.routing.adapters.sdk_types import CHECKS
from tests.site.processes import KEY
from tests.stage import Stage

Json = dict[str, Any]
Ask = Callable[[list[Any]], Json]

QUESTION: Json = {"role": "user", "content": "Please use two tools: weather and time"}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = ("get_weather", "get_time")
MODEL = "every-format"

_ANTHROPIC_EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
_RAW_EVENTS = ("message_start", "content_block_start", "content_block_delta", "message_delta")  # as they came


class Account(NamedTuple):
    """A simulated account, as Stage names it."""

    key: str
    format_: str


OPENAI, ANTHROPIC, GEMINI = IN_ORDER = (  # of the chain
    Account("primary-one", "openai"),
    Account("claude-one", "anthropic"),
    Account("google-one", "gemini"),
)
JOURNEY = (OPENAI, ANTHROPIC, GEMINI, OPENAI, GEMINI, ANTHROPIC, OPENAI)  # from each to each of the others


def lead_to(stage: Stage, wanted: Account) -> None:
    """Break the next answer of every account that comes before this one."""
    for account in IN_ORDER[: IN_ORDER.index(wanted)]:
        stage.control(account.key, format_=account.format_, mode="error", times=1)


def check_sent(stage: Stage, account: Account, *, turns: int) -> None:
    """The last call was this account's: a request of its format, with the calls of so many turns and their results."""
    last = stage.calls(account.key, format_=account.format_)[-1]
    assert last["status"] == 200
    CHECKS[account.format_](last["body"])
    calls, results = PAIRS[account.format_](last["body"])
    assert calls == results
    assert len(calls) == len(TOOLS) * turns


def chat_sdk_asks(stage: Stage, messages: list[Any], *, stream: bool) -> Json:
    """The answer's message, every piece of it validated."""
    tools: Any = [{"type": "function", "function": {"name": name, "parameters": CITY}} for name in TOOLS]
    with openai.OpenAI(base_url=f"{stage.url}/v1", api_key=KEY, max_retries=0) as sdk:
        if not stream:
            answer = sdk.chat.completions.create(model=MODEL, messages=messages, tools=tools)
            return _told(ChatCompletion.model_validate(answer.to_dict()))
        with sdk.chat.completions.stream(model=MODEL, messages=messages, tools=tools) as events:
            for chunk in (event.chunk for event in events if event.type == "chunk"):
                ChatCompletionChunk.model_validate(chunk.to_dict())
            return _told(events.get_final_completion())


def _told(answer: ChatCompletion) -> Json:
    members = {"role": True, "content": True, "tool_calls": {"__all__": {"id": True, "type": True, "function": True}}}
    return answer.choices[0].message.model_dump(include=members, exclude_none=True)


def messages_sdk_asks(stage: Stage, messages: list[Any], *, stream: bool) -> Json:
    """The same for the other SDK."""
    tools: Any = [{"name": name, "input_schema": CITY} for name in TOOLS]
    asked: Any = {"model": MODEL, "max_tokens": 500, "messages": messages, "tools": tools}
    with anthropic.Anthropic(base_url=stage.url, api_key=KEY, max_retries=0) as sdk:
        if not stream:
            return _said(sdk.messages.create(**asked))
        with sdk.messages.stream(**asked) as events:
            for event in (event for event in events if event.type in _RAW_EVENTS):
                _ANTHROPIC_EVENT.validate_python(event.to_dict())
            return _said(events.get_final_message())


def _said(answer: Message) -> Json:
    content = Message.model_validate(answer.to_dict()).content
    return {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in content]}


def chat_results(message: Json) -> list[Json]:
    """What the tools gave, as chat completions carry it."""
    ids = [call["id"] for call in message["tool_calls"]]
    return [{"role": "tool", "tool_call_id": call_id, "content": f"rain at {call_id}"} for call_id in ids]


def messages_results(message: Json) -> list[Json]:
    """The same in a message."""
    ids = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call_id, "content": f"rain at {call_id}"} for call_id in ids]
    return [{"role": "user", "content": results}]


CLIENTS: Any = {"openai": (chat_sdk_asks, chat_results), "anthropic": (messages_sdk_asks, messages_results)}


@pytest.mark.parametrize("stream", [False, True], ids=["unary", "stream"])
@pytest.mark.parametrize("client", CLIENTS)
def test_calls_made_at_one_provider_are_continued_at_every_other(stage: Stage, client: str, *, stream: bool) -> None:
    ask, results = CLIENTS[client]
    stage.calm()
    messages: list[Json] = []
    for turn, (here, there) in enumerate(pairwise(JOURNEY)):
        messages.append(QUESTION)
        lead_to(stage, here)
        called = ask(stage, messages, stream=stream)
        check_sent(stage, here, turns=turn)
        messages += [called, *results(called)]
        lead_to(stage, there)
        answered = ask(stage, messages, stream=stream)
        check_sent(stage, there, turns=turn + 1)
        assert answered["content"]
        messages.append(answered)
