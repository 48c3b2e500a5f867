"""Members of a request other than its messages: translated, narrowed, dropped or refused."""

from typing import Any

import pytest

from resilience.core.error_rules import ErrorFormat
from routing.adapters.parameters import TABLE, Fate
from routing.errors import GatewayError
from routing.table import ModelFacts
from tests.routing.adapters.conversations import CLOCK, Json
from tests.routing.adapters.exchanges import HI, dropped, exchange, sent

OLD, BUDGET, ADAPTIVE, NEWEST = "claude-3-5-haiku-latest", "claude-sonnet-4-5", "claude-opus-4-6", "claude-opus-4-7"
UNASKED, ALWAYS = "claude-sonnet-5", "claude-opus-5-5"  # who think also if nobody says so


def config(**wanted: Any) -> Json:
    """Gemini's generationConfig."""
    found: Json = sent("gemini", **wanted).get("generationConfig", {})
    return found


def anthropic(**wanted: Any) -> Json:
    """Anthropic's body without what every body has."""
    return {key: value for key, value in sent("anthropic", **wanted).items() if key not in ("model", "messages")}


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
SHOWN = {"type": "adaptive", "display": "summarized"}
MOST = {"type": "enabled", "budget_tokens": 32000}
BY_SCHEMA = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA, "strict": True}}

