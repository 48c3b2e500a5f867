"""A response that OpenAI or Azure streams as their own goes on where it broke, and goes on with one that did."""

from typing import Any

import pytest

from tests.routing.adapters.responses import read_events

from .dying import (
    DIES,
    MESSAGE,
    PATHS,
    TEXT,
    THOUGHT,
    Json,
    asked_by,
    claude,
    is_blamed,
    native,
    openai,
    prefills,
    response_events,
    response_text,
    text_part,
)
from .harness import Answer, Break, Gateway, Reply, typed_event
from .harness import streaming as stream_of

SAME = native("Hell", "o world, ", "how are you?")
CALL: Json = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "f",
    "arguments": '{"x":1}',
    "status": "completed",
}
SEARCH: Json = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
SUMMARY: Json = {**THOUGHT, "summary": [{"type": "summary_text", "text": "hm"}]}


async def ask(gateway: Gateway, **members: Any) -> Answer:
    return await gateway.ask(asked_by("responses", **members), path=PATHS["responses"])


def dies(*more: bytes, events: int = 6, before: tuple[Json, ...] = ()) -> Reply:
    """After so many events: two of the response, two of the message's beginning, `Hello ` and `wor`."""
    return stream_of(*response_events("Hello ", "wor", before=before)[:events], *more, Break())


def event(kind: str, **members: Any) -> bytes:
    return typed_event(f"response.{kind}", sequence_number=6, **members)


def is_interrupted(answer: Answer) -> bool:
    *before, last = answer.events
    numbers = [one["sequence_number"] for one in answer.events]
    return (
        (last["type"], last["code"], numbers) == ("error", "stream_interrupted", list(range(len(numbers))))
        and before[-1]["type"] != "response.completed"
        and answer.complete
    )


async def test_the_client_sees_one_response(gateway: Gateway) -> None:
    gateway.provider("a", dies(), format="azure")
    gateway.provider("b", SAME, format="azure")
    answer = await ask(gateway)
    assert response_text(answer) == TEXT
    assert answer.body.startswith(b"".join(response_events("Hello ", "wor")[:6]))
    last = answer.events[-1]["response"]
    head = {name: last[name] for name in ("id", "created_at", "model", "store")}
    assert head == {"id": "resp_1", "created_at": 7, "model": "gpt-5", "store": False}
    assert "completed_at" not in last
    assert last["output"][0] | MESSAGE == last["output"][0]
    assert (gateway.breaker("a").failure_count, is_blamed(gateway, "b")) == (1, False)
    assert gateway.records[0].outcome == "rescued"


@pytest.mark.parametrize("events", range(5, 10))
async def test_it_goes_on_wherever_it_broke(gateway: Gateway, events: int) -> None:
    """In the text, after it, after its part, after its message."""
    gateway.provider("a", dies(events=events), format="azure")
    gateway.provider("b", native("Hello wor"), format="azure")
    assert response_text(await ask(gateway)) == "Hello wor"


@pytest.mark.parametrize("events", [7, 8, 9])
async def test_what_follows_a_text_that_was_complete_is_another_message(gateway: Gateway, events: int) -> None:
    gateway.provider("a", dies(events=events), format="azure")
    gateway.provider("b", SAME, format="azure")
    last = read_events((await ask(gateway)).body)[-1]["response"]
    assert [item["content"][0]["text"] for item in last["output"]] == ["Hello wor", "ld, how are you?"]
    assert last["output"][0]["id"] == "msg_1"


@pytest.mark.parametrize("second", ["azure", "anthropic"])
async def test_a_thought_without_words_stays_where_it_was(gateway: Gateway, second: str) -> None:
    gateway.provider("a", dies(events=8, before=(THOUGHT,)), format="azure")
    text = ("Hello world, ", "how are you?")
    gateway.provider("b", native(*text) if second == "azure" else claude(*text), format=second)
    thought, message = read_events((await ask(gateway)).body)[-1]["response"]["output"]
    assert (thought, message["id"], message["content"][0]["text"]) == (THOUGHT, "msg_1", TEXT)


