"""The websocket: full state on connect, changes after it, and only for those who may see."""

import asyncio
import re
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from omniroute_site.dashboard.consumers import ASK_AGAIN, LOGGED_OUT, websocket_urlpatterns
from omniroute_site.dashboard.push import Line
from resilience import actions
from routing.models import FallbackChain

application: Any = AuthMiddlewareStack(URLRouter(websocket_urlpatterns))
PATIENCE = 5.0  # s, only ever waited for in vain when something is broken


@pytest.fixture(autouse=True)
def _keep_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's transaction lives on the connection that channels would close between two calls."""
    monkeypatch.setattr("channels.db.close_old_connections", lambda: None)


def socket(client: Client | None, page: str = "board", path: str = "/ws/board/") -> WebsocketCommunicator:
    cookies = client.cookies.output(header="", sep=";").strip() if client else ""
    headers = [(b"cookie", re.sub(r"; (?:expires|HttpOnly|Max-Age|Path|SameSite)[^;]*", "", cookies).encode())]
    return WebsocketCommunicator(application, f"{path}?page={page}", headers=headers)


async def heard(line: WebsocketCommunicator, text: str) -> str:
    """Read until a message with `text` comes."""
    while True:
        message = await line.receive_from(timeout=PATIENCE)
        if text in message:
            return str(message)


async def test_strangers_are_refused(db: None) -> None:
    connected, _code = await socket(None).connect()
    assert not connected


async def test_a_socket_that_is_not_there_is_refused_like_any_other(viewer: Client) -> None:
    connected, _code = await socket(viewer, path="/v1/realtime").connect()
    assert not connected


async def test_accounts_without_permission_are_refused(viewer: Client) -> None:
    await sync_to_async(lambda: User.objects.get(username="victor").groups.clear())()
    connected, _code = await socket(viewer).connect()
    assert not connected


async def test_unknown_pages_are_refused(viewer: Client) -> None:
    connected, _code = await socket(viewer, "nonsense").connect()
    assert not connected


@pytest.mark.parametrize(("page", "text"), [("board", 'id="wall"'), ("chains", 'id="lanes"')])
async def test_a_page_gets_everything_at_once(viewer: Client, fleet: FallbackChain, page: str, text: str) -> None:
    line = socket(viewer, page)
    assert (await line.connect())[0]
    first = await line.receive_from(timeout=PATIENCE)
    assert text in first
    assert "data-now=" in first
    await line.disconnect()


async def test_a_second_page_gets_everything_too(viewer: Client, fleet: FallbackChain) -> None:
    one, two = socket(viewer), socket(viewer)
    await one.connect()
    await heard(one, 'id="wall"')
    await two.connect()
    await heard(two, 'id="wall"')
    await one.disconnect()
    await two.disconnect()


async def test_what_changed_follows_without_a_hint(viewer: Client, fleet: FallbackChain) -> None:
    line = socket(viewer)
    await line.connect()
    await heard(line, 'id="wall"')
    await sync_to_async(actions.force_open)("openai", actor="alice", reason="because")
    message = await heard(line, 'data-forced="open"')
    assert "openai held open" in message
    assert "<button" not in message
    await line.disconnect()


async def test_a_login_that_has_ended_ends_the_news(viewer: Client, fleet: FallbackChain) -> None:
    line = socket(viewer)
    await line.connect()
    await heard(line, 'id="wall"')
    await sync_to_async(Session.objects.all().delete)()
    await asyncio.sleep(ASK_AGAIN)  # a login is not asked for more often
    await sync_to_async(actions.force_open)("openai", actor="alice", reason="because")
    await heard(line, "You are logged out")
    closed = await line.receive_output(timeout=PATIENCE)
    assert (closed["type"], closed["code"]) == ("websocket.close", LOGGED_OUT)
    await line.disconnect(code=LOGGED_OUT)


async def test_the_feed_ends_with_its_last_page(viewer: Client, fleet: FallbackChain) -> None:
    before = asyncio.all_tasks()
    line = socket(viewer)
    await line.connect()
    await heard(line, 'id="wall"')
    await line.disconnect()
    await asyncio.sleep(0)
    assert {task for task in asyncio.all_tasks() - before if "push" in repr(task.get_coro())} == set()


async def test_a_slow_page_gets_the_newest_cell_and_in_order() -> None:
    line = Line()
    line.put({"wall": "w1", "tile": "t1"})
    line.put({"wall": "w2"})
    assert await line.take() == "t1w2"
    line.put({"tile": "t2"})
    assert await line.take() == "t2"