ANTHROPIC: list[tuple[str, Json, Json, tuple[str, ...]]] = [
    ("nothing", {}, {"max_tokens": 4096}, ()),
    ("a model's own limit", {"facts": ModelFacts(max_output_tokens=8192)}, {"max_tokens": 8192}, ()),
    ("max_tokens", {"max_tokens": 5}, {"max_tokens": 5}, ()),
    ("the newer spelling wins", {"max_tokens": 5, "max_completion_tokens": 6}, {"max_tokens": 6}, ()),
    ("more than the model can", {"max_tokens": 9, "facts": ModelFacts(max_output_tokens=8)}, {"max_tokens": 8}, ()),
    ("the emergency cap", {"cap": 100}, {"max_tokens": 100}, ()),
    ("the emergency cap over a wish", {"cap": 100, "max_tokens": 200}, {"max_tokens": 100}, ()),
    ("a wish below the emergency cap", {"cap": 100, "max_tokens": 20}, {"max_tokens": 20}, ()),
    ("one stop", {"stop": "X"}, {"max_tokens": 4096, "stop_sequences": ["X"]}, ()),
    ("stops", {"stop": ["X", "Y", ""]}, {"max_tokens": 4096, "stop_sequences": ["X", "Y"]}, ()),
    ("temperature", {"temperature": 0.3}, {"max_tokens": 4096, "temperature": 0.3}, ()),
    ("a hot temperature", {"temperature": 1.7}, {"max_tokens": 4096, "temperature": 1.0}, ("temperature",)),
    ("one sampler", {"temperature": 0.3, "top_p": 0.9}, {"max_tokens": 4096, "temperature": 0.3}, ("top_p",)),
    ("the one that says something", {"temperature": 1, "top_p": 0.9}, {"max_tokens": 4096, "top_p": 0.9}, ()),
    (
        "both samplers of an old model",
        {"model": OLD, "temperature": 0.3, "top_p": 0.9, "top_k": 5},
        {"max_tokens": 4096, "temperature": 0.3, "top_p": 0.9, "top_k": 5},
        (),
    ),
    (
        "a model that takes no samplers",
        {"model": NEWEST, "temperature": 0.3, "top_p": 1},
        {"max_tokens": 16384},
        ("temperature",),
    ),
    ("user", {"user": "u-1"}, {"max_tokens": 4096, "metadata": {"user_id": "u-1"}}, ()),
    ("a stream", {"stream": True}, {"max_tokens": 4096, "stream": True}, ()),
    ("text", {"response_format": {"type": "text"}}, {"max_tokens": 4096}, ()),
    (
        "a schema",
        {"response_format": BY_SCHEMA},
        {"max_tokens": 4096, "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        (),
    ),
    (
        "any JSON object",
        {"response_format": {"type": "json_object"}},
        {"max_tokens": 4096, "system": [{"type": "text", "text": "Answer with one JSON object and nothing else."}]},
        ("response_format",),
    ),
    (
        "a thinking budget on top of the default",
        {"reasoning_effort": "medium"},
        {"max_tokens": 8192, "thinking": {"type": "enabled", "budget_tokens": 4096}},
        (),
    ),
    (
        "a thinking budget leaves half for the answer",
        {"reasoning": {"effort": "high"}, "max_tokens": 4000, "temperature": 0.5},
        {"max_tokens": 4000, "thinking": {"type": "enabled", "budget_tokens": 2000}},
        ("temperature",),
    ),
    ("no room to think", {"reasoning_effort": "low", "max_tokens": 1024}, {"max_tokens": 1024}, ("reasoning_effort",)),
    ("no wish to think", {"reasoning_effort": "none"}, {"max_tokens": 4096}, ()),
    (
        "the emergency cap bounds thinking",
        {"reasoning_effort": "high", "cap": 1500},
        {"max_tokens": 1500, "thinking": {"type": "enabled", "budget_tokens": 1024}},
        (),
    ),
    (
        "a model that cannot think",
        {"model": OLD, "reasoning_effort": "high"},
        {"max_tokens": 4096},
        ("reasoning_effort",),
    ),
    (
        "a model that is said not to think",
        {"facts": ModelFacts(reasoning=False), "reasoning_effort": "high"},
        {"max_tokens": 4096},
        ("reasoning_effort",),
    ),
    (
        "adaptive thinking",
        {"model": ADAPTIVE, "reasoning_effort": "xhigh", "max_tokens": 9000},
        {"max_tokens": 9000, "thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}},
        (),
    ),
    (
        "adaptive thinking beside a schema",
        {"model": NEWEST, "reasoning_effort": "xhigh", "max_tokens": 9000, "response_format": BY_SCHEMA},
        {
            "max_tokens": 9000,
            "thinking": SHOWN,
            "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "xhigh"},
        },
        (),
    ),
    (
        "the most effort",
        {"model": UNASKED, "reasoning_effort": "max"},
        {"max_tokens": 16384, "thinking": SHOWN, "output_config": {"effort": "max"}},
        (),
    ),
    ("the most effort as a budget", {"reasoning_effort": "max"}, {"max_tokens": 36096, "thinking": MOST}, ()),
    (
        "no wish to think of who thinks unasked",
        {"model": UNASKED, "reasoning_effort": "none"},
        {"max_tokens": 16384, "thinking": {"type": "disabled"}},
        (),
    ),
    *(
        (
            f"no wish to think of {model}",
            {"model": model, "reasoning_effort": "none"},
            {"max_tokens": 16384},
            ("reasoning_effort",),
        )
        for model in (ALWAYS, "claude-fable-5", "claude-mythos-preview")
    ),
    ("who thinks unasked, unasked", {"model": UNASKED}, {"max_tokens": 16384}, ()),
]

GEMINI: list[tuple[str, Json, Json, tuple[str, ...]]] = [
    ("nothing", {}, {}, ()),
    ("limits", {"max_tokens": 5}, {"maxOutputTokens": 5}, ()),
    ("the emergency cap", {"cap": 100}, {"maxOutputTokens": 100}, ()),
    ("stops", {"stop": ["X"]}, {"stopSequences": ["X"]}, ()),
    (
        "sampling",
        {"temperature": 1.7, "top_p": 0.9, "top_k": 5, "seed": 0, "presence_penalty": 0, "frequency_penalty": 0.5},
        {"temperature": 1.7, "topP": 0.9, "topK": 5, "seed": 0, "frequencyPenalty": 0.5},
        (),
    ),
    ("several choices", {"n": 3}, {"candidateCount": 3}, ()),
    ("any JSON object", {"response_format": {"type": "json_object"}}, {"responseMimeType": "application/json"}, ()),
    (
        "a schema",
        {"response_format": BY_SCHEMA},
        {
            "responseMimeType": "application/json",
            "responseSchema": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["a"]},
        },
        (),
    ),
    (
        "a thinking budget",
        {"reasoning_effort": "medium"},
        {"thinkingConfig": {"thinkingBudget": 8192, "includeThoughts": True}},
        (),
    ),
    (
        "a thinking budget leaves half for the answer",
        {"reasoning_effort": "high", "max_tokens": 4000},
        {"maxOutputTokens": 4000, "thinkingConfig": {"thinkingBudget": 2000, "includeThoughts": True}},
        (),
    ),
    (
        "no thinking",
        {"reasoning_effort": "none"},
        {"thinkingConfig": {"thinkingBudget": 0, "includeThoughts": False}},
        (),
    ),
    (
        "as little thinking as a Pro can",
        {"model": "gemini-2.5-pro", "reasoning_effort": "none"},
        {"thinkingConfig": {"thinkingBudget": 128, "includeThoughts": False}},
        ("reasoning_effort",),
    ),
    (
        "a level",
        {"model": "gemini-3-flash", "reasoning_effort": "low"},
        {"thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True}},
        (),
    ),
    (
        "the highest level",
        {"model": "gemini-3-pro-preview", "reasoning_effort": "max"},
        {"thinkingConfig": {"thinkingLevel": "HIGH", "includeThoughts": True}},
        ("reasoning_effort",),
    ),
    (
        "the nearest level",
        {"model": "gemini-3-pro-preview", "reasoning_effort": "minimal"},
        {"thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True}},
        ("reasoning_effort",),
    ),
    ("a model that cannot think", {"model": "gemini-2.0-flash", "reasoning_effort": "high"}, {}, ("reasoning_effort",)),
    ("user", {"user": "u-1"}, {}, ("user",)),
]


@pytest.mark.parametrize(
    ("wanted", "body", "left_out"), [row[1:] for row in ANTHROPIC], ids=[row[0] for row in ANTHROPIC]
)
def test_anthropic_is_told(wanted: Json, body: Json, left_out: tuple[str, ...]) -> None:
    assert anthropic(**wanted) == body
    assert dropped("anthropic", **wanted) == left_out


@pytest.mark.parametrize(("wanted", "body", "left_out"), [row[1:] for row in GEMINI], ids=[row[0] for row in GEMINI])
def test_gemini_is_told(wanted: Json, body: Json, left_out: tuple[str, ...]) -> None:
    assert config(**wanted) == body
    assert dropped("gemini", **wanted) == left_out


def test_anthropic_does_not_think_where_a_tool_is_forced_or_its_thoughts_are_lost() -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "clock", "arguments": "{}"}}]
    in_a_loop = [*HI, {"role": "assistant", "tool_calls": calls}, {"role": "tool", "tool_call_id": "c", "content": "1"}]
    wishes: list[Json] = [{"tool_choice": "required"}, {"messages": in_a_loop}]
    for wish in wishes:
        asked: Json = {"reasoning_effort": "high", "tools": [CLOCK], **wish}
        assert "thinking" not in anthropic(**asked)
        assert dropped("anthropic", **asked) == ("reasoning_effort",)
    adaptive = anthropic(model=ADAPTIVE, reasoning_effort="high", tools=[CLOCK], messages=in_a_loop)
    assert adaptive["thinking"] == {"type": "adaptive"}


