"""Looking into JSON."""

import re
from collections.abc import Iterator
from typing import Any

Json = Any


def as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def differs(found: Json, want: Json) -> str | None:
    return None if found == want else f"{found!r} instead of {want!r}"


def walk(value: Json, path: str) -> Json:
    """`choices.0.message` in nested objects and lists; None where there is nothing."""
    for part in path.split("."):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value.get(part)
        else:
            return None
    return value


def objects(value: Json) -> Iterator[dict[str, Json]]:
    """Every object, at any depth."""
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(child)


def find(value: Json, key: str) -> Iterator[Json]:
    return (found[key] for found in objects(value) if key in found)


def contains(value: Json, want: Json) -> bool:
    if isinstance(want, dict):
        return isinstance(value, dict) and all(key in value and contains(value[key], want[key]) for key in want)
    return bool(value == want)


def camel(value: Json) -> Json:
    if isinstance(value, dict):
        return {re.sub(r"_([a-z])", lambda m: m[1].upper(), key): camel(item) for key, item in value.items()}
    return [camel(item) for item in value] if isinstance(value, list) else value
