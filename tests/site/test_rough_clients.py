"""Clients that misbehave on the wire, against real processes: each gets a clean answer or is let go; nothing is left."""

import contextlib
import json
import re
import socket
import struct
from collections.abc import Iterator

import pytest

from tests.site.processes import KEY, until
from tests.stage import Stage

SOON = 10.0  # s; how long a fact may take on a busy machine before a test gives up
BODY = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}).encode()
STREAM = BODY.replace(b"{", b'{"stream": true, ', 1)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with Stage(tmp_path_factory.mktemp("rough")) as running:
        yield running


@pytest.fixture
def stage(running: Stage) -> Iterator[Stage]:
    """One gateway for all tests; after each it must be as well as before."""
    running.calm()
    running._simulator_call("DELETE", "/control/log")
    yield running
    running.calm()
    with Client(running) as client:
        assert client.ask(request(BODY))[0] == 200


class Client:
    """A socket to the gateway, and a reader of what comes back."""

    def __init__(self, stage: Stage) -> None:
        self.socket = socket.create_connection(("127.0.0.1", stage.gateway.port), timeout=SOON)
        self._file = self.socket.makefile("rb")

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def reset(self) -> None:
        """Leave as a killed process does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._file.close()
        self.socket.close()

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the next answer."""
        status = int(self._file.readline().split()[1])
        headers = {}
        while (line := self._file.readline().strip()) != b"":
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        if headers.get("transfer-encoding") == "chunked":
            return status, headers, b"".join(iter(self._chunk, b""))
        return status, headers, self._file.read(int(headers.get("content-length", 0)))

    def ask(self, data: bytes) -> tuple[int, dict[str, str], bytes]:
        self.send(data)
        return self.answer()

    def _chunk(self) -> bytes:
        size = int(self._file.readline(), 16)
        return self._file.read(size + 2)[:size]


def request(body: bytes, *headers: bytes, line: bytes = b"POST /v1/chat/completions HTTP/1.1") -> bytes:
    head = (line, b"Host: x", b"Authorization: Bearer " + KEY.encode(), b"Content-Length: %d" % len(body), *headers)
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def unsized(body: bytes, *headers: bytes) -> bytes:
    return re.sub(rb"Content-Length: \d+\r\n", b"", request(body, *headers))


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (request(BODY, line=b"GET /v1/chat/completions HTTP/1.1"), 405, "method_not_allowed"),
        (request(BODY, line=b"OPTIONS /v1/chat/completions HTTP/1.1"), 405, "method_not_allowed"),
        (request(BODY, line=b"POST /v1/nothing HTTP/1.1"), 404, "not_found"),
        (request(BODY, line=b"POST /v1/%ff%00%fe HTTP/1.1"), 404, "not_found"),
        (request(BODY, b"X-Long: " + b"x" * 65536), 431, "invalid_request"),
        (request(BODY, *(b"X-%d: %s" % (number, b"y" * 30) for number in range(2000))), 431, "invalid_request"),
        (request(b""), 400, "invalid_json"),
        (unsized(b""), 400, "invalid_json"),
        (request(b"\xff\xfe\x00"), 400, "invalid_json"),
        (request(BODY.replace(b"}]", b'}], "temperature": NaN')), 400, "invalid_json"),
        (request(BODY, b"Content-Encoding: gzip"), 400, "invalid_request"),
        (request(b" " * 34_000_000), 413, "request_too_large"),
        (request(BODY).replace(KEY.encode(), b"\xff\xfe"), 401, "invalid_api_key"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else str(value),
)
def test_what_cannot_be_answered_is_refused_with_the_gateways_headers(
    stage: Stage, sent: bytes, status: int, code: str
) -> None:
    with Client(stage) as client:
        found, headers, body = client.ask(sent)
    assert (found, json.loads(body)["error"]["code"]) == (status, code)
    assert headers["x-omniroute-request-id"] == json.loads(body)["error"]["omniroute"]["request_id"]
    assert (headers["x-omniroute-chain"], headers["x-omniroute-attempts"]) == ("-", "0")
    assert ("allow" in headers) == (status == 405)
    assert not stage.calls("primary-one")


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        request(BODY, b"Content-Length: 5"),
        request(BODY, b"Transfer-Encoding: chunked"),
        unsized(b"zz\r\n" + BODY, b"Transfer-Encoding: chunked"),
        request(BODY, line=b"POST /v1/\xff HTTP/1.1"),
    ],
    ids=["tls", "two lengths", "length and chunks", "a bad chunk", "a path of raw bytes"],
)
def test_what_is_not_http_is_400_and_the_end_of_the_connection(stage: Stage, sent: bytes) -> None:
    with Client(stage) as client:
        status, headers, body = client.ask(sent)
        assert (status, headers["connection"], headers["x-omniroute-attempts"]) == (400, "close", "0")
        assert json.loads(body)["error"]["omniroute"]["request_id"] == headers["x-omniroute-request-id"]