REFUSED: list[tuple[str, str, Json, str]] = [
    ("anthropic", "several choices", {"n": 2}, "n"),
    ("anthropic", "white space as a stop", {"stop": ["\n"]}, "stop"),
    ("gemini", "too many stops", {"stop": list("abcdef")}, "stop"),
    *(
        (format_, name, wanted, param)
        for format_ in ("anthropic", "gemini")
        for name, wanted, param in [
            ("log probabilities", {"logprobs": True}, "logprobs"),
            ("biased tokens", {"logit_bias": {"50256": -100}}, "logit_bias"),
            ("spoken answers", {"modalities": ["text", "audio"], "audio": {}}, "modalities"),
            ("functions in the old form", {"functions": [{"name": "f"}]}, "functions"),
            ("a tool that is no function", {"tools": [{"type": "custom"}]}, "tools[0]"),
            ("a tool without a name", {"tools": [{"type": "function"}]}, "tools[0].function.name"),
            ("a choice of no tool", {"tool_choice": "required"}, "tool_choice"),
            (
                "a choice of another tool",
                {"tools": [CLOCK], "tool_choice": {"type": "function", "function": {"name": "f"}}},
                "tool_choice",
            ),
            ("a choice of a strange kind", {"tools": [CLOCK], "tool_choice": "maybe"}, "tool_choice"),
            ("a limit that is none", {"max_tokens": 0}, "max_tokens"),
            ("a temperature that is none", {"temperature": "hot"}, "temperature"),
            ("stops that are none", {"stop": [1]}, "stop"),
            ("an effort that is none", {"reasoning_effort": "huge"}, "reasoning_effort"),
            ("reasoning that is none", {"reasoning": "hard"}, "reasoning"),
            ("a format that is none", {"response_format": {"type": "xml"}}, "response_format"),
            ("a schema that is none", {"response_format": {"type": "json_schema"}}, "response_format"),
        ]
    ),
]


