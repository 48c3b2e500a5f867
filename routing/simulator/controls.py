"""The HTTP face of the control table and the log: `/control/…`. Plain JSON, no keys: it listens on loopback."""

from typing import NamedTuple

import orjson

from routing.simulator.behaviour import ControlError, Mode, describe
from routing.simulator.http import JSON, Request, response_head
from routing.simulator.providers import FORMATS, Providers

PREFIX = "/control/"


class Reply(NamedTuple):
    """A status and the document that goes with it."""

    status: int
    document: object

    def encode(self) -> bytes:
        """The whole answer as bytes."""
        body = orjson.dumps(self.document, option=orjson.OPT_APPEND_NEWLINE)
        return response_head(self.status, {"content-type": JSON, "content-length": str(len(body))}) + body


def handle(request: Request, providers: Providers) -> Reply:
    """Answer one request to `/control/…`, or to a path of nobody."""
    if not request.path.startswith(PREFIX):
        return Reply(404, {"error": f"nothing at {request.path}; formats: {', '.join(FORMATS)}; controls: {PREFIX}"})
    name = request.path.removeprefix(PREFIX)
    try:
        if name == "log":
            return handle_log(request, providers)
        return handle_name(request, providers, name) if name else handle_table(request, providers)
    except ControlError as refusal:
        modes = [mode.value for mode in Mode]
        return Reply(400, {"error": str(refusal), "modes": modes, "formats": list(FORMATS)})


def handle_table(request: Request, providers: Providers) -> Reply:
    """`GET` lists what is set by name, `DELETE` forgets all of it."""
    if request.method == "DELETE":
        providers.control.clear()
    elif request.method != "GET":
        return Reply(405, {"error": "allowed here: GET, DELETE"})
    return Reply(200, providers.control.describe())


def handle_name(request: Request, providers: Providers, name: str) -> Reply:
    """`PUT` sets a behaviour, `GET` shows it, `DELETE` forgets it."""
    control = providers.control
    if request.method == "PUT":
        return Reply(200, {"name": name, **describe(control.put(name, request.body))})
    if request.method == "DELETE":
        control.delete(name)
    elif request.method != "GET":
        return Reply(405, {"error": "allowed here: GET, PUT, DELETE"})
    return Reply(200, {"name": name, **control.shown(name)})


def handle_log(request: Request, providers: Providers) -> Reply:
    """`GET` lists the last requests, oldest first; `?name=` those of one control name, `?bodies=true` with what was sent. `DELETE` forgets them."""
    if request.method == "DELETE":
        providers.log.clear()
    elif request.method != "GET":
        return Reply(405, {"error": "allowed here: GET, DELETE"})
    name, with_body = request.query.get("name", ""), request.query.get("bodies") == "true"
    return Reply(200, [entry.describe(with_body=with_body) for entry in providers.log.named(name)])
