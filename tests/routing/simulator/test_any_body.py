"""No body makes the simulator stumble: whatever is sent, an answer in the format's words comes back."""

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing.simulator.http import Request
from routing.simulator.providers import Providers
from tests.routing.simulator.client import KEYS

PATHS = {
    "/openai/v1/chat/completions": "openai",
    "/openai/v1/responses": "openai",
    "/openai/v1/embeddings": "openai",
    "/azure/openai/deployments/d/chat/completions": "azure",
    "/anthropic/v1/messages": "anthropic",
    "/gemini/v1beta/models/m:generateContent": "gemini",
    "/gemini/v1beta/models/m:streamGenerateContent": "gemini",
    "/gemini/v1beta/models/m:batchEmbedContents": "gemini",
}
# The members that are read, with values of every kind, right ones among them
READ = """
    model messages role content text type input stream stream_options include_usage tools function name parameters n
    tool_choice response_format json_schema schema properties items enum max_tokens max_output_tokens dimensions contents
    parts systemInstruction generationConfig toolConfig functionCallingConfig functionDeclarations mode requests system
    output_config format $ref $defs anyOf allOf minimum maximum multipleOf minItems prefixItems required tool_calls
"""
MEMBERS = READ.split()
WORDS = [
    "user",
    "assistant",
    "model",
    "use two tools",
    "object",
    "array",
    "required",
    "any",
    "tool",
    "ANY",
    "json_object",
    "m",
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-9, 99)
    | st.floats(allow_nan=False)
    | st.sampled_from(WORDS)
    | st.text(max_size=4)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=5),
    max_leaves=25,
)
OBJECTS = st.dictionaries(st.sampled_from(MEMBERS), VALUES, max_size=4)
CHATTY = st.fixed_dictionaries(
    {
        "model": st.just("m"),
        "messages": st.lists(
            st.fixed_dictionaries({"role": st.just("user"), "content": VALUES | st.just("two tools")})
        ),
        "contents": st.lists(st.fixed_dictionaries({"parts": VALUES | st.just([{"text": "two tools"}])})),
        "tools": VALUES | st.lists(OBJECTS),
    },
    optional={name: VALUES | OBJECTS for name in MEMBERS if name not in ("model", "messages", "contents", "tools")},
)


@pytest.mark.parametrize("path", PATHS)
@given(document=VALUES | CHATTY)
@settings(max_examples=25, deadline=None)
def test_any_json_gets_an_answer(path, document):
    request = Request("POST", path, {"api-version": "1", "alt": "sse"}, KEYS[PATHS[path]], orjson.dumps(document))
    answered = Providers().answer(request)
    assert answered is not None
    assert answered[0].status in (200, 400, 404)


@pytest.mark.parametrize("path", PATHS)
@given(body=st.binary(max_size=40))
@settings(max_examples=20, deadline=None)
def test_any_bytes_get_an_answer(path, body):
    answered = Providers().answer(Request("POST", path, {"api-version": "1"}, KEYS[PATHS[path]], body))
    assert answered is not None
    assert answered[0].status in (200, 400)
