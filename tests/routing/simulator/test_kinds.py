"""What the simulator plays is what the gateway's classification sees."""

from datetime import UTC, datetime, timedelta

import orjson
import pytest

from resilience.core.classify import ErrorFormat, classify_http
from resilience.core.kinds import Kind
from routing.simulator.behaviour import SPOKEN_ERRORS, Behaviour, Mode
from routing.simulator.providers import PREFIXES

PLAYED = {
    Mode.RATE_LIMIT: Kind.RATE_LIMIT,
    Mode.QUOTA: Kind.QUOTA_EXHAUSTED,
    Mode.ERROR: Kind.TRANSIENT,
    Mode.OVERLOADED: Kind.OVERLOADED,
    Mode.AUTH: Kind.AUTH,
    Mode.MODEL_MISSING: Kind.MODEL_UNAVAILABLE,
    Mode.CONTEXT_LENGTH: Kind.CONTEXT_LENGTH,
    Mode.CONTENT_FILTER: Kind.CONTENT_FILTER,
    Mode.INVALID: Kind.INVALID_REQUEST,
}
WIRES = {wire.name: wire for _, wire in PREFIXES}


@pytest.mark.parametrize("mode", SPOKEN_ERRORS)
@pytest.mark.parametrize("name", WIRES)
def test_every_error_is_classified_as_the_kind_it_plays_with_its_hint(name, mode):
    error = WIRES[name].error(mode, "m-1", Behaviour(retry_after=7))
    wire = ErrorFormat.OPENAI if name == "azure" else ErrorFormat(name)
    now = datetime(2026, 11, 30, tzinfo=UTC)
    failure = classify_http(
        wire, error.status, error.headers, orjson.dumps(error.document), now=now, max_cooldown=timedelta(days=1)
    )
    assert failure.kind is PLAYED[mode]
    assert failure.hint is not None
    assert failure.hint.duration == timedelta(seconds=7)
