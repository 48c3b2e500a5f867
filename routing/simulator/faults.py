"""From a good answer and a behaviour to what happens on the socket: a list of steps, made without touching one."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

import orjson

from routing.simulator.behaviour import SPOKEN_ERRORS, Behaviour, Mode
from routing.simulator.http import EVENT_STREAM, JSON, LAST_CHUNK, chunk, response_head
from routing.simulator.wire import Answer, ErrorAnswer, Format

BAD_GATEWAY = (
    b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n"
    b"<hr><center>cloudfront</center>\r\n</body>\r\n</html>\r\n"
)
NOT_JSON = b'{"id": "sim", "choices": [{"index": 0, "mess\xff\xfe'
BROKEN_EVENTS = (b'data: {"id": "sim", "choi\n\n', b"data: \xff\xfe\xfa\n\n", b"not a field of an event stream\n\n")
DEFAULT_AFTER = 3  # events with content before a stream breaks


class End(Enum):
    """How an answer may end other than by its last byte."""

    CLOSE = auto()  # FIN
    RESET = auto()  # RST
    HANG = auto()  # nothing more, until the client leaves


@dataclass(frozen=True, slots=True)
class Pause:
    """Seconds of silence."""

    seconds: float


Step: TypeAlias = bytes | Pause | End


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do for one request; `status` is None when no status line is sent."""

    status: int | None
    steps: list[Step]


@dataclass(frozen=True, slots=True)
class Scene:
    """One request to be answered: everything the modes below need."""

    wire: Format
    answer: Answer
    behaviour: Behaviour
    headers: dict[str, str]
    chunked: bool

    @property
    def mode(self) -> Mode:
        """The mode in force."""
        return self.behaviour.mode


def plan(scene: Scene) -> Plan:
    """The steps for one request."""
    behaviour = scene.behaviour
    if behaviour.mode in _SCRIPTS:
        made = _SCRIPTS[behaviour.mode](scene)
    elif behaviour.mode in SPOKEN_ERRORS and not scene.answer.shows_mode:
        made = spoken(scene, error_of(scene, behaviour.mode))
    else:
        made = whole(scene)
    if behaviour.first_byte_delay:
        made.steps.insert(0, Pause(behaviour.first_byte_delay))
    return made


def error_of(scene: Scene, mode: Mode) -> ErrorAnswer:
    """The error of a mode in the format's words."""
    return scene.wire.error(mode, scene.answer.model, scene.behaviour)


def spoken(scene: Scene, error: ErrorAnswer) -> Plan:
    """An error with its status."""
    return Plan(error.status, [document_bytes(scene, error.status, orjson.dumps(error.document), error.headers)])


def document_bytes(
    scene: Scene, status: int, body: bytes, headers: dict[str, str] | None = None, *, kind: str = JSON
) -> bytes:
    """A whole answer of known length."""
    fields = {"content-type": kind, "content-length": str(len(body))} | scene.headers | (headers or {})
    return response_head(status, fields) + body


def stream_head(scene: Scene) -> bytes:
    """The head of an event stream; chunked, or ended by the close where the client knows no chunks."""
    framing = {"transfer-encoding": "chunked"} if scene.chunked else {"connection": "close"}
    return response_head(200, {"content-type": EVENT_STREAM, "cache-control": "no-cache"} | framing | scene.headers)


def framed(scene: Scene, event: bytes) -> bytes:
    """An event as it goes over the wire."""
    return chunk(event) if scene.chunked else event


def ending(scene: Scene) -> Step:
    """The proper end of an event stream's body."""
    return LAST_CHUNK if scene.chunked else End.CLOSE


def streamed(scene: Scene, events: int | None = None) -> list[Step]:
    """Head and events of a stream, up to and with `events` events of content; the gap lies between them."""
    chosen = scene.answer.events if events is None else scene.answer.events[: scene.answer.lead + events]
    gap = scene.behaviour.event_gap
    if not gap:
        return [b"".join([stream_head(scene), *(framed(scene, event) for event in chosen)])]
    steps: list[Step] = [stream_head(scene)]
    for index, event in enumerate(chosen):
        if index > scene.answer.lead:  # the lead and the first word come at once
            steps.append(Pause(gap))
        steps.append(framed(scene, event))
    return steps


