"""What the simulated model fills into a schema fits it."""

from datetime import datetime
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal
from uuid import UUID

import orjson
import pytest
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, TypeAdapter

from routing.simulator.sample import MAX_VALUES, sample

Json = dict[str, Any]


class Colour(Enum):
    RED = "red"


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(gt=8, lt=10)


class Dog(BaseModel):
    kind: Literal["dog"]


class Node(BaseModel):
    """Refers to itself in each way that can end."""

    value: int
    parent: "Node | None" = None
    children: list["Node"] = []


class Everything(BaseModel):
    model_config = ConfigDict(extra="forbid")

    node: Node
    colour: Colour
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    share: float = Field(ge=0, le=1)
    open_share: float = Field(gt=0.25, lt=0.5)
    far: int = Field(ge=1000)
    deep: int = Field(le=-1000)
    even: int = Field(multiple_of=8, le=100)
    price: Decimal = Field(gt=0)
    several: list[Annotated[str, Field(min_length=9, max_length=10)]] = Field(min_length=3)
    none: list[int] = Field(max_length=0)
    pair: tuple[int, str]
    short: str = Field(max_length=2)
    counts: dict[str, int]
    at: datetime
    id: UUID
    page: AnyUrl
    host: IPv4Address
    maybe: Annotated[int, Field(ge=20)] | None
    nothing: None


@pytest.mark.parametrize("type_", [Everything, Node, Cat, list[Node], int | None, Literal[3], dict[str, Node]])
def test_what_pydantic_describes_it_takes(type_: Any) -> None:
    adapter = TypeAdapter(type_)
    adapter.validate_json(orjson.dumps(sample(adapter.json_schema())))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "OBJECT", "properties": {"a": {"type": "INTEGER", "nullable": True}}}, {"a": 7}),
        ({"type": ["null", "number"], "maximum": 3}, 2),
        ({"anyOf": [{"type": "null"}, {"enum": [None, "b"]}]}, "b"),
        ({"oneOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"const": 4}}}, 4),
        ({"allOf": [{"$ref": "#/$defs/a"}, {"properties": {"q": {}}}], "$defs": {"a": {"properties": {"p": {}}}}},
         {"p": "sample", "q": "sample"}),
        ({"type": "integer", "exclusiveMinimum": 7}, 9),
        ({"type": "integer", "minimum": 0.5, "maximum": 2.5, "multipleOf": 2}, 2),
        ({"type": "number", "exclusiveMaximum": 0}, -1),
        ({"type": "array", "prefixItems": [{"type": "boolean"}], "items": {"type": "null"}, "minItems": 2}, [True, None]),
        ({"type": "object", "required": ["x"]}, {"x": "sample"}),
        ({"type": "string", "format": "date"}, "2026-01-02"),
        ({"$ref": "#/$defs/missing"}, "sample"),
        ({}, "sample"),
    ],
)  # fmt: skip
def test_values(schema: Json, value: object) -> None:
    assert sample(schema) == value


def test_what_cannot_be_met_is_an_empty_object() -> None:
    endless = {"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a"]}}}
    assert [sample(schema) for schema in (endless, False, {"anyOf": [False]})] == [{}, {}, {}]


def test_a_few_lines_do_not_become_gigabytes() -> None:
    """Each definition holds the next one twice."""
    twice = {
        f"d{n}": {"properties": {"a": {"$ref": f"#/$defs/d{n + 1}"}, "b": {"$ref": f"#/$defs/d{n + 1}"}}}
        for n in range(60)
    }
    assert len(str(sample({"$ref": "#/$defs/d0", "$defs": twice}))) < 20 * MAX_VALUES
