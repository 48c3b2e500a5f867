"""Trying a connection against the simulated providers, and against nobody."""

import socket
from typing import Any

import pytest

from resilience.core.kinds import Kind
from routing.chains import NO_FACTS, Target
from routing.simulator import Simulator
from routing.table import Connection, Provider, Timeouts
from routing.trial import models_request, try_connection

PATHS = {"openai": "/openai/v1", "azure": "/azure", "anthropic": "/anthropic/v1", "gemini": "/gemini/v1beta"}
KEY = "kk-0123456789-secret"


def account(wire: str, base_url: str, **more: Any) -> tuple[Provider, Connection]:
    timeouts = more.pop("timeouts", Timeouts())
    connection = Connection("acme", "main", base_url, api_key=KEY, **more)
    return Provider("acme", "Acme", wire, base_url, timeouts=timeouts, connections=(connection,)), connection


@pytest.mark.parametrize("wire", PATHS)
async def test_the_list_of_models_is_asked_for_with_the_connection_s_key(wire: str) -> None:
    async with Simulator() as simulator:
        trial = await try_connection(*account(wire, simulator.url + PATHS[wire]))
        asked = [(one.api_key, one.path.endswith("/models")) for one in simulator.log.named(wire)]
    assert (trial.failure, trial.status) == (None, 200)
    assert trial.models > 0
    assert asked == [(KEY, True)]


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("https://a.openai.azure.com", "https://a.openai.azure.com/openai/models?api-version=2024-10-21"),
        ("https://a.openai.azure.com/openai/", "https://a.openai.azure.com/openai/models?api-version=2024-10-21"),
        ("https://a.openai.azure.com?api-version=7", "https://a.openai.azure.com/openai/models?api-version=7"),
        (
            "https://a.openai.azure.com/openai/deployments/gpt",
            "https://a.openai.azure.com/openai/models?api-version=2024-10-21",
        ),
        ("https://a.openai.azure.com/openai/v1", "https://a.openai.azure.com/openai/v1/models"),
    ],
)
def test_azure_lists_models_beside_its_deployments(base: str, address: str) -> None:
    assert models_request(Target(*account("azure", base), "", NO_FACTS)).url == address


@pytest.mark.parametrize(
    ("mode", "kind"),
    [("auth", Kind.AUTH), ("rate_limit", Kind.RATE_LIMIT), ("quota", Kind.QUOTA_EXHAUSTED), ("reset", Kind.TRANSIENT)],
)
async def test_a_failure_is_told_by_its_kind(mode: str, kind: Kind) -> None:
    async with Simulator() as simulator:
        simulator.behave("openai", mode=mode)
        trial = await try_connection(*account("openai", simulator.url + "/openai/v1"))
    assert trial.failure is not None
    assert trial.failure.kind is kind


async def test_a_provider_that_quotes_the_key_does_not_tell_it() -> None:
    async with Simulator() as simulator:
        simulator.behave("openai", mode="auth", message=f"no such key: {KEY}")
        trial = await try_connection(*account("openai", simulator.url + "/openai/v1"))
    assert "no such key" in str(trial)
    assert KEY not in str(trial)


async def test_something_else_at_the_address_is_not_taken_for_the_provider() -> None:
    async with Simulator() as simulator:
        trial = await try_connection(*account("openai", simulator.url + "/control/openai"))
        other = await try_connection(*account("openai", simulator.url))
    assert trial.failure is not None
    assert other.failure is not None


async def test_nobody_at_the_address_is_not_reached() -> None:
    with socket.socket() as taken:  # bound, not listening
        taken.bind(("127.0.0.1", 0))
        trial = await try_connection(*account("openai", f"http://127.0.0.1:{taken.getsockname()[1]}"))
    assert trial.failure is not None
    assert (trial.reached, trial.status, trial.failure.kind) == (False, None, Kind.TRANSIENT)


async def test_the_provider_s_deadlines_hold() -> None:
    async with Simulator() as simulator:
        simulator.behave("openai", mode="timeout")
        patient = Timeouts(response=0.05)
        trial = await try_connection(*account("openai", simulator.url + "/openai/v1", timeouts=patient))
    assert trial.failure is not None
    assert (trial.failure.kind, trial.failure.message) == (Kind.TIMEOUT, "no answer within 0.05 s")


async def test_a_key_that_cannot_be_had_calls_nobody() -> None:
    problem = "environment variable ACME_KEY is not set"
    trial = await try_connection(*account("openai", "http://nobody.invalid", problem=problem))
    assert trial.failure is not None
    assert (trial.failure.message, trial.reached) == (problem, False)
