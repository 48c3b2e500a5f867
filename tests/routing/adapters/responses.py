"""Exchanges between a client of OpenAI's Responses and a provider that is only bytes; and what the SDK says of both."""

import json
from typing import Any

from openai import omit
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter

from routing.adapters.base import Answer, Exchange
from routing.dialects.responses import Responses
from routing.sse import EventReader
from routing.table import ModelFacts
from tests.routing.adapters.exchanges import NO_FACTS, Json, events, fed, target

_EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
_REQUEST: TypeAdapter[Any] = TypeAdapter(ResponseCreateParamsNonStreaming)

OPENAIS = "https://api.openai.com/v1"


def asking(
    format_: str = "openai",
    *,
    base: str = "",
    model: str = "",
    facts: ModelFacts = NO_FACTS,
    cap: int | None = None,
    **body: Any,
) -> Exchange:
    """`body`: members of the client's request; without input it says hi."""
    document = {"model": "chain", "input": "hi", **body}
    request = Responses().parse(json.dumps(document).encode(), {})
    return Responses().pair(request, target(format_, model, base=base, facts=facts), cap)


def told(format_: str = "openai", **wanted: Any) -> Json:
    """The body a provider gets."""
    document: Json = json.loads(asking(format_, **wanted).request().body)
    return document


def left_out(format_: str = "openai", **wanted: Any) -> tuple[str, ...]:
    asked = asking(format_, **wanted)
    asked.request()
    return asked.dropped_params


def heard(document: Any, format_: str = "openai", **wanted: Any) -> Json:
    """The response a client gets for a provider's answer, which the SDK takes for one."""
    asked = asking(format_, **wanted)
    asked.request()
    answer = asked.unary(json.dumps(document).encode(), {})
    assert isinstance(answer, Answer), answer
    response: Json = json.loads(answer.body)
    check_response(response)
    return response


def check_request(body: Json) -> None:
    _REQUEST.validate_python(body)


def check_response(response: Json) -> None:
    """Raises pydantic.ValidationError."""
    Response.model_validate(response)


def listened(*documents: Json, format_: str = "openai", done: bool = True, **wanted: Any) -> list[Json]:
    """The events a client gets for a provider's stream."""
    asked = asking(format_, stream=True, **wanted)
    asked.request()
    raw = fed(asked, events(*documents, named=format_ != "gemini") + (b"data: [DONE]\n\n" if done else b""))
    assert asked.error is None, asked.error
    assert asked.finished
    return read_events(raw + asked.end())


def read_events(raw: bytes) -> list[Json]:
    """Checks each event, and that the SDK's own accumulator heard what the last one says."""
    state: ResponseStreamState[Any] = ResponseStreamState(input_tools=omit, text_format=omit)
    found: list[Json] = []
    for event in EventReader().feed(raw):
        assert event.data is not None
        document = json.loads(event.data)
        assert event.name.decode() == document["type"]
        assert document["sequence_number"] == len(found)
        found.append(document)
        state.handle_event(_EVENT.validate_python(document))
    assert found[-1]["type"] in ("response.completed", "response.incomplete")
    snapshot = vars(state)["_ResponseStreamState__current_snapshot"].to_dict(warnings=False)
    last = found[-1]["response"]
    check_response(last)
    assert list(map(said_in, snapshot["output"])) == list(map(said_in, last["output"]))
    return found


def said_in(item: Json) -> tuple[Any, ...]:
    """What the SDK accumulates of an item."""
    texts = [part["text"] for part in item.get("content") or () if part["type"] == "output_text"]
    return item["type"], item["id"], texts, item.get("arguments")
