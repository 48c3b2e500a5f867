"""The promises of fail-over, kept by real processes: restarts, several workers, clients that leave."""

import json
import os
import signal
import socket
import struct
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.site.processes import KEY, children, until
from tests.stage import Stage

SOON = 5.0  # s; how long a fact may take on a busy machine before a test gives up


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    # long enough for a restart before it is over
    with Stage(tmp_path_factory.mktemp("stage"), breaker={"reset_timeout": 14}) as running:
        yield running


@pytest.fixture
def stage(running: Stage) -> Stage:
    """One gateway for all tests, its providers well and nothing held against them."""
    running.calm()
    return running


def ask(stage: Stage, model: str = "gpt-4o") -> str:
    """One request; who answered it."""
    connection = stage.gateway.connect()
    stage.gateway.ask(connection, model)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    assert answer.status == 200
    return f"{answer.getheader('x-omniroute-provider')}/{answer.getheader('x-omniroute-connection')}"


def sleep_until(stage: Stage, provider: str) -> None:
    """Until its breaker may be probed, plus the second in which every process has heard of it."""
    time.sleep(stage.breaker(provider)["retry_after"] + 0.05)


def test_an_open_breaker_survives_kill_9_and_one_probe_closes_it(stage: Stage) -> None:
    stage.control("primary-one", mode="error")
    assert {ask(stage) for _ in range(8)} == {"backup/one"}
    before = stage.breaker("primary")
    assert (before["state"], len(stage.calls("primary-one"))) == ("OPEN", 5)

    os.killpg(stage.gateway.process.pid, signal.SIGKILL)
    stage.restart()
    after = stage.breaker("primary")
    assert (after["state"], after["retry_at"]) == ("OPEN", before["retry_at"])
    assert ask(stage) == "backup/one"
    assert len(stage.calls("primary-one")) == 5

    stage.control("primary-one", mode="ok")
    sleep_until(stage, "primary")
    assert ask(stage) == "primary/one"
    assert stage.breaker("primary")["state"] == "CLOSED"
    assert ask(stage) == "primary/one"
    assert len(stage.calls("primary-one")) == 7


@pytest.mark.parametrize("workers", [1, 3])
def test_a_hundred_requests_at_retry_at_make_exactly_one_probe(tmp_path: Path, workers: int) -> None:
    with Stage(tmp_path, workers=workers, breaker={"reset_timeout": 3}) as stage:
        assert workers == 1 or len(children(stage.gateway.process.pid)) >= workers
        stage.control("primary-one", mode="error")
        until(lambda: ask(stage) == "backup/one" and stage.breaker("primary")["state"] == "OPEN", within=SOON)
        opened = len(stage.calls("primary-one"))
        stage.control("primary-one", mode="slow", latency=1.5)
        sleep_until(stage, "primary")
        with ThreadPoolExecutor(100) as pool:
            answered_by = list(pool.map(lambda _: ask(stage), range(100)))
        assert len(stage.calls("primary-one")) - opened == 1
        assert answered_by.count("primary/one") == 1


def test_a_hinted_429_cools_one_connection_and_its_sibling_answers_in_the_same_request(stage: Stage) -> None:
    stage.control("pair-one", mode="rate_limit", retry_after=7)
    assert ask(stage, "paired") == "pair/two"
    [cooldown] = stage.state()["cooldowns"]
    assert (cooldown["provider"], cooldown["connection"], cooldown["kind"]) == ("pair", "one", "rate_limit")
    assert 5 < cooldown["remaining"] <= 7
    assert stage.breaker("pair")["state"] == "CLOSED"
    assert [ask(stage, "paired") for _ in range(3)] == ["pair/two"] * 3
    assert len(stage.calls("pair-one")) == 1


def test_a_model_that_fails_alone_is_locked_alone_and_unlocked_by_hand(stage: Stage) -> None:
    stage.control("primary-one", mode="error", models=["gpt-4o"])
    for _ in range(5):
        assert ask(stage) == "backup/one"
        assert ask(stage, "primary/other") == "primary/one"
    [lockout] = stage.state()["lockouts"]
    assert (lockout["connection"], lockout["model"], lockout["attempts"]) == ("one", "gpt-4o", 5)
    assert stage.breaker("primary")["state"] in ("CLOSED", "DEGRADED")
    assert ask(stage, "primary/other") == "primary/one"
    stage.control("primary-one", mode="ok")
    assert ask(stage) == "backup/one"
    body = {"provider": "primary", "connection": "one", "model": "gpt-4o", "reason": "it was fixed"}
    stage.api("POST", "/api/resilience/lockouts/unlock/", body)
    assert stage.state()["lockouts"] == []
    until(lambda: ask(stage) == "primary/one", within=SOON)


def test_a_chain_edited_by_queryset_update_in_another_process_is_in_force_soon(stage: Stage) -> None:
    edit = (
        "from routing.models import FallbackEntry;"
        "FallbackEntry.objects.filter(chain__model='gpt-4o', provider__slug='primary').update(enabled={})"
    )
    assert ask(stage) == "primary/one"
    stage.python(edit.format(False))
    until(lambda: ask(stage) == "backup/one", within=SOON)
    stage.python(edit.format(True))
    until(lambda: ask(stage) == "primary/one", within=SOON)


def begin(stage: Stage, *, stream: bool) -> socket.socket:
    """A request on a socket of our own, which can be reset as that of a client that is killed."""
    body = json.dumps({"model": "gpt-4o", "stream": stream, "messages": [{"role": "user", "content": "Hello"}]})
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\nContent-Length: {len(body)}"
    )
    client = socket.create_connection(("127.0.0.1", stage.gateway.port))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.sendall(f"{head}\r\n\r\n{body}".encode())
    return client


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_closes_the_upstream_and_counts_nothing(stage: Stage, stream: bool) -> None:
    stage.control("primary-one", mode="slow", **({"latency": 0, "gap": 0.2} if stream else {"latency": 30}))
    already = len(stage.calls("primary-one"))
    with begin(stage, stream=stream) as client:
        if stream:
            received = b""
            while b"data:" not in received:  # the headers may come alone
                received += client.recv(4096)
        until(lambda: len(stage.calls("primary-one")) > already, within=SOON)
    until(lambda: stage.calls("primary-one")[-1]["client_closed"], within=SOON)
    breaker = stage.breaker("primary")
    assert (breaker["failure_count"], breaker["window"]["failures"], breaker["state"]) == (0, 0, "CLOSED")
    stage.control("primary-one", mode="ok")
    assert ask(stage) == "primary/one"


def test_a_body_of_40_mb_and_random_bytes_leave_the_process_healthy(stage: Stage) -> None:
    def post(body: bytes) -> tuple[int, str]:
        connection = stage.gateway.connect()
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        connection.request("POST", "/v1/chat/completions", body, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())["error"]["code"]

    assert post(b'{"model": "' + b"x" * 40_000_000 + b'"}') == (413, "request_too_large")
    assert post(os.urandom(10_000)) == (400, "invalid_json")
    assert post(b"[" * 10_000) == (400, "invalid_json")
    assert ask(stage) == "primary/one"
