"""What the formats have in common: the shape of an answer, of an error, and what a format must be able to say."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import orjson

from routing.simulator.behaviour import Behaviour, Mode
from routing.simulator.http import Request

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """A good answer: one document, or the events of a stream as the bytes they are sent as."""

    model: str
    document: object = None
    events: Sequence[bytes] = ()
    lead: int = 0  # events before the first one with content
    shows_mode: bool = False  # the mode is said by this answer already (Gemini's content filter is a 200)

    @property
    def stream(self) -> bool:
        """Whether the client asked for a stream."""
        return bool(self.events)


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """An error as a provider says it."""

    status: int
    document: Json
    headers: dict[str, str] = field(default_factory=dict)


class InvalidRequestError(Exception):
    """The request itself is wrong, whatever the mode; said in the format's own words."""

    def __init__(self, status: int, message: str, *, code: str = "", model: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.model = status, message, code, model


class Format(Protocol):
    """A provider's wire format."""

    name: str

    def api_key(self, request: Request) -> str:
        """The key the request carries, "" for none."""
        ...

    def answer(self, request: Request, path: str, behaviour: Behaviour) -> Answer:
        """The good answer to a request; `path` is without the format's prefix. Raises InvalidRequestError."""
        ...

    def model(self, request: Request, path: str) -> str:
        """The model asked for, "" if the request names none; never raises."""
        ...

    def refusal(self, refused: InvalidRequestError) -> ErrorAnswer:
        """An InvalidRequestError in the format's words."""
        ...

    def error(self, mode: Mode, model: str, behaviour: Behaviour) -> ErrorAnswer:
        """The error of one of SPOKEN_ERRORS; `behaviour` may bring a retry_after, a status, a message."""
        ...

    def error_event(self, error: ErrorAnswer) -> bytes:
        """The same error inside a stream."""
        ...


def read_object(body: bytes) -> Json:
    """A request body that must be a JSON object. Raises InvalidRequestError."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidRequestError(400, f"We could not parse the JSON body of your request. ({error})") from error
    if not isinstance(document, dict):
        raise InvalidRequestError(400, "The JSON body of your request is not an object.")
    return document


def objects_in(value: object) -> list[Json]:
    """The objects in what should be a list of them."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def model_in(body: bytes) -> str:
    """The member `model` of a body; "" if there is none to be found."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    model = document.get("model") if isinstance(document, dict) else None
    return model if isinstance(model, str) else ""


def event(document: object, name: str = "") -> bytes:
    """A server-sent event."""
    head = b"event: %b\n" % name.encode() if name else b""
    return b"%bdata: %b\n\n" % (head, orjson.dumps(document))


def seconds(value: float) -> str:
    """A number of seconds as headers and messages write it: 7, 0.25."""
    return f"{value:g}" if value < 1e6 else str(int(value))
