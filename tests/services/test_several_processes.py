"""Several processes on one PostgreSQL and one Redis act as one gateway."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from routing.simulator import Simulator
from tests.site.processes import KEY, Server, breaker, chat, manage, until
from tests.site.simulation import PRIMARY, SECOND, calls

pytestmark = pytest.mark.services


def explained(server: Server) -> str | None:
    """Why this very process would skip the primary: from its memory, not from the database."""
    connection = server.connect()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    connection.request("POST", "/api/explain/", '{"model": "gpt-4o"}', headers)
    targets = json.loads(connection.getresponse().read())["targets"]
    connection.close()
    (reason,) = [target["reason"] for target in targets if target["provider"] == "primary"]
    return None if reason is None else str(reason)


def test_one_probe_reaches_a_provider_whichever_process_is_asked(gateways: list[Server], simulator: Simulator) -> None:
    many, one = gateways
    simulator.behave(SECOND, mode="ok")
    simulator.behave(PRIMARY, mode="error")
    while breaker(many)["state"] != "OPEN":
        assert chat(many) == (200, "second")
    until(lambda: breaker(one)["retry_after"] == 0)
    simulator.behave(PRIMARY, mode="ok", latency=1.5)  # the probe is under way while everybody else comes
    simulator.log.clear()

    with ThreadPoolExecutor(60) as pool:
        answers = list(pool.map(lambda number: chat(gateways[number % 2]), range(60)))

    assert {status for status, _ in answers} == {200}
    assert calls(simulator, PRIMARY) == 1
    assert sorted(provider for _, provider in answers).count("primary") == 1
    assert breaker(one)["state"] == "CLOSED"


def test_a_hold_in_one_process_is_known_in_the_others(gateways: list[Server], simulator: Simulator) -> None:
    many, one = gateways
    simulator.behave(PRIMARY, mode="ok")
    hold = '{"reason": "drill"}'
    for path, expected in (("force-open", "forced_open"), ("unforce", None)):
        connection = many.connect()
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        connection.request("POST", f"/api/resilience/breakers/primary/{path}/", hold, headers)
        assert connection.getresponse().status == 200
        connection.close()

        until(lambda expected=expected: explained(one) == expected)  # type: ignore[misc]


def test_rows_changed_in_another_process_are_in_force_everywhere(
    gateways: list[Server], simulator: Simulator, configured: str
) -> None:
    simulator.behave(PRIMARY, mode="ok")
    simulator.behave(SECOND, mode="ok")
    script = "from routing.models import FallbackEntry; FallbackEntry.objects.filter(provider__slug='primary').update(enabled={})"
    for enabled, provider in ((False, "second"), (True, "primary")):
        done = manage("shell", "-c", script.format(enabled), database=Path(), DATABASE_URL=configured)
        assert done.returncode == 0, done.stderr

        for server in gateways:
            until(lambda server=server, provider=provider: chat(server) == (200, provider))  # type: ignore[misc]