def test_an_endless_head_is_not_read_on(stage: Stage) -> None:
    with Client(stage) as client, contextlib.suppress(ConnectionError):
        client.send(request(b"").removesuffix(b"\r\n\r\n"))
        for _ in range(1000):
            client.send(b"\r\nX-More: " + b"x" * 10_000)
        raise AssertionError("it was read")


@pytest.mark.parametrize("name", [b"Upgrade", b"upgrade"])
def test_an_offer_of_http_2_does_not_cost_the_body(stage: Stage, name: bytes) -> None:
    """As Java's own client sends it, and with it several frameworks."""
    offer = (b"Connection: Upgrade, HTTP2-Settings", name + b": h2c", b"HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk")
    with Client(stage) as client:
        assert client.ask(request(BODY, *offer))[0] == 200
        assert client.ask(request(BODY.replace(b"Hello", b"h2c")))[0] == 200


def test_head_has_no_body(stage: Stage) -> None:
    with Client(stage) as client:
        client.send(request(b"", line=b"HEAD /v1/models HTTP/1.1") + request(BODY))
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client._file.read(1)
        assert head.startswith(b"HTTP/1.1 405")
        assert client.answer()[0] == 200


def test_a_chunked_body_and_100_continue_are_understood(stage: Stage) -> None:
    with Client(stage) as client:
        chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in BODY) + b"0\r\n\r\n"
        assert client.ask(unsized(chunks, b"Transfer-Encoding: chunked"))[0] == 200
        client.send(request(BODY, b"Expect: 100-continue")[: -len(BODY)])
        assert client._file.readline() + client._file.readline() == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.send(BODY)
        assert client.answer()[0] == 200


def test_pipelined_requests_are_answered_in_order(stage: Stage) -> None:
    with Client(stage) as client:
        client.send(request(BODY) + request(STREAM) + request(b"{") + request(BODY))
        answers = [client.answer() for _ in range(4)]
    assert [status for status, _, _ in answers] == [200, 200, 400, 200]
    assert answers[1][2].endswith(b"data: [DONE]\n\n")


def test_a_refused_upload_leaves_the_connection_usable(stage: Stage) -> None:
    with Client(stage) as client:
        wrong = request(b"x" * 3_000_000).replace(KEY.encode(), b"wrong")
        assert client.ask(wrong)[0] == 401
        assert client.ask(request(BODY))[0] == 200


def test_clients_that_leave_while_uploading_leave_nothing(stage: Stage) -> None:
    for end in (10, 60, len(request(BODY)) - 1):
        client = Client(stage)
        client.send(request(BODY)[:end])
        client.reset()
    assert not stage.calls("primary-one")


@pytest.mark.parametrize("how", ["reset", "close", "half"])
@pytest.mark.parametrize("body", [BODY, STREAM], ids=["whole", "stream"])
def test_clients_that_leave_close_the_upstream(stage: Stage, body: bytes, how: str) -> None:
    stage.control("primary-one", mode="timeout")
    with Client(stage) as client:
        client.send(request(body))
        until(lambda: len(stage.calls("primary-one")) == 1, within=SOON)
        if how == "reset":
            client.reset()
        elif how == "half":
            client.socket.shutdown(socket.SHUT_WR)
        else:
            client.__exit__()
        until(lambda: bool(stage.calls("primary-one")[0]["client_closed"]), within=SOON)
    assert stage.breaker("primary")["failure_count"] == 0
    assert not stage.calls("backup-one")


def test_a_key_that_a_provider_quotes_is_nowhere_to_be_seen(stage: Stage) -> None:
    quoted = "sk-sim-primary-one"
    stage.control("primary-one", mode="auth", message=f"no such key: {quoted}", headers={"x-quoted": quoted})
    with Client(stage) as client:
        _, headers, body = client.ask(request(BODY.replace(b"gpt-4o", b"primary/gpt-4o")))
    request_id = headers["x-omniroute-request-id"]
    shown = [str(headers), body.decode(), stage.gateway.output(), json.dumps(stage.state())]
    until(lambda: _row(stage, request_id)["id"] == request_id, within=SOON)
    shown.append(json.dumps(_row(stage, request_id)))
    assert not [text for text in shown if quoted in text or KEY in text]


def _row(stage: Stage, request_id: str) -> dict[str, object]:
    try:
        row: dict[str, object] = stage.api("GET", f"/api/requests/{request_id}/")
    except OSError:
        return {"id": None}  # not written yet
    return row
