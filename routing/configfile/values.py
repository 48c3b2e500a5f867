"""The kinds of values a configuration file holds, as types that say what is allowed when they refuse one."""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from pydantic import BeforeValidator

from routing.http_values import validate_base_url, validate_headers, validate_pattern
from routing.models.base import MAX_PRIORITY, MAX_WEIGHT, MIN_WEIGHT, SLUG_PATTERN

MAX_NAME = 200
MAX_RULE_NAME = 100  # as wide as its column
MIN_CLIENT_KEY, MAX_CLIENT_KEY = 8, 500
ENV_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]{0,190}")
_YES, _NO = {"yes", "on", "Yes", "On", "YES", "ON"}, {"no", "off", "No", "Off", "NO", "OFF"}


def number(low: float, high: float, *, whole: bool = False) -> Callable[[Any], Any]:
    """Check for a number within bounds; texts, booleans, NaN and infinity are none."""

    def check(value: Any) -> float:
        usable = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
        if not usable or (whole and value != int(value)):
            raise ValueError(f"must be a {'whole ' if whole else ''}number from {plain(low)} to {plain(high)}")
        return int(value) if whole else float(value)

    return check


def plain(value: float) -> int | float:
    """Return a number as people write it: 30, not 30.0."""
    return int(value) if value == int(value) else value


def text(what: str, *, longest: int = MAX_NAME, pattern: str = r"[^\x00-\x1f\x7f]+", empty: bool = False) -> Any:
    """Check for a text that fits a pattern; `what` finishes "must be …"."""
    compiled = re.compile(pattern)

    def check(value: Any) -> str:
        if isinstance(value, str) and ((empty and not value) or (len(value) <= longest and compiled.fullmatch(value))):
            return value
        quotes = ": put it in quotes" if isinstance(value, int | float) else ""
        raise ValueError(f"must be {what}, at most {longest} characters{quotes}")

    return check


def one_of(values: Iterable[str]) -> Callable[[Any], str]:
    """Check for one of some texts."""
    allowed = list(values)

    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return value

    return check


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in _YES | _NO:
        return value in _YES
    raise ValueError("must be true or false")


def _django(validate: Callable[[Any], None], *, only_text: bool = True) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if only_text and not isinstance(value, str):
            raise ValueError("must be a text")
        try:
            validate(value)
        except ValidationError as error:
            raise ValueError(error.messages[0]) from error
        return value

    return check


def _price(value: Any) -> Decimal:
    number(0, 100_000)(value)
    return Decimal(str(value)).quantize(Decimal("0.000001")).normalize()


def check_api_key(value: Any) -> str:
    """Check for `env:NAME`, a key that a header can carry, or nothing."""
    if value is None or value == "":
        return ""
    if isinstance(value, str) and value.startswith("env:"):
        if not ENV_REFERENCE.fullmatch(value):
            raise ValueError("must name an environment variable after env:, such as env:OPENAI_API_KEY")
        return value
    if not isinstance(value, str) or not re.fullmatch(r"[!-~]{1,4000}", value):
        raise ValueError("must be env:NAME or a key of printable ASCII characters without spaces")
    return value


def _client_key(value: Any) -> str:
    if isinstance(value, str) and ENV_REFERENCE.fullmatch(value):
        return value
    if not isinstance(value, str) or not re.fullmatch(rf"[!-~]{{{MIN_CLIENT_KEY},{MAX_CLIENT_KEY}}}", value):
        raise ValueError(
            f"must be env:NAME or {MIN_CLIENT_KEY} to {MAX_CLIENT_KEY} printable ASCII characters without spaces"
        )
    return value


Flag = Annotated[bool, BeforeValidator(_flag)]
_SLUG: Any = {"what": "lower-case letters, digits and hyphens", "longest": 64, "pattern": SLUG_PATTERN}
Slug = Annotated[str, BeforeValidator(text(**_SLUG))]
OptionalSlug = Annotated[str, BeforeValidator(text(**_SLUG, empty=True))]
Name = Annotated[str, BeforeValidator(text("a text without control characters"))]
OptionalText = Annotated[str, BeforeValidator(text("a text without control characters", empty=True))]
RuleName = Annotated[str, BeforeValidator(text("a text without control characters", longest=MAX_RULE_NAME, empty=True))]
BaseUrl = Annotated[str, BeforeValidator(_django(validate_base_url))]
Headers = Annotated[dict[str, str], BeforeValidator(_django(validate_headers, only_text=False))]
Pattern = Annotated[str, BeforeValidator(_django(validate_pattern))]
ApiKey = Annotated[str, BeforeValidator(check_api_key)]
PresentedKey = Annotated[str, BeforeValidator(_client_key)]
Priority = Annotated[int, BeforeValidator(number(0, MAX_PRIORITY, whole=True))]
Weight = Annotated[float, BeforeValidator(number(MIN_WEIGHT, MAX_WEIGHT))]
Tokens = Annotated[int, BeforeValidator(number(1, 1_000_000_000, whole=True))]
Price = Annotated[Decimal, BeforeValidator(_price)]
