"""What a simulated provider does, and who decided so: modes, behaviours and the control table."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class Mode(StrEnum):
    """The ways to answer. docs/simulator.md says what each looks like on the wire."""

    OK = "ok"
    RATE_LIMIT = "rate_limit"
    QUOTA = "quota"
    ERROR = "error"
    OVERLOADED = "overloaded"
    BAD_GATEWAY = "bad_gateway"
    AUTH = "auth"
    MODEL_MISSING = "model_missing"
    CONTEXT_LENGTH = "context_length"
    CONTENT_FILTER = "content_filter"
    INVALID = "invalid"
    TIMEOUT = "timeout"
    SLOW = "slow"
    RESET = "reset"
    CUT = "cut"
    STALL = "stall"
    MALFORMED = "malformed"
    EMPTY = "empty"
    ERROR_IN_200 = "error_in_200"
    ERROR_IN_STREAM = "error_in_stream"
    DISCONNECT_BEFORE_HEADERS = "disconnect_before_headers"


# Modes that a provider says in words: each format has an error document for every one of them.
SPOKEN_ERRORS = (
    Mode.RATE_LIMIT, Mode.QUOTA, Mode.ERROR, Mode.OVERLOADED, Mode.AUTH, Mode.MODEL_MISSING, Mode.CONTEXT_LENGTH,
    Mode.CONTENT_FILTER, Mode.INVALID,
)  # fmt: skip

Seconds = Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=100_000)]


class Behaviour(BaseModel):
    """How requests under one control name are answered. Durations are seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    mode: Mode = Mode.OK
    rate: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 1.0  # share of requests that get the mode
    seed: int | None = None  # makes `rate` repeatable
    times: Count | None = None  # so many requests get the mode, later ones are ok
    models: tuple[str, ...] = ()  # patterns (gpt-*); empty: every model
    latency: Seconds | None = None  # before the first byte
    gap: Seconds | None = None  # between two events of a stream
    retry_after: Seconds | None = None  # told by every error that has a status
    after: Count | None = None  # events with content before a stream breaks
    error: Mode = Mode.ERROR  # which error is said by error_in_200 and error_in_stream
    status: Annotated[int, Field(ge=200, le=999)] | None = None  # instead of the error's own status
    message: Annotated[str, Field(max_length=10_000)] | None = None  # instead of the error's own words
    headers: dict[str, str] = Field(default_factory=dict)  # added to every answer
    words: Annotated[int, Field(ge=0, le=20_000)] = 60  # length of an answer
    text: Annotated[str, Field(max_length=1_000_000)] | None = None  # the answer itself, instead of the made-up one

    @property
    def first_byte_delay(self) -> float:
        """Seconds before the first byte; mode slow has two of them unless told otherwise."""
        return (2.0 if self.mode is Mode.SLOW else 0.0) if self.latency is None else self.latency

    @property
    def event_gap(self) -> float:
        """Seconds between two events; mode slow uses its latency unless told otherwise."""
        if self.gap is not None:
            return self.gap
        return self.first_byte_delay if self.mode is Mode.SLOW else 0.0

    def spared(self) -> "Behaviour":
        """The same for a request that does not get the mode: ok, and not slowed down by mode slow."""
        latency = None if self.mode is Mode.SLOW else self.latency
        return self.model_copy(update={"mode": Mode.OK, "headers": {}, "latency": latency})


class ControlError(ValueError):
    """A control request that makes no sense; the message says what would."""


class Decision(NamedTuple):
    """What happens to one request: the control name that ruled ("" for none) and the behaviour to show."""

    name: str
    behaviour: Behaviour


DEFAULT = Decision("", Behaviour())


@dataclass(slots=True)
class _Slot:
    behaviour: Behaviour
    spared: Behaviour
    dice: random.Random
    hits: int = 0

    def next(self) -> Behaviour:
        behaviour = self.behaviour
        if behaviour.times is not None and self.hits >= behaviour.times:
            return self.spared
        if behaviour.rate < 1 and self.dice.random() >= behaviour.rate:
            return self.spared
        self.hits += 1
        return behaviour