@pytest.mark.parametrize(
    ("format_", "wanted", "param"),
    [(format_, wanted, param) for format_, _, wanted, param in REFUSED],
    ids=[f"{format_} {name}" for format_, name, _, _ in REFUSED],
)
def test_what_would_change_the_answer_is_refused(format_: str, wanted: Json, param: str) -> None:
    with pytest.raises(GatewayError) as refused:
        sent(format_, **wanted)
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, "invalid_request", param)


@pytest.mark.parametrize("format_", ["anthropic", "gemini"])
def test_what_would_not_is_dropped_and_recorded(format_: str) -> None:
    recorded = {
        row.name
        for row in TABLE
        if {"anthropic": row.anthropic, "gemini": row.gemini}[format_] is Fate.DROPPED
        and row.name != "parallel_tool_calls"
    }
    asked = dict.fromkeys(recorded, 5) | {"parallel_tool_calls": True, "unheard_of": 1}
    assert set(dropped(format_, **asked)) == recorded | {"unheard_of"}


@pytest.mark.parametrize("format_", ["anthropic", "gemini"])
def test_values_that_ask_for_nothing_are_neither_refused_nor_recorded(format_: str) -> None:
    neutral = {row.name: row.neutral[0] for row in TABLE if row.neutral}
    absent = {row.name: None for row in TABLE if row.name not in ("model", "messages", *neutral)}
    assert dropped(format_, **neutral, **absent) == ()


def test_the_table_knows_every_format_but_openai_s_own() -> None:
    assert {"anthropic", "gemini"} == {format_.value for format_ in ErrorFormat} - {"openai"}
    assert len({row.name for row in TABLE}) == len(TABLE)


def test_keys_and_headers() -> None:
    extra = [("Anthropic-Version", "2099-01-01"), ("x-team", "t")]
    headers = dict(exchange("anthropic", stream=True, headers=extra).request().headers)
    assert headers == {
        b"content-type": b"application/json",
        b"accept": b"text/event-stream",
        b"accept-encoding": b"identity",
        b"user-agent": b"omniroute",
        b"anthropic-version": b"2099-01-01",
        b"x-api-key": b"upstream-key-1",
        b"x-team": b"t",
    }
    request = exchange("gemini").request()
    assert dict(request.headers)[b"x-goog-api-key"] == b"upstream-key-1"
    assert b"authorization" not in dict(request.headers)


def test_urls_name_the_model_and_never_the_key() -> None:
    urls = [
        exchange("anthropic").request().url,
        exchange("gemini").request().url,
        exchange("gemini", stream=True).request().url,
        exchange("gemini", model="models/gemini-2.0-flash").request().url,
        exchange("gemini", model="a b?c").request().url,
    ]
    assert urls == [
        "https://anthropic.test/v1/messages",
        "https://gemini.test/v1beta/models/gemini-2.5-flash:generateContent",
        "https://gemini.test/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
        "https://gemini.test/v1beta/models/gemini-2.0-flash:generateContent",
        "https://gemini.test/v1beta/models/a%20b%3Fc:generateContent",
    ]
