"""JSON schemas as Gemini's `Schema`: OpenAPI's dialect, without references.

What only narrows a value and is unknown there is left out. A schema whose shape does not fit (recursive, any value,
tuples, numbers as enum) is sent as it is in the JSON Schema member beside it, which only newer models read.
Source: https://ai.google.dev/api/caching#Schema
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

KEPT = frozenset(
    {
        "title",
        "nullable",
        "description",
        "pattern",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "minProperties",
        "maxProperties",
    }
)
INDIRECT = frozenset({"$ref", "anyOf", "oneOf", "allOf", "enum", "const"})
TYPES = ("string", "number", "integer", "boolean", "object", "array")
FORMATS: Mapping[Any, tuple[str, ...]] = {
    "string": ("date-time", "enum"),
    "number": ("float", "double"),
    "integer": ("int32", "int64"),
}

MAX_REFERENCES = 500  # followed in one schema: a few lines that refer to each other can stand for gigabytes
MAX_REMEMBERED = 16 * 1024  # bytes; 512 of these are all that conversions may hold in memory

Schema = dict[str, Any]


def schema_members(name: str, schema: Schema) -> Schema:
    """`{name: …}` in Gemini's dialect, or `{nameJsonSchema: …}` as it is; for `responseSchema`, `responseJsonSchema`.

    The result is shared between requests: read it only. Agents send the same tools with each turn, and converting
    some dozens of them takes longer than all the rest of a request.
    """
    try:
        text = orjson.dumps(schema)
    except orjson.JSONEncodeError:
        return _as_it_is(name, schema)  # too deep to be sent, which is for the sender to say
    return _remembered(name, text) if len(text) <= MAX_REMEMBERED else _members(name, schema)


@lru_cache(maxsize=512)
def _remembered(name: str, text: bytes) -> Schema:
    return _members(name, orjson.loads(text))


def _members(name: str, schema: Schema) -> Schema:
    try:
        return {name: _convert(schema, _Definitions(schema))}
    except (_MisfitError, RecursionError, TypeError):  # nested almost without end, or no schema: Google will say so
        return _as_it_is(name, schema)


def _as_it_is(name: str, schema: Schema) -> Schema:
    plain = {key: value for key, value in schema.items() if key not in ("$schema", "$id")}
    return {f"{name.removesuffix('Schema')}JsonSchema": plain}


class _MisfitError(Exception):
    """This schema has no counterpart in Gemini's dialect."""


class _Definitions:
    """The schema's definitions, and which are being followed: a recursive one cannot be written out."""

    def __init__(self, schema: Schema) -> None:
        found = {f"#/{place}/": schema.get(place) for place in ("$defs", "definitions")}
        self._by_place = {place: value for place, value in found.items() if isinstance(value, dict)}
        self._following: list[str] = []
        self._left = MAX_REFERENCES

    def follow(self, reference: Any, schema: Schema) -> Schema:
        """What the reference stands for, converted."""
        self._left -= 1
        if self._left < 0:
            raise _MisfitError
        for place, definitions in self._by_place.items():
            name = str(reference).removeprefix(place)
            if name in definitions and name != reference and name not in self._following:
                self._following.append(name)
                converted = _convert({**definitions[name], **_without(schema, "$ref")}, self)
                self._following.pop()
                return converted
        raise _MisfitError


def _convert(schema: Any, definitions: _Definitions) -> Schema:
    if not isinstance(schema, dict):
        raise _MisfitError
    kind = schema.get("type")
    if isinstance(kind, str) and INDIRECT.isdisjoint(schema):  # nearly every one
        if kind not in TYPES:
            raise _MisfitError
        return {"type": kind.upper(), **_kept(schema), **_inside(kind, schema, definitions)}
    if "$ref" in schema:
        return definitions.follow(schema["$ref"], schema)
    if isinstance(kind, list):
        return _either([{**schema, "type": one} for one in kind], {}, definitions)
    for name in ("anyOf", "oneOf"):
        if isinstance(variants := schema.get(name), list):
            return _either(variants, _without(schema, name), definitions)
    parts = schema.get("allOf")
    if isinstance(parts, list) and len(parts) == 1 and isinstance(parts[0], dict):
        return _convert({**parts[0], **_without(schema, "allOf")}, definitions)
    if parts is not None or ("enum" not in schema and "const" not in schema):
        raise _MisfitError
    return {"type": "STRING", "format": "enum", **_kept(schema), **_enum(schema)}


def _either(variants: list[Any], beside: Schema, definitions: _Definitions) -> Schema:
    """One of several; null among them is a flag in this dialect."""
    real = [one for one in variants if not (isinstance(one, dict) and one.get("type") == "null")]
    nullable = {"nullable": True} if len(real) < len(variants) else {}
    if not real:
        raise _MisfitError
    converted = [_convert(one, definitions) for one in real]
    if len(converted) == 1:
        return {**converted[0], **_kept(beside), **nullable}
    return {"anyOf": converted, **_kept(beside), **nullable}


def _kept(schema: Mapping[str, Any]) -> Schema:
    kept = {name: value for name, value in schema.items() if name in KEPT and value is not None}
    if "format" in schema and schema["format"] in FORMATS.get(schema.get("type"), ()):
        kept["format"] = schema["format"]
    return kept


def _enum(schema: Schema) -> Schema:
    values = schema["enum"] if "enum" in schema else [schema["const"]]
    texts = [value for value in values if value is not None] if isinstance(values, list) else []
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise _MisfitError
    return {"enum": texts, "nullable": True} if len(texts) < len(values) else {"enum": texts}


def _inside(kind: str, schema: Schema, definitions: _Definitions) -> Schema:
    if kind == "array":
        return {"items": _convert(schema.get("items"), definitions)}
    if kind != "object":
        return {}
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        raise _MisfitError  # Gemini: "should be non-empty for OBJECT type"
    inside: Schema = {"properties": {name: _convert(value, definitions) for name, value in properties.items()}}
    required = [name for name in schema.get("required") or () if name in properties]
    return {**inside, "required": required} if required else inside


def _without(schema: Schema, name: str) -> Schema:
    return {key: value for key, value in schema.items() if key != name}