@dataclass(slots=True)
class Control:
    """The table of behaviours by name: `{format}` for all keys, `{format}:{api key}` for one, which wins."""

    formats: tuple[str, ...]
    _slots: dict[str, _Slot] = field(default_factory=dict)

    def put(self, name: str, document: bytes) -> Behaviour:
        """Replace what is set under `name` by a JSON document. Raises ControlError."""
        self._check(name)
        try:
            behaviour = Behaviour.model_validate_json(document or b"{}")
        except ValidationError as error:
            raise ControlError(explain(error)) from error
        return self.set(name, behaviour)

    def set(self, name: str, behaviour: Behaviour) -> Behaviour:
        """Replace what is set under `name`. Raises ControlError for a name of no format."""
        self._check(name)
        if behaviour.error not in SPOKEN_ERRORS:
            raise ControlError(f"error: {behaviour.error} has no error document; allowed: {', '.join(SPOKEN_ERRORS)}")
        if any(not clean(part) for pair in behaviour.headers.items() for part in pair):
            raise ControlError("headers: control characters are not allowed")
        dice = random.Random(behaviour.seed)  # noqa: S311 (picks which requests fail, guards nothing)
        self._slots[name] = _Slot(behaviour, behaviour.spared(), dice)
        return behaviour

    def delete(self, name: str) -> None:
        """Forget what is set under `name`; fine if nothing is."""
        self._check(name)
        self._slots.pop(name, None)

    def shown(self, name: str) -> dict[str, object]:
        """What is in force under `name`: what was set, else the default."""
        self._check(name)
        return self.describe().get(name, describe(DEFAULT.behaviour))

    def clear(self) -> None:
        """Forget everything."""
        self._slots.clear()

    def decide(self, format_name: str, api_key: str, model: str) -> Decision:
        """The behaviour for one request; counts it against `times`."""
        if not self._slots:
            return DEFAULT
        for name in (f"{format_name}:{api_key}", format_name):
            slot = self._slots.get(name)
            if slot and matches(model, slot.behaviour.models):
                return Decision(name, slot.next())
        return DEFAULT

    def describe(self) -> dict[str, dict[str, object]]:
        """Everything set, by name, as JSON; `hits` counts the requests that got the mode."""
        return {name: describe(slot.behaviour) | {"hits": slot.hits} for name, slot in self._slots.items()}

    def _check(self, name: str) -> None:
        if name.partition(":")[0] not in self.formats:
            allowed = ", ".join(self.formats)
            raise ControlError(
                f"{name!r} names no format; allowed: {allowed}, each alone or followed by ':' and an API key"
            )


def describe(behaviour: Behaviour) -> dict[str, object]:
    """A behaviour as JSON: its mode, its rate, and whatever differs from the defaults."""
    shown: dict[str, object] = {"mode": behaviour.mode.value, "rate": behaviour.rate}
    return shown | behaviour.model_dump(mode="json", exclude_defaults=True)


def matches(model: str, patterns: Iterable[str]) -> bool:
    """Whether a model is meant by the patterns; no pattern means every model."""
    patterns = tuple(patterns)
    return not patterns or any(fnmatchcase(model, pattern) for pattern in patterns)


def clean(text: str) -> bool:
    """Whether a header name or value is free of control characters."""
    return all(ch.isprintable() for ch in text)


def explain(error: ValidationError) -> str:
    """A validation error in one line, naming the member and what is allowed there."""
    found: Mapping[str, object]
    lines = []
    for found in error.errors(include_url=False, include_input=False):
        where = ".".join(str(part) for part in found["loc"]) if isinstance(found["loc"], tuple) else ""
        if found["type"] == "extra_forbidden":
            lines.append(f"unknown member {where}; allowed: {', '.join(Behaviour.model_fields)}")
        else:
            lines.append(f"{where}: {found['msg']}" if where else str(found["msg"]))
    return "; ".join(lines)
