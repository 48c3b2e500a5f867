"""What every client asks: models of each format, and a forecast as tool and as structure."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

TARGETS = ["primary/gpt-4o", "azure/gpt-4o", "claude/claude-sonnet-4-5", "google/gemini-2.5-pro"]
every_target = pytest.mark.parametrize("model", TARGETS)

QUESTION = "Say something with a tool if you can"
MESSAGES: list[Any] = [{"role": "user", "content": QUESTION}]
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def get_weather(city: str, days: int = 3) -> str:
    """The weather in a city for some days."""
    return f"{days} days of rain in {city}"


class Place(BaseModel):
    city: str
    country: str | None = None


class Forecast(BaseModel):
    """The weather to come."""

    place: Place
    sky: Literal["clear", "rain"]
    days: int = Field(ge=1, le=10)
    degrees: list[float]
    nearby: list[Place] = []
    note: str | None = Field(None, description="What else there is to say")


SAMPLE = Place(city="sample", country="sample")
FORECAST = Forecast(place=SAMPLE, sky="clear", days=7, degrees=[7.5], nearby=[SAMPLE], note="sample")
