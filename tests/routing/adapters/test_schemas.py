"""JSON schemas in the dialects of Anthropic's structured outputs and of Gemini."""

from typing import Any

import pytest

from routing.adapters.anthropic_schema import closed_schema
from routing.adapters.gemini_schema import schema_members
from routing.errors import GatewayError

Json = dict[str, Any]

TEXT = {"type": "string"}
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}

ANTHROPIC: list[tuple[str, Json, Json]] = [
    (
        "objects are closed",
        {"$schema": "x", "type": "object", "properties": {"a": {"type": "object", "properties": {"b": TEXT}}}},
        {
            "type": "object",
            "properties": {"a": {"type": "object", "properties": {"b": TEXT}, "additionalProperties": False}},
            "additionalProperties": False,
        },
    ),
    (
        "what is unknown is told in words",
        {"type": "integer", "minimum": 1, "description": "A number."},
        {"type": "integer", "description": 'A number.\n\n{"minimum":1}'},
    ),
    ("a known format stays", {"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
    (
        "lists",
        {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 3},
        {"type": "array", "items": TEXT, "minItems": 1, "description": '{"maxItems":3}'},
    ),
    (
        "references stay",
        {"$ref": "#/$defs/Node", "$defs": {"Node": NODE}},
        {"$ref": "#/$defs/Node", "$defs": {"Node": {**NODE, "additionalProperties": False}}},
    ),
    ("one of", {"oneOf": [TEXT, {"type": "null"}]}, {"anyOf": [TEXT, {"type": "null"}]}),
    ("types", {"type": ["string", "null"], "title": "T"}, {"title": "T", "anyOf": [TEXT, {"type": "null"}]}),
    ("literals", {"enum": [1, "a"]}, {"enum": [1, "a"]}),
]


@pytest.mark.parametrize(("given", "closed"), [row[1:] for row in ANTHROPIC], ids=[row[0] for row in ANTHROPIC])
def test_anthropic_s_dialect(given: Json, closed: Json) -> None:
    assert closed_schema(given) == closed


@pytest.mark.parametrize(
    "open_", [{"type": "object"}, {"type": "object", "additionalProperties": TEXT}, {"type": "array", "items": True}]
)
def test_anthropic_cannot_be_asked_for_just_anything(open_: Json) -> None:
    with pytest.raises(GatewayError) as refused:
        closed_schema(open_)
    assert refused.value.param == "response_format"


def test_a_schema_without_bottom_is_refused() -> None:
    schema: Json = TEXT
    for _ in range(900):
        schema = {"type": "array", "items": schema}
    with pytest.raises(GatewayError):
        closed_schema(schema)
    assert "responseJsonSchema" in schema_members("responseSchema", schema)


GEMINI: list[tuple[str, Json, Json]] = [
    (
        "unsupported keywords go",
        {
            "$schema": "x",
            "type": "object",
            "additionalProperties": False,
            "properties": {"a": {"type": "integer", "exclusiveMinimum": 0, "maximum": 9, "default": 1}},
            "required": ["a", "b"],
        },
        {"type": "OBJECT", "properties": {"a": {"type": "INTEGER", "maximum": 9}}, "required": ["a"]},
    ),
    (
        "references are written out",
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/T", "description": "the first"}, "b": {"$ref": "#/$defs/T"}},
            "$defs": {"T": {"type": "string", "format": "uri", "minLength": 2}},
        },
        {
            "type": "OBJECT",
            "properties": {
                "a": {"type": "STRING", "description": "the first", "minLength": 2},
                "b": {"type": "STRING", "minLength": 2},
            },
        },
    ),
    ("null is a flag", {"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
    (
        "null among several",
        {"anyOf": [TEXT, {"type": "number"}, {"type": "null"}], "title": "T"},
        {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}], "title": "T", "nullable": True},
    ),
    ("enums", {"enum": ["a", "b", None]}, {"type": "STRING", "format": "enum", "enum": ["a", "b"], "nullable": True}),
    ("a constant", {"const": "a"}, {"type": "STRING", "format": "enum", "enum": ["a"]}),
    ("all of one", {"allOf": [TEXT], "description": "d"}, {"type": "STRING", "description": "d"}),
    ("lists", {"type": "array", "items": TEXT}, {"type": "ARRAY", "items": {"type": "STRING"}}),
]


@pytest.mark.parametrize(("given", "converted"), [row[1:] for row in GEMINI], ids=[row[0] for row in GEMINI])
def test_gemini_s_dialect(given: Json, converted: Json) -> None:
    assert schema_members("parameters", given) == {"parameters": converted}


@pytest.mark.parametrize(
    "misfit",
    [
        {"$ref": "#/$defs/Node", "$defs": {"Node": NODE}},
        {"$ref": "https://x.test/schema"},
        {"enum": [1, 2]},
        {"type": "object"},
        {"type": "array"},
        {"type": "array", "prefixItems": [TEXT]},
        {"allOf": [TEXT, TEXT]},
        {"type": "null"},
        {},
    ],
)
def test_a_schema_that_gemini_s_dialect_lacks_is_sent_as_it_is(misfit: Json) -> None:
    assert schema_members("parameters", {"$schema": "x", **misfit}) == {"parametersJsonSchema": misfit}


def test_a_schema_that_stands_for_gigabytes_is_not_written_out() -> None:
    pair = [{"type": "object", "properties": {side: {"$ref": f"#/$defs/{n}"} for side in "ab"}} for n in range(1, 41)]
    bomb = {"$ref": "#/$defs/0", "$defs": {**{str(n): value for n, value in enumerate(pair)}, "40": TEXT}}
    assert schema_members("parameters", bomb) == {"parametersJsonSchema": bomb}
