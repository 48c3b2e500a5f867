"""`response_format` of a chat completions request."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from routing.errors import invalid_request


class ResponseFormat(NamedTuple):
    """JSON is wanted, by a schema if there is one."""

    schema: dict[str, Any] | None


JSON_OBJECT = ResponseFormat(None)


def read_response_format(body: Mapping[str, Any]) -> ResponseFormat | None:
    """None for text, JSON_OBJECT for any JSON object. Raises GatewayError 400."""
    given = body.get("response_format")
    if given is None:
        return None
    kind = given.get("type") if isinstance(given, dict) else None
    if kind == "text":
        return None
    if kind == "json_object":
        return JSON_OBJECT
    if kind != "json_schema":
        raise invalid_request("`response_format.type` must be text, json_object or json_schema.", "response_format")
    described = given.get("json_schema")
    schema = described.get("schema") if isinstance(described, dict) else None
    if not isinstance(schema, dict):
        raise invalid_request("`response_format.json_schema.schema` must be an object.", "response_format")
    return ResponseFormat(schema)
