"""One request in, one plan out: finds the format, asks the control table, notes the request in the log."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from routing.simulator.anthropic import Anthropic
from routing.simulator.azure import Azure
from routing.simulator.behaviour import Behaviour, Control, Mode
from routing.simulator.completion import next_number
from routing.simulator.faults import Plan, Scene, plan, spoken
from routing.simulator.gemini import Gemini
from routing.simulator.http import Request
from routing.simulator.openai import OpenAI
from routing.simulator.requestlog import MAX_BODY_BYTES, Entry, RequestLog
from routing.simulator.wire import Answer, Format, InvalidRequestError

PREFIXES: tuple[tuple[str, Format], ...] = (
    ("/openai/v1", OpenAI()),
    ("/anthropic/v1", Anthropic()),
    ("/gemini/v1beta", Gemini()),
    ("/gemini/v1", Gemini()),  # Google serves both, and its SDK chooses by its own age
    ("/azure", Azure()),
)
FORMATS = tuple(dict.fromkeys(wire.name for _, wire in PREFIXES))
_GOOD = Behaviour()


@dataclass(slots=True)
class Providers:
    """The simulated providers behind one server: the formats, what they are told to do, what they were asked."""

    control: Control = field(default_factory=lambda: Control(FORMATS))
    log: RequestLog = field(default_factory=RequestLog)
    clock: Callable[[], float] = time.time

    def answer(self, request: Request) -> tuple[Plan, Entry] | None:
        """What to do for a request, and its row in the log; None if the path belongs to no format."""
        for prefix, wire in PREFIXES:
            if request.path.startswith(prefix + "/"):
                return self._answer(wire, request, request.path[len(prefix) :])
        return None

    def _answer(self, wire: Format, request: Request, path: str) -> tuple[Plan, Entry]:
        api_key = wire.api_key(request)
        kept = request.body if len(request.body) <= MAX_BODY_BYTES else b""
        entry = Entry(self.clock(), wire.name, api_key, request.path, kept)
        self.log.add(entry)
        model = wire.model(request, path)
        decision = self.control.decide(wire.name, api_key, model)
        headers = {"x-request-id": f"req_sim{next_number()}"}
        try:
            require_key(api_key)
            answer = wire.answer(request, path, decision.behaviour)
        except InvalidRequestError as refused:
            scene = Scene(wire, Answer(model), _GOOD, headers, chunked=False)
            made, mode = spoken(scene, wire.refusal(refused)), Mode.INVALID
        else:
            headers |= decision.behaviour.headers
            scene = Scene(wire, answer, decision.behaviour, headers, chunked=request.chunked_allowed)
            made, mode = plan(scene), decision.behaviour.mode
            entry.stream = answer.stream
        entry.model, entry.mode, entry.status = model, mode.value, made.status
        return made, entry


def require_key(api_key: str) -> None:
    """Any key will do, none will not. Raises InvalidRequestError."""
    if not api_key:
        raise InvalidRequestError(401, "You didn't provide an API key.", code="invalid_api_key")
