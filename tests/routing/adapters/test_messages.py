"""Anthropic's messages as other providers get them; both sides as their SDKs describe them."""

import contextlib
import json
import random
from typing import Any

import pytest

from routing.adapters.chat_parts import text_part
from routing.errors import GatewayError
from tests.routing.adapters.conversations import Json
from tests.routing.adapters.exchanges import MESSAGES, dropped, exchange, sent
from tests.routing.adapters.messages_goldens import CONVERSATIONS, EFFORTS, MEMBERS, TOOL, assistant, result, use, user
from tests.routing.adapters.sdk_types import check_anthropic, check_gemini, check_openai
from tests.routing.adapters.test_any_input import ROUNDS, spoiled


def asked_of(format_: str, asked: Json, **options: Any) -> Json:
    """What is sent for a request that Anthropic would take."""
    check_anthropic({"model": "claude", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}], **asked})
    return sent(format_, dialect=MESSAGES, **asked, **options)


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_openai_is_sent(name: str) -> None:
    golden = CONVERSATIONS[name]
    body = asked_of("openai", golden.asked)
    check_openai(body)
    assert body["messages"] == golden.chat
    assert body["max_tokens"] == 100


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_gemini_is_sent(name: str) -> None:
    golden = CONVERSATIONS[name]
    body = asked_of("gemini", golden.asked)
    check_gemini(body)
    if golden.contents:
        assert body["contents"] == golden.contents
    assert [part["text"] for part in body.get("systemInstruction", {"parts": []})["parts"]] == [
        text for text in (golden.system,) if text
    ]


@pytest.mark.parametrize(("asked", "wanted"), MEMBERS)
def test_members_of_a_chat_completions_request(asked: Json, wanted: Json) -> None:
    body = asked_of("openai", asked)
    check_openai(body)
    assert {name: value for name, value in body.items() if name not in ("model", "messages", "max_tokens")} == wanted
    check_gemini(asked_of("gemini", asked))


@pytest.mark.parametrize(("asked", "effort"), EFFORTS)
def test_thinking_is_an_effort_for_who_can_be_told_one(asked: Json, effort: str | None) -> None:
    body = asked_of("openai", asked, model="gpt-5")
    check_openai(body)
    assert body.get("reasoning_effort") == effort
    assert "reasoning_effort" not in asked_of("openai", asked, model="gpt-4o")
    check_gemini(asked_of("gemini", asked))


def test_what_is_left_out_is_named_as_the_client_names_it() -> None:
    system = [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]
    asked: Json = {"system": system, "top_k": 5, "service_tier": "auto", "novelty": 1}
    assert set(dropped("openai", dialect=MESSAGES, **asked)) == {"cache_control", "top_k", "service_tier", "novelty"}
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    assert dropped("openai", dialect=MESSAGES, **thinking) == ("thinking",)


def test_what_a_search_found_is_told_as_text_without_citations() -> None:
    found = {
        "type": "search_result",
        "title": "Oslo",
        "source": "https://w.test/oslo",
        "content": [text_part("A city.")],
    }
    cited = found | {"citations": {"enabled": True}}
    told = {"type": "text", "text": "Oslo\nhttps://w.test/oslo\n\nA city."}
    asked: Json = {"messages": [user(cited, text_part("Where?"))]}
    assert asked_of("openai", asked)["messages"] == [{"role": "user", "content": [told, text_part("Where?")]}]
    assert dropped("openai", dialect=MESSAGES, **asked) == ("citations",)
    given: Json = {
        "messages": [user(text_part("?")), assistant(use("toolu_1", "Oslo")), user(result("toolu_1", [found]))]
    }
    assert asked_of("openai", given)["messages"][-1]["content"] == told["text"]
    assert dropped("openai", dialect=MESSAGES, **given) == ()


@pytest.mark.parametrize("model", ["gpt-5", "o4-mini", "gpt-5.1-codex"])
def test_a_reasoning_model_is_told_only_what_it_takes(model: str) -> None:
    asked: Json = {"dialect": MESSAGES, "model": model, "temperature": 0, "top_p": 1}
    body = sent("azure", **asked)
    assert (body["max_completion_tokens"], body["top_p"]) == (100, 1)
    assert not {"max_tokens", "temperature"} & set(body)
    assert dropped("azure", **asked) == ("temperature",)


