"""Any text, cut into any pieces and dying anywhere, reaches the client once, or the client is told that it is not whole."""

import json
from collections.abc import Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from resilience.core.kinds import Kind
from resilience.core.outcome import Failure
from routing.adapters.base import Exchange, Usage
from routing.adapters.sent import Sent
from routing.chains import Target
from routing.dialects import DIALECTS
from routing.job import Broken
from routing.rescue import DIVERGED, RescueExchange
from routing.sse import EventReader
from routing.table import Connection, ModelFacts, Provider

from .dying import FORMATS, PATHS, asked_by, streamed, text_of
from .harness import Answer

DIED = Failure(kind=Kind.TRANSIENT)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
cuts = st.lists(st.integers(0, 40), max_size=6)
clients = st.sampled_from(list(PATHS))
formats = st.sampled_from(list(FORMATS))


def pieces_of(text: str, places: Sequence[int]) -> list[str]:
    bounds = sorted({min(place, len(text)) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(bounds)]


def pair(client: str, format_: str, *, prefill: bool = False) -> Exchange:
    dialect = DIALECTS[PATHS[client]]
    request = dialect.parse(json.dumps(asked_by(client)).encode(), {})
    connection = Connection("p", "main", "https://p.invalid/v1", api_key="k")
    return dialect.pair(
        request,
        Target(
            Provider("p", "P", format_, "", connections=(connection,)),
            connection,
            "m",
            ModelFacts(supports_prefill=prefill),
        ),
        None,
    )


def answer_of(body: bytes) -> Answer:
    return Answer([{"type": "http.response.body", "body": body}])


def played(exchange: Exchange, stream: Any, split: int) -> bytes:
    """What the client gets for a stream that comes in pieces of `split` bytes."""
    body, reader, output = b"".join(one for one in stream if isinstance(one, bytes)), EventReader(), b""
    exchange.request()
    for start in range(0, len(body), split):
        for event in reader.feed(body[start : start + split]):
            if exchange.error is None:
                output += exchange.feed(event)
    return output


def continued(begun: Exchange, asking: Exchange) -> RescueExchange:
    continuation = begun.continuation()
    assert begun.sent is not None
    assert continuation is not None
    job: Any = SimpleNamespace(usage=Usage())
    return RescueExchange(asking, Broken(DIED, begun, begun.sent, continuation), job)


@settings(deadline=None)
@given(
    client=clients,
    first=formats,
    second=formats,
    text=texts,
    died_at=st.integers(1, 40),
    places=cuts,
    split=st.integers(1, 300),
)
def test_the_same_text_is_heard_once(
    client: str, first: str, second: str, text: str, died_at: int, places: list[int], split: int
) -> None:
    begun = pair(client, first)
    begun.sent = Sent()
    heard = played(begun, streamed(client, first, *pieces_of(text[:died_at], places), ends=False).stream, split)
    rescue = continued(begun, pair(client, second))
    heard += played(rescue, streamed(client, second, *pieces_of(text, places)).stream, split)
    assert (rescue.error, rescue.finished) == (None, True)
    assert text_of(answer_of(heard + rescue.end()), client) == text


@settings(deadline=None)
@given(client=clients, second=formats, text=texts, other=texts, places=cuts)
def test_another_text_is_not_heard(client: str, second: str, text: str, other: str, places: list[int]) -> None:
    begun = pair(client, "azure")
    begun.sent = Sent()
    heard = played(begun, streamed(client, "azure", text, ends=False).stream, 999)
    rescue = continued(begun, pair(client, second))
    more = played(rescue, streamed(client, second, *pieces_of(other, places)).stream, 999)
    if other.startswith(text):
        assert text_of(answer_of(heard + more + rescue.end()), client) == other
    else:
        assert (rescue.error, rescue.finished, more) == (DIVERGED, False, b"")


@settings(deadline=None)
@given(client=clients, second=formats, text=texts, died_at=st.integers(1, 40), places=cuts)
def test_a_model_that_goes_on_is_heard_whole(
    client: str, second: str, text: str, died_at: int, places: list[int]
) -> None:
    text = f"Once upon a time there {text}."
    sent = text[: min(22 + died_at, len(text) - 1)]
    begun = pair(client, "azure")
    begun.sent = Sent()
    heard = played(begun, streamed(client, "azure", sent, ends=False).stream, 999)
    rescue = continued(begun, pair(client, second, prefill=True))
    rest = text.removeprefix(sent.rstrip())
    heard += played(rescue, streamed(client, second, *pieces_of(rest, places)).stream, 999)
    assert rescue.error is None
    assert text_of(answer_of(heard + rescue.end()), client) == text
