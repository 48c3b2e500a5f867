"""Retry hints: how long a provider asks us to stay away."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from .outcome import Hint


def parse_hint(
    headers: Mapping[str, str], body: object, text: str, now: datetime, max_cooldown: timedelta
) -> Hint | None:
    """The first hint found, clamped to [1 s, `max_cooldown`]; None if there is none that can be read."""
    raise NotImplementedError