async def test_a_thought_that_would_be_looked_up_is_not_sent_there_again(gateway: Gateway) -> None:
    stored = {name: value for name, value in THOUGHT.items() if name != "encrypted_content"}
    gateway.provider("a", dies(events=8, before=(stored,)), SAME, format="azure")
    gateway.provider("b", SAME, format="azure")
    output = (await ask(gateway)).events[-1]["response"]["output"]
    assert [item["type"] for item in output] == ["reasoning", "message"]
    await ask(gateway, input=[*output, {"role": "user", "content": "go on"}])
    sent = gateway.providers["a"].bodies()[1]["input"]
    assert [item.get("id") for item in sent] == ["msg_1", None]


async def test_a_thought_that_was_not_done_is_ended(gateway: Gateway) -> None:
    """More than is held back came before it, so that the client has the beginning."""
    head = {"id": "resp_1", "instructions": "x" * 300_000}
    begun = (event("created", response=head), event("output_item.added", output_index=0, item=THOUGHT))
    gateway.provider("a", stream_of(*begun, Break()), format="azure")
    gateway.provider("b", SAME, format="azure")
    events = (await ask(gateway)).events
    assert [one["type"] for one in events[1:4]] == [
        f"response.output_item.{what}" for what in ("added", "done", "added")
    ]
    assert [one["item"]["id"] for one in events[1:3]] == ["rs_1", "rs_1"]
    thought, message = events[-1]["response"]["output"]
    assert ("encrypted_content" in thought, message["content"][0]["text"]) == (False, TEXT)


AT: Json = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
ANOTHER: Json = {"type": "message", "id": "msg_2", "role": "assistant", "status": "in_progress", "content": []}


@pytest.mark.parametrize(
    "more",
    [
        event("refusal.delta", **AT, delta="no"),
        event("output_text.annotation.added", **AT, annotation={"type": "url_citation"}),
        event("output_text.delta", **AT, delta="ld", logprobs=[{"token": "ld", "logprob": 0}]),
        event("content_part.added", **AT | {"content_index": 1}, part=text_part()),
        event("output_item.added", output_index=1, item=CALL),
        event("output_text.delta", **AT),
        event("created"),
    ],
)
async def test_a_response_of_more_than_text_is_not_continued(gateway: Gateway, more: bytes) -> None:
    gateway.provider("a", dies(more), format="azure")
    gateway.provider("b", SAME, format="azure")
    assert is_interrupted(await ask(gateway))
    assert not gateway.providers["b"].calls


@pytest.mark.parametrize("before", [CALL, SEARCH, SUMMARY, {**ANOTHER, "content": [text_part("Hm.")]}])
async def test_nor_is_one_that_had_said_something_else_before(gateway: Gateway, before: Json) -> None:
    gateway.provider("a", dies(events=8, before=(before,)), format="azure")
    gateway.provider("b", SAME, format="azure")
    assert is_interrupted(await ask(gateway))
    assert not gateway.providers["b"].calls


@pytest.mark.parametrize(
    ("kind", "second"),
    [("azure", native("Something else")), ("openai", openai("Hello ")), ("anthropic", claude("Hi"))],
)
async def test_nobody_who_goes_on_is_the_error_with_the_next_number(gateway: Gateway, kind: str, second: Reply) -> None:
    gateway.provider("a", dies(), format="azure")
    gateway.provider("b", native("Hello world", ends=False), format="azure")
    gateway.provider("c", second, format=kind)
    answer = await ask(gateway)
    assert is_interrupted(answer)
    said = [one["delta"] for one in answer.events if one["type"] == "response.output_text.delta"]
    assert said == ["Hello ", "wor", "ld"]
    assert [is_blamed(gateway, slug) for slug in "abc"] == [True, True, False]


@pytest.mark.parametrize("first", ["azure", "openai"])
async def test_a_call_of_the_one_that_goes_on_is_the_clients(gateway: Gateway, first: str) -> None:
    gateway.provider("a", dies() if first == "azure" else DIES, format=first)
    *said, last = response_events("Hello world")
    call = [event(f"output_item.{what}", output_index=1, item=CALL) for what in ("added", "done")]
    gateway.provider("b", stream_of(*said, *call, last), format="azure")
    message, called = read_events((await ask(gateway)).body)[-1]["response"]["output"]
    assert message["content"][0]["text"] == "Hello world"
    assert {**called, "id": "fc_1"} == CALL


