"""Values that fit a JSON schema, in JSON Schema's own spelling or in Gemini's: what the simulated model fills in.

    $ref ─► definition │ allOf ─► one schema │ anyOf, oneOf, types ─► the first that is not null │ enum, const ─► value
    object ─► every property │ array ─► as few items as may be, at least one │ number ─► within its bounds

Recursion ends where the schema lets it: an optional property is left out, a list is empty, another variant is taken.
A `pattern` is not read.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Json = Mapping[str, Any]

MAX_VALUES = 2_000  # in one answer: definitions that refer to each other can stand for gigabytes
MAX_ITEMS = 100
MAX_NUMBER = 2**53  # beyond it JSON numbers are no longer exact
MIN_STEP = 1e-6
TEXT = "sample"
PLAIN_WHOLE, PLAIN_NUMBER = 7, 7.5
FORMATS: Mapping[object, str] = {
    "date-time": "2026-01-02T03:04:05Z",
    "date": "2026-01-02",
    "time": "03:04:05Z",
    "duration": "P1D",
    "email": "sample@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


class _MisfitError(Exception):
    """Nothing fits here, or only something without end."""


def sample(schema: object) -> Any:
    """The value for a schema, always the same; an empty object if there is none."""
    try:
        return _Sampler(schema).fit(schema, ())
    except (_MisfitError, RecursionError):
        return {}


class _Sampler:
    """Fills one schema."""

    def __init__(self, root: object) -> None:
        self._root = root
        self._left = MAX_VALUES

    def fit(self, schema: object, following: tuple[str, ...]) -> Any:
        """A value; `following` are the references that led here. Raises _MisfitError."""
        self._left -= 1
        if self._left < 0 or schema is False:
            raise _MisfitError
        if not isinstance(schema, dict):
            return TEXT
        if isinstance(reference := schema.get("$ref"), str):
            if reference in following:
                raise _MisfitError
            return self.fit({**self._definition(reference), **_without(schema, "$ref")}, (*following, reference))
        if isinstance(parts := schema.get("allOf"), list) and parts:
            return self.fit(self._merged(parts, _without(schema, "allOf")), following)
        for name in ("anyOf", "oneOf"):
            if isinstance(variants := schema.get(name), list) and variants:
                return self._first(variants, _without(schema, name), following)
        return self._plain(schema, following)

    def _plain(self, schema: Json, following: tuple[str, ...]) -> Any:
        if "const" in schema:
            return schema["const"]
        if isinstance(values := schema.get("enum"), list) and values:
            return next((value for value in values if value is not None), None)
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            return self._first([{"type": one} for one in kind], _without(schema, "type"), following)
        match str(kind).lower():  # Gemini writes types in capitals
            case "object":
                return self._object(schema, following)
            case "array":
                return self._array(schema, following)
            case "integer":
                return _whole(schema)
            case "number":
                return _number(schema)
            case "boolean":
                return True
            case "null":
                return None
        return _text(schema)

    def _first(self, variants: Iterable[Any], beside: Json, following: tuple[str, ...]) -> Any:
        """The first variant that can be filled; null only if there is no other."""
        for variant in sorted(variants, key=lambda one: isinstance(one, dict) and one.get("type") == "null"):
            try:
                return self.fit({**beside, **variant} if isinstance(variant, dict) else variant, following)
            except _MisfitError:
                continue
        raise _MisfitError

    def _object(self, schema: Json, following: tuple[str, ...]) -> dict[str, Any]:
        properties, required = schema.get("properties"), schema.get("required")
        properties = properties if isinstance(properties, dict) else {}
        required = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        more = schema.get("additionalProperties")
        if not properties and isinstance(more, dict):
            properties = {TEXT: more}
        filled: dict[str, Any] = dict.fromkeys((name for name in required if name not in properties), TEXT)
        for name, inner in properties.items():
            try:
                filled[name] = self.fit(inner, following)
            except _MisfitError:
                if name in required:
                    raise
        return filled

    def _array(self, schema: Json, following: tuple[str, ...]) -> list[Any]:
        least, most = _count(schema, "minItems", 0), _count(schema, "maxItems", MAX_ITEMS)
        first = schema.get("prefixItems")
        filled = [self.fit(item, following) for item in first] if isinstance(first, list) else []
        while len(filled) < min(max(least, 1), most):
            try:
                filled.append(self.fit(schema.get("items"), following))
            except _MisfitError:
                if len(filled) < least:
                    raise
                break
        return filled

    def _definition(self, reference: str) -> dict[str, Any]:
        """What a reference within this schema points at; an empty schema if it points nowhere."""
        found: Any = self._root
        for step in reference.removeprefix("#").split("/")[1:]:
            found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}

    def _merged(self, parts: list[Any], beside: Json) -> Json:
        """Schemas that all hold, as one."""
        merged: dict[str, Any] = dict(beside)
        for part in parts:
            if not isinstance(part, dict):
                continue
            reference = part.get("$ref")
            known = self._definition(reference) if isinstance(reference, str) else {}
            whole = {**known, **_without(part, "$ref")}
            for name in ("properties", "required"):
                if name in whole and type(merged.get(name)) is type(whole[name]):
                    whole[name] = whole[name] | merged[name] if name == "properties" else whole[name] + merged[name]
            merged |= whole
        return merged


def _whole(schema: Json) -> int:
    low = _tightest(max, _bound(schema, "minimum", math.ceil), _bound(schema, "exclusiveMinimum", _above))
    high = _tightest(min, _bound(schema, "maximum", math.floor), _bound(schema, "exclusiveMaximum", _below))
    value = _between(low, high, PLAIN_WHOLE)
    return int(_stepped(math.ceil(value), high, _step(schema) or 1))


def _number(schema: Json) -> float:
    low = _tightest(max, _bound(schema, "minimum"), _bound(schema, "exclusiveMinimum"))
    high = _tightest(min, _bound(schema, "maximum"), _bound(schema, "exclusiveMaximum"))
    value, step = _between(low, high, PLAIN_NUMBER), _step(schema)
    return _stepped(value, high, step) if step else value


def _between(low: float | None, high: float | None, plain: float) -> float:
    """`plain` if it lies between, else the middle, else one beyond the only bound."""
    if (low is None or low < plain) and (high is None or plain < high):
        return plain
    if low is not None and high is not None:
        return (low + high) / 2
    return low + 1 if low is not None else (high or 0) - 1


def _stepped(value: float, high: float | None, step: float) -> float:
    stepped = math.ceil(value / step) * step
    return stepped if high is None or stepped <= high else stepped - step


def _text(schema: Json) -> str:
    form = schema.get("format")
    if isinstance(form, str) and form in FORMATS:
        return FORMATS[form]
    least, most = _count(schema, "minLength", 0), _count(schema, "maxLength", len(TEXT))
    return (TEXT * (least // len(TEXT) + 1))[: max(least, min(most, len(TEXT)))]


def _bound(schema: Json, name: str, reading: Callable[[float], float] = float) -> float | None:
    value = schema.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > MAX_NUMBER:
        return None
    return reading(value)


def _above(bound: float) -> int:
    return math.floor(bound) + 1


def _below(bound: float) -> int:
    return math.ceil(bound) - 1


def _tightest(pick: Callable[[list[float]], float], *bounds: float | None) -> float | None:
    known = [bound for bound in bounds if bound is not None]
    return pick(known) if known else None


def _step(schema: Json) -> float | None:
    step = _bound(schema, "multipleOf")
    return step if step is not None and step >= MIN_STEP else None


def _count(schema: Json, name: str, otherwise: int) -> int:
    value = schema.get(name)
    return min(max(value, 0), MAX_ITEMS) if type(value) is int else otherwise


def _without(schema: Json, name: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != name}
