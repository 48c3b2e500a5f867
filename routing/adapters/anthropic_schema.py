"""JSON schemas for Anthropic's structured outputs, which know a part of JSON Schema and answer 400 to the rest.

What they do not know moves into the description, where the model reads it. Source:
https://platform.claude.com/docs/en/build-with-claude/structured-outputs (JSON Schema limitations)
"""

from typing import Any

from routing.adapters.base import encode
from routing.errors import invalid_request

FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")
AS_THEY_ARE = ("title", "description", "enum", "const", "default")
SAID_ELSEWHERE = ("$schema", "$id", "$comment")  # nothing for the model
MAX_DEPTH = 64  # a schema nested deeper is not meant


def closed_schema(schema: Any, depth: int = 0) -> dict[str, Any]:
    """The schema in Anthropic's subset. Raises GatewayError 400 for objects whose members are not named."""
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        raise invalid_request("The schema cannot be expressed for this target.", "response_format")
    rest = {name: value for name, value in schema.items() if name not in SAID_ELSEWHERE}
    closed: dict[str, Any] = {}
    for name in ("$defs", "definitions"):
        if isinstance(definitions := rest.pop(name, None), dict):
            closed[name] = {key: closed_schema(value, depth + 1) for key, value in definitions.items()}
    if "$ref" in rest:
        return {**closed, "$ref": rest["$ref"]}
    closed.update((name, rest.pop(name)) for name in AS_THEY_ARE if name in rest)
    kind = rest.pop("type", None)
    if isinstance(kind, list):
        return {**closed, "anyOf": [closed_schema({**rest, "type": one}, depth + 1) for one in kind]}
    if kind is not None:
        closed["type"] = kind
    _add_members(closed, rest, kind, depth)
    if rest:
        hint = encode(rest).decode()
        closed["description"] = f"{closed['description']}\n\n{hint}" if closed.get("description") else hint
    return closed


def _add_members(closed: dict[str, Any], rest: dict[str, Any], kind: Any, depth: int) -> None:
    """Move what is known for this type of schema from `rest` to `closed`."""
    _compose(closed, rest, depth)
    if kind == "object":
        _close(closed, rest, depth)
    elif kind == "array":
        _list(closed, rest, depth)
    elif kind == "string" and rest.get("format") in FORMATS:
        closed["format"] = rest.pop("format")


def _compose(closed: dict[str, Any], rest: dict[str, Any], depth: int) -> None:
    for given, known in (("anyOf", "anyOf"), ("oneOf", "anyOf"), ("allOf", "allOf")):
        if isinstance(variants := rest.get(given), list) and known not in closed:
            closed[known] = [closed_schema(variant, depth + 1) for variant in variants]
            del rest[given]


def _close(closed: dict[str, Any], rest: dict[str, Any], depth: int) -> None:
    """An object has the members it names and no others."""
    properties = rest.pop("properties", None) or {}
    is_closed = rest.pop("additionalProperties", None) is False
    if not isinstance(properties, dict) or not (properties or is_closed):
        raise invalid_request(
            "An object without named properties cannot be expressed for this target.", "response_format"
        )
    closed["properties"] = {name: closed_schema(value, depth + 1) for name, value in properties.items()}
    closed["additionalProperties"] = False
    if "required" in rest:
        closed["required"] = rest.pop("required")


def _list(closed: dict[str, Any], rest: dict[str, Any], depth: int) -> None:
    if "items" in rest:
        closed["items"] = closed_schema(rest.pop("items"), depth + 1)
    if rest.get("minItems") in (0, 1):
        closed["minItems"] = rest.pop("minItems")
