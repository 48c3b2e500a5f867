"""Errors that nobody knows, from the provider's answer to the request's record."""

import pytest
from prometheus_client import REGISTRY

from resilience.core.classify import ErrorRule
from resilience.core.kinds import Kind

from .harness import ROLE, Gateway, Reply, chat, chunk, event, failing
from .harness import streaming as stream_of


def counted(provider: str) -> float:
    return REGISTRY.get_sample_value("omniroute_unmatched_errors_total", {"provider": provider}) or 0.0


async def test_the_record_says_by_what_each_attempt_was_decided_and_holds_what_nobody_knows(gateway: Gateway) -> None:
    before = counted("a"), counted("b")
    gateway.provider("a", failing(503, message="engine 7 is cold"))
    gateway.provider("b", Reply(429, {"error": {"message": "no", "code": "insufficient_quota"}}))
    gateway.provider("c", failing(418), error_rules=(ErrorRule(418, None, None, Kind.OVERLOADED, None, "teapot"),))
    await gateway.ask()
    [record] = gateway.records
    assert [line["decided_by"] for line in record.targets] == ["status", "code", "rule"]
    [(provider, failure)] = record.unmatched
    assert (provider, failure.unmatched and failure.unmatched.example) == ("a", "engine 7 is cold")
    assert (counted("a") - before[0], counted("b") - before[1]) == (1, 0)


@pytest.mark.parametrize("events", [(ROLE,), (ROLE, chunk("hel"))])
async def test_an_error_inside_a_stream_is_collected_too(gateway: Gateway, events: tuple[bytes, ...]) -> None:
    gateway.provider("a", stream_of(*events, event({"error": {"message": "engine is cold"}})))
    await gateway.ask(chat(stream=True))
    [(_, failure)] = gateway.records[0].unmatched
    assert failure.decided_by == "nothing"


async def test_a_provider_that_was_not_reached_said_nothing_to_collect(gateway: Gateway) -> None:
    gateway.provider("a", Reply(200, b""))
    await gateway.ask()
    [record] = gateway.records
    assert not record.unmatched
    assert "decided_by" not in record.targets[0]
