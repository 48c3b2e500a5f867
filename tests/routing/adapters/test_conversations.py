"""Messages of a chat completions request, as the other formats get them."""

import json

import pytest

from routing.errors import GatewayError
from tests.routing.adapters.conversations import GOLDENS, PNG, Json, call, text
from tests.routing.adapters.exchanges import sent


@pytest.mark.parametrize("name", GOLDENS)
def test_anthropic_is_sent(name: str) -> None:
    golden = GOLDENS[name]
    body = sent("anthropic", messages=golden.messages)
    assert body["messages"] == golden.anthropic
    assert [block["text"] for block in body.get("system", [])] == list(golden.system)


@pytest.mark.parametrize("name", GOLDENS)
def test_gemini_is_sent(name: str) -> None:
    golden = GOLDENS[name]
    body = sent("gemini", messages=golden.messages)
    assert body["contents"] == golden.gemini
    assert [part["text"] for part in body.get("systemInstruction", {"parts": []})["parts"]] == list(golden.system)


def test_the_client_s_own_body_is_never_changed() -> None:
    golden = GOLDENS["parallel calls and their results"]
    before = repr(golden)
    for format_ in ("anthropic", "gemini"):
        sent(format_, messages=golden.messages, tools=[{"type": "function", "function": {"name": "clock"}}])
    assert repr(golden) == before


def test_cache_marks_reach_anthropic_and_stay_away_from_gemini() -> None:
    mark = {"type": "ephemeral"}
    messages = [{"role": role, "content": [{**text("a"), "cache_control": mark}]} for role in ("system", "user")]
    body = sent("anthropic", messages=messages)
    assert body["system"][0]["cache_control"] == body["messages"][0]["content"][0]["cache_control"] == mark
    assert "cache_control" not in str(sent("gemini", messages=messages))


def test_sound_goes_to_gemini_and_is_refused_for_anthropic() -> None:
    part = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    messages = [{"role": "user", "content": [part]}]
    assert sent("gemini", messages=messages)["contents"][0]["parts"] == [
        {"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}}
    ]
    with pytest.raises(GatewayError) as refused:
        sent("anthropic", messages=messages)
    assert refused.value.param == "messages[0].content[0]"


def test_a_percent_encoded_data_url_becomes_base64() -> None:
    part = {"type": "file", "file": {"file_data": "data:text/plain,a%20b"}}
    messages = [{"role": "user", "content": [part]}]
    source = sent("anthropic", messages=messages)["messages"][0]["content"][0]["source"]
    assert source == {"type": "text", "media_type": "text/plain", "data": "a b"}
    assert sent("gemini", messages=messages)["contents"][0]["parts"][0]["inlineData"]["data"] == "YSBi"


def test_newer_geminis_get_the_signature_that_the_client_kept_and_a_stand_in_where_there_is_none() -> None:
    kept = {"extra_content": {"google": {"thought_signature": "c2lnbmF0dXJl"}}}
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "tool_calls": [call("c1", "clock", "{}", **kept), call("c2", "clock", "{}")]},
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
        {"role": "tool", "tool_call_id": "c2", "content": "1"},
        {"role": "assistant", "tool_calls": [call("c3", "clock", "{}"), call("c4", "clock", "{}")]},
    ]
    for model, stand_in in (("gemini-3-pro-preview", "skip_thought_signature_validator"), ("gemini-2.5-pro", None)):
        contents = sent("gemini", model=model, messages=messages)["contents"]
        signatures = [
            [part.get("thoughtSignature") for part in content["parts"]]
            for content in contents
            if content["role"] == "model"
        ]
        assert signatures == [["c2lnbmF0dXJl", None], [stand_in, None]]


CALLED = {"role": "user", "content": "a"}
MALFORMED: dict[str, tuple[list[Json], str]] = {
    "arguments that are not JSON": (
        [CALLED, {"role": "assistant", "tool_calls": [call("c", "f", '{"a": ')]}],
        "messages[1].tool_calls[0].function.arguments",
    ),
    "arguments that are a list": (
        [CALLED, {"role": "assistant", "tool_calls": [call("c", "f", "[1]")]}],
        "messages[1].tool_calls[0].function.arguments",
    ),
    "a call without an id": (
        [CALLED, {"role": "assistant", "tool_calls": [call("", "f", "{}")]}],
        "messages[1].tool_calls[0].id",
    ),
    "a call without a name": (
        [CALLED, {"role": "assistant", "tool_calls": [{"id": "c", "function": {}}]}],
        "messages[1].tool_calls[0].function.name",
    ),
    "calls that are no list": ([CALLED, {"role": "assistant", "tool_calls": {}}], "messages[1].tool_calls"),
    "a result of no call": ([CALLED, {"role": "tool", "content": "x"}], "messages[1].tool_call_id"),
    "the old form of a call": (
        [CALLED, {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}],
        "messages[1].function_call",
    ),
    "a role nobody knows": ([{"role": "narrator", "content": "a"}], "messages[0].role"),
    "a part nobody knows": ([{"role": "user", "content": [{"type": "video"}]}], "messages[0].content[0]"),
    "a text that is none": ([{"role": "user", "content": [{"type": "text", "text": 1}]}], "messages[0].content[0]"),
    "a picture without data": (
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}]}],
        "messages[0].content[0]",
    ),
    "a picture from a disk": (
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]}],
        "messages[0].content[0]",
    ),
    "a file known by its id": (
        [{"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1"}}]}],
        "messages[0].content[0]",
    ),
    "a picture in a system prompt": (
        [
            {
                "role": "system",
                "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}],
            }
        ],
        "messages[0].content",
    ),
    "nothing at all": ([{"role": "user", "content": ""}], "messages"),
}


@pytest.mark.parametrize("format_", ["anthropic", "gemini"])
@pytest.mark.parametrize("name", MALFORMED)
def test_a_request_that_cannot_be_meant_is_refused_before_any_call(name: str, format_: str) -> None:
    messages, param = MALFORMED[name]
    with pytest.raises(GatewayError) as refused:
        sent(format_, messages=messages)
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, "invalid_request", param)


def test_gemini_refuses_what_it_cannot_name() -> None:
    unnamed = [{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "c", "content": "x"}]
    untold = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.test/picture"}}]}]
    for messages, param in ((unnamed, "messages[1].tool_call_id"), (untold, "messages[0].content[0]")):
        with pytest.raises(GatewayError) as refused:
            sent("gemini", messages=messages)
        assert refused.value.param == param


@pytest.mark.parametrize("format_", ["openai", "anthropic", "gemini"])
def test_what_is_nested_too_deeply_to_be_written_is_refused(format_: str) -> None:
    deep = '{"a":' * 500 + "1" + "}" * 500
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": deep}}]
    messages = [CALLED, {"role": "assistant", "tool_calls": calls}]
    if format_ == "openai":
        assert sent(format_, messages=messages)["messages"] == messages  # a text is as deep as it likes
        messages = [{**CALLED, "x": json.loads(deep)}]
    with pytest.raises(GatewayError) as refused:
        sent(format_, messages=messages)
    assert refused.value.code == "invalid_request"
