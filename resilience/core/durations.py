"""Times as providers write them, read as seconds from now: numbers, epochs, Go durations, dates, prose.

Every function answers None for what it cannot read; negative, NaN and infinite values count as unreadable.
"""

import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

EPOCH_FROM = 1e9
"""A number of seconds from here on is a point in time: as a duration it would be 31 years."""
EPOCH_MILLISECONDS_FROM = 1e11
"""A point in time from here on is in milliseconds: in seconds it would be the year 5138."""

LONGEST_VALUE = 64
"""A value with more characters than this is no time."""

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NUMBER = re.compile(r"\+?\d+(?:\.\d*)?", re.ASCII)
_GO_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d))+", re.ASCII)
_GO_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ]| at )\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s?(?:[Zz]|[+-]\d\d:?\d\d)?", re.ASCII)

_WORD_UNITS = {
    word: seconds
    for words, seconds in (
        ("ms msec msecs millisecond milliseconds", 1e-3),
        ("s sec secs second seconds", 1.0),
        ("m min mins minute minutes", 60.0),
        ("h hr hrs hour hours", 3600.0),
        ("d day days", 86_400.0),
        ("w week weeks", 604_800.0),
    )
    for word in words.split()
}
_UNIT = "|".join(sorted(_WORD_UNITS, key=len, reverse=True))
_AMOUNT = rf"\d{{1,12}}(?:\.\d{{1,12}})? ?(?:{_UNIT})(?![a-z])"
_AMOUNT_PART = re.compile(rf"(\d{{1,12}}(?:\.\d{{1,12}})?) ?({_UNIT})(?![a-z])", re.ASCII)
_LEAD = r"(?:try(?:ing)? again|retry(?:ing)?|resets?|resetting|renews?|available|available again|wait(?:ing)?)"
_LINK = r"(?:[-:= ]{0,2}(?:in|after|for|at least|another|about|approximately|around)){0,3}[-:= ]{0,2}"
_PROSE = re.compile(rf"\b{_LEAD}{_LINK}({_AMOUNT}(?:(?:,| and|, and)? ?{_AMOUNT}){{0,4}})")
_BARE_SECONDS = re.compile(r"\bretry[- ]after\"?[:=]? ?\"?(\d{1,12}(?:\.\d{1,12})?)(?![\w.]*[a-z%])", re.ASCII)
_MOMENT_IN_PROSE = re.compile(
    rf"\b(?:again|resets?|available|access|wait|retry)(?: (?:at|on|until|after|again)){{1,2}} ({_MOMENT.pattern.lower()})",
    re.ASCII,
)


def number(value: object) -> float | None:
    """A plain number, also one in a string; bounded, so that it can be calculated with."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _usable(value)
    if isinstance(value, str) and len(value) <= LONGEST_VALUE and _NUMBER.fullmatch(value.strip()):
        return _usable(float(value))
    return None


def seconds_from_now(value: object, now: datetime) -> float | None:
    """Seconds from now of a number (above 1e9 an epoch), a Go duration, an RFC 3339 time or an HTTP date."""
    amount = number(value)
    if amount is not None:
        return until_epoch(amount, now) if amount >= EPOCH_FROM else amount
    if not isinstance(value, str) or len(value) > LONGEST_VALUE:
        return None
    text = value.strip()
    duration = go_duration(text)
    return duration if duration is not None else until_moment(text, now)


def until_epoch(epoch: float, now: datetime) -> float | None:
    """Seconds until a point in time, in epoch seconds or milliseconds."""
    seconds = epoch / 1000 if epoch >= EPOCH_MILLISECONDS_FROM else epoch
    return _usable(seconds - now.timestamp())


def go_duration(text: str) -> float | None:
    """Seconds of `1m30s`, `6ms`, `39.5s`; of Google's durations, too."""
    compact = text.strip().lower()
    if len(compact) > LONGEST_VALUE or not _GO_DURATION.fullmatch(compact):
        return None
    return _usable(sum(float(amount) * _UNITS[unit] for amount, unit in _GO_PART.findall(compact)))


def until_moment(text: str, now: datetime) -> float | None:
    """Seconds until an RFC 3339 time or an HTTP date (RFC 9110 section 5.6.7). Without a zone it is UTC."""
    try:
        if _MOMENT.fullmatch(text):
            moment = datetime.fromisoformat(text.upper().replace(" AT ", " ").replace(" Z", "Z").strip())
        elif ":" in text and len(text) <= LONGEST_VALUE:
            moment = parsedate_to_datetime(text)
        else:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return _usable((moment - now).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):  # the standard library raises any of them for nonsense
        return None


def in_prose(text: str, now: datetime) -> float | None:
    """Seconds that a sentence names: "try again in 4.77s", "retry after 75 seconds", "resets in 3 days"."""
    sentence = " ".join(text.lower().split())  # one space between words keeps the patterns linear
    if found := _PROSE.search(sentence):
        return _usable(sum(float(amount) * _WORD_UNITS[unit] for amount, unit in _AMOUNT_PART.findall(found[1])))
    if found := _MOMENT_IN_PROSE.search(sentence):
        return until_moment(found[1], now)
    if found := _BARE_SECONDS.search(sentence):
        return seconds_from_now(found[1], now)
    return None


def _usable(seconds: float) -> float | None:
    """The number as a float if it is one to reckon with: an int of 400 digits is none."""
    try:
        amount = float(seconds)
    except OverflowError:
        return None
    return amount if math.isfinite(amount) and amount >= 0 else None