@pytest.mark.parametrize("by", ["stream", "body"])
@pytest.mark.parametrize("more", [SEARCH, {**ANOTHER, "content": [text_part("!")]}])
async def test_what_no_chat_completion_says_is_left_to_the_next_without_blame(
    gateway: Gateway, more: Json, by: str
) -> None:
    *said, last = response_events("Hello world")
    added = event("output_item.added", output_index=1, item=more)
    whole: Json = {**read_events(b"".join([*said, last]))[-1]["response"]}
    whole["output"] = [*whole["output"], more]
    gateway.provider("a", dies(), format="azure")
    gateway.provider("b", stream_of(*said, added, last) if by == "stream" else Reply(body=whole), format="azure")
    gateway.provider("c", SAME, format="azure")
    assert response_text(await ask(gateway)) == TEXT
    assert not is_blamed(gateway, "b")
    assert gateway.records[0].targets[1]["message"] == "its answer is more than text and calls of functions"


@pytest.mark.parametrize("details", [{"reason": "max_output_tokens"}, {"reason": "content_filter"}, None])
async def test_one_that_is_cut_is_told_to_be(gateway: Gateway, details: Json | None) -> None:
    *said, _ = response_events("Hello world")
    cut = event("incomplete", response={"status": "incomplete", "incomplete_details": details})
    gateway.provider("a", dies(), format="azure")
    gateway.provider("b", stream_of(*said, cut), format="azure")
    last = read_events((await ask(gateway)).body)[-1]
    assert last["type"] == "response.incomplete"
    assert last["response"]["incomplete_details"] == (details or {"reason": "max_output_tokens"})
    assert last["response"]["output"][0]["status"] == "incomplete"


@pytest.mark.parametrize("first", ["azure", "openai"])
async def test_an_unstreamed_response_is_compared_as_a_whole(gateway: Gateway, first: str) -> None:
    gateway.provider("a", dies() if first == "azure" else DIES, format=first)
    for slug, text in (("b", "Something else"), ("c", TEXT)):
        body = read_events(b"".join(response_events(text)))[-1]["response"]
        gateway.provider(slug, Reply(body=body), format="azure")
    assert response_text(await ask(gateway)) == TEXT
    assert not is_blamed(gateway, "b")


async def test_usage_is_what_all_counted(gateway: Gateway) -> None:
    gateway.provider("a", dies(), format="azure")
    gateway.provider("b", SAME, format="azure")
    assert (await ask(gateway)).events[-1]["response"]["usage"]["total_tokens"] == 7
    [record] = gateway.records
    assert (record.input_tokens, record.output_tokens, record.provider, record.attempts) == (5, 2, "b", 2)
    assert (record.targets[1]["rescue"], record.targets[1]["usage"]["output_tokens"]) == ("replay", 2)


async def test_a_request_that_only_responses_can_say_goes_to_those_who_have_them(gateway: Gateway) -> None:
    gateway.provider("a", dies(), format="azure")
    gateway.provider("b", openai(TEXT))
    gateway.provider("c", SAME, format="azure")
    assert response_text(await ask(gateway, previous_response_id="resp_0")) == TEXT
    assert not gateway.providers["b"].calls
    assert gateway.providers["c"].bodies()[0] == asked_by("responses", previous_response_id="resp_0", model="m")


BEGUN: Json = {"role": "assistant", "content": "Hello"}


@pytest.mark.parametrize(
    ("given", "earlier", "begins"),
    [
        ("ping", [{"role": "user", "content": "ping"}], True),
        ([CALL, {"type": "function_call_output"}], [CALL, {"type": "function_call_output"}], True),
        ([BEGUN], [], False),
        ([], [], False),
    ],
)
async def test_a_model_that_goes_on_gets_the_beginning_as_a_message_in_progress(
    gateway: Gateway, given: Any, earlier: list[Json], *, begins: bool
) -> None:
    """A client that began the answer itself, or has a conversation elsewhere, is answered from the start."""
    gateway.provider("a", dies(), format="azure")
    second = gateway.provider("b", native("ld, how are you?") if begins else SAME, format="azure")
    prefills(gateway, "b")
    assert response_text(await ask(gateway, input=given, previous_response_id="resp_0")) == TEXT
    sent = second.bodies()[0]["input"]
    if not begins:
        assert sent == given
        return
    assert sent[:-1] == earlier
    message = sent[-1]
    assert (message["role"], message["status"]) == ("assistant", "in_progress")
    assert (message["content"], message["id"][:4]) == ([text_part("Hello wor")], "msg_")
