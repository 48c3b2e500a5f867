"""The first thing a request meets: role, start, drain."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import orjson
import pytest

from omniroute_site import background
from omniroute_site.front import Front, Lifespan, WebSocketFront
from omniroute_site.roles import Role
from routing import lifecycle

Message = dict[str, Any]


def saying(word: str) -> Callable[..., Awaitable[None]]:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"keep-alive")]})
        await send({"type": "http.response.body", "body": word.encode()})

    return application


async def ask(role: Role, path: str) -> tuple[int, bytes, dict[bytes, bytes]]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    front = Front(role, proxy=saying("proxy"), pages=saying("pages"))
    await front({"type": "http", "path": path, "headers": []}, receive, send)
    return sent[0]["status"], sent[1]["body"], dict(sent[0]["headers"])


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing runs in the background here."""

    async def nothing() -> None:
        return None

    monkeypatch.setattr(background, "ensure_started", nothing)
    monkeypatch.setattr(background, "running", lambda: True)
    yield
    lifecycle.reset()


@pytest.mark.parametrize(
    ("role", "path", "answer"),
    [
        (Role.ALL, "/v1/models", b"proxy"),
        (Role.ALL, "/v1", b"proxy"),
        (Role.ALL, "/v10/x", b"pages"),
        (Role.ALL, "//v1/chat/completions", b"proxy"),
        (Role.ALL, "/healthz", b"proxy"),
        (Role.ALL, "/", b"pages"),
        (Role.PROXY, "/v1/models", b"proxy"),
        (Role.PROXY, "/readyz", b"proxy"),
        (Role.PROXY, "/metrics", b"pages"),
        (Role.PROXY, "/api/resilience/", b"pages"),
        (Role.DASHBOARD, "/readyz", b"proxy"),
        (Role.DASHBOARD, "/", b"pages"),
        (Role.DASHBOARD, "/api/resilience/", b"pages"),
    ],
)
async def test_each_role_serves_its_paths(role: Role, path: str, answer: bytes) -> None:
    assert (await ask(role, path))[:2] == (200, answer)


@pytest.mark.parametrize(
    ("role", "path"), [(Role.PROXY, "/"), (Role.PROXY, "/admin/"), (Role.DASHBOARD, "/v1/chat/completions")]
)
async def test_what_a_role_does_not_serve_is_said_so(role: Role, path: str) -> None:
    status, body, _ = await ask(role, path)

    error = orjson.loads(body)["error"]
    assert (status, error["code"]) == (404, "not_served_here")
    assert f"--role {role}" in error["message"]


async def test_while_draining_pages_are_refused_and_connections_closed() -> None:
    lifecycle.begin_drain()

    status, body, headers = await ask(Role.ALL, "/")
    proxied = await ask(Role.ALL, "/v1/models")

    assert (status, orjson.loads(body)["error"]["code"]) == (503, "draining")
    assert (headers[b"retry-after"], headers[b"connection"]) == (b"5", b"close")
    assert proxied[2] == {b"connection": b"close"}


async def test_a_failed_start_is_a_503_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    async def fail() -> None:
        calls.append(1)
        raise OSError("no database")

    monkeypatch.setattr(background, "ensure_started", fail)
    monkeypatch.setattr(background, "running", lambda: False)

    answers = [await ask(Role.ALL, path) for path in ("/v1/models", "/", "/healthz")]

    assert [answer[0] for answer in answers] == [503, 503, 200]
    assert len(calls) == 3


async def test_a_failed_start_ends_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail() -> None:
        raise OSError("no database")

    monkeypatch.setattr(background, "ensure_started", fail)
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "lifespan.startup"}

    await Lifespan()({"type": "lifespan"}, receive, send)

    assert sent == [{"type": "lifespan.startup.failed", "message": "OSError: no database"}]


async def test_a_proxy_has_no_sockets() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    await WebSocketFront(Role.PROXY, saying("socket"))({"type": "websocket", "path": "/"}, receive, send)

    assert sent == [{"type": "websocket.close", "code": 1001}]