@pytest.mark.parametrize(("format_", "model"), [("azure", "gpt-4o"), ("azure", "gpt-5-chat"), ("openai", "gpt-5")])
def test_other_models_and_other_hosts_are_told_all(format_: str, model: str) -> None:
    body = sent(format_, dialect=MESSAGES, model=model, temperature=0)
    assert (body["max_tokens"], body["temperature"]) == (100, 0)


REFUSED: dict[str, tuple[Json, str]] = {
    "a container": ({"container": "c"}, "container"),
    "Anthropic's own tool": ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools[0]"),
    "a tool without a schema": ({"tools": [{"name": "f"}]}, "tools[0].input_schema"),
    "a choice of no kind": ({"tools": [TOOL], "tool_choice": {"type": "maybe"}}, "tool_choice"),
    "a choice that is a word": ({"tools": [TOOL], "tool_choice": "any"}, "tool_choice"),
    "a role nobody knows": ({"messages": [{"role": "tool", "content": "a"}]}, "messages[0].role"),
    "a block nobody knows": ({"messages": [user({"type": "video"})]}, "messages[0].content[0]"),
    "a block that is a text": ({"messages": [user("a")]}, "messages[0].content[0]"),
    "an answer's block that is a text": ({"messages": [assistant("a")]}, "messages[0].content[0]"),
    "arguments that are a text": (
        {"messages": [assistant({**use("toolu_1", "Oslo"), "input": '{"city": '})]},
        "messages[0].content[0].input",
    ),
    "a finding without a title": ({"messages": [user({"type": "search_result"})]}, "messages[0].content[0].title"),
    "a result of no call": (
        {"messages": [user({"type": "tool_result", "content": "a"})]},
        "messages[0].content[0].tool_use_id",
    ),
    "a result of a number": ({"messages": [user(result("toolu_1", 7))]}, "messages[0].content[0].content"),
    "a budget that is a word": (
        {"thinking": {"type": "enabled", "budget_tokens": "much"}},
        "thinking.budget_tokens",
    ),
    "a format of no kind": ({"output_config": {"format": {"type": "xml"}}}, "output_config.format"),
    "a format without a schema": ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format"),
    "nothing at all": ({"messages": [user()]}, "messages"),
    "a choice of another tool": ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "f"}}, "tool_choice"),
    "a choice without a name": ({"tools": [TOOL], "tool_choice": {"type": "tool"}}, "tool_choice"),
    "thinking that is a word": ({"thinking": "hard"}, "thinking"),
    "a configuration that is a list": ({"output_config": ["high"]}, "output_config"),
    "metadata that are a text": ({"metadata": "u"}, "metadata"),
    "a stop that is no list": ({"stop_sequences": "END"}, "stop_sequences"),
    "a stop that is a number": ({"stop_sequences": [5]}, "stop_sequences"),
    "a temperature that is a word": ({"temperature": "hot"}, "temperature"),
}


@pytest.mark.parametrize("format_", ["openai", "gemini"])
@pytest.mark.parametrize("name", REFUSED)
def test_a_request_that_cannot_be_meant_is_refused_before_any_call(name: str, format_: str) -> None:
    asked, param = REFUSED[name]
    with pytest.raises(GatewayError) as refused:
        sent(format_, dialect=MESSAGES, **asked)
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, "invalid_request", param)


@pytest.mark.parametrize("format_", ["openai", "anthropic", "gemini"])
def test_spoiled_requests_are_sent_or_refused(format_: str) -> None:
    chance = random.Random(1)
    more = {name: value for asked, _ in (*MEMBERS, *EFFORTS) for name, value in asked.items()}
    wanted = [{**more, **golden.asked} for golden in CONVERSATIONS.values()]
    was_sent = 0
    for _ in range(ROUNDS):
        with contextlib.suppress(GatewayError):
            asked = exchange(format_, dialect=MESSAGES, **spoiled(chance.choice(wanted), chance))
            assert json.loads(asked.request().body)
            was_sent += 1
    assert was_sent