def broken(scene: Scene) -> list[Step]:
    """A stream up to where it is to break."""
    after = scene.behaviour.after
    return streamed(scene, DEFAULT_AFTER if after is None else after)


def whole(scene: Scene) -> Plan:
    """The good answer."""
    if scene.answer.stream:
        return Plan(200, [*streamed(scene), ending(scene)])
    return Plan(200, [document_bytes(scene, 200, orjson.dumps(scene.answer.document))])


def half(scene: Scene) -> bytes:
    """A document that stops in the middle though its length says otherwise."""
    body = orjson.dumps(scene.answer.document)
    return document_bytes(scene, 200, body)[: -len(body) // 2]


def bad_gateway(scene: Scene) -> Plan:
    """The HTML page of a proxy in front of the provider."""
    status = scene.behaviour.status or 502
    headers = {"server": "CloudFront"}
    return Plan(status, [document_bytes(scene, status, BAD_GATEWAY, headers, kind="text/html")])


def timeout(_scene: Scene) -> Plan:
    """Take the request and never answer."""
    return Plan(None, [End.HANG])


def disconnect(_scene: Scene) -> Plan:
    """Take the request and close."""
    return Plan(None, [End.CLOSE])


def reset(scene: Scene) -> Plan:
    """Reset the connection; with `after`, in the middle of a stream."""
    if scene.answer.stream and scene.behaviour.after is not None:
        return Plan(200, [*broken(scene), Pause(0.02), End.RESET])  # a reset at once would overtake the events
    return Plan(None, [End.RESET])


def cut(scene: Scene) -> Plan:
    """Close in the middle of a chunk, or of a document."""
    if not scene.answer.stream:
        return Plan(200, [half(scene), End.CLOSE])
    torn = [b"400\r\ndata: "] if scene.chunked else [b"data: "]  # a chunk of 1,024 bytes that brings six
    return Plan(200, [*broken(scene), *torn, End.CLOSE])


def stall(scene: Scene) -> Plan:
    """Stop talking in the middle, without closing."""
    begun: list[Step] = broken(scene) if scene.answer.stream else [half(scene)]
    return Plan(200, [*begun, End.HANG])


def malformed(scene: Scene) -> Plan:
    """Bytes that are not JSON."""
    if not scene.answer.stream:
        return Plan(200, [document_bytes(scene, 200, NOT_JSON)])
    begun = [stream_head(scene)] if scene.behaviour.after is None else broken(scene)
    return Plan(200, [*begun, *(framed(scene, event) for event in BROKEN_EVENTS), ending(scene)])


def empty(scene: Scene) -> Plan:
    """A 200 that brings nothing: no body, or a stream that ends before its first content."""
    if not scene.answer.stream:
        return Plan(200, [document_bytes(scene, 200, b"")])
    return Plan(200, [*streamed(scene, 0), ending(scene)])


def error_in_200(scene: Scene) -> Plan:
    """An error envelope under status 200; in a stream it is the first event."""
    error = error_of(scene, scene.behaviour.error)
    if not scene.answer.stream:
        return Plan(200, [document_bytes(scene, 200, orjson.dumps(error.document))])
    return Plan(200, [stream_head(scene), framed(scene, scene.wire.error_event(error)), ending(scene)])


def error_in_stream(scene: Scene) -> Plan:
    """Content, then an error event and a proper end of the body; unstreamed, the plain error."""
    error = error_of(scene, scene.behaviour.error)
    if not scene.answer.stream:
        return spoken(scene, error)
    return Plan(200, [*broken(scene), framed(scene, scene.wire.error_event(error)), ending(scene)])


_SCRIPTS: dict[Mode, Callable[[Scene], Plan]] = {
    Mode.BAD_GATEWAY: bad_gateway,
    Mode.TIMEOUT: timeout,
    Mode.RESET: reset,
    Mode.CUT: cut,
    Mode.STALL: stall,
    Mode.MALFORMED: malformed,
    Mode.EMPTY: empty,
    Mode.ERROR_IN_200: error_in_200,
    Mode.ERROR_IN_STREAM: error_in_stream,
    Mode.DISCONNECT_BEFORE_HEADERS: disconnect,
}
