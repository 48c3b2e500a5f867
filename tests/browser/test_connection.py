"""The line between page and server: lost, found again, and no longer allowed."""

import http.client

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Stage

pytestmark = pytest.mark.browser


def test_the_page_finds_the_server_again_after_a_restart(stage: Stage, board: Page) -> None:
    stage.stop()
    try:
        expect(board.locator('[data-live="reconnecting"]')).to_be_visible()
    finally:
        stage.start()
    expect(board.locator('[data-live="live"]')).to_be_visible(timeout=20_000)
    stage.act("breakers/groq/force-open/")
    expect(board.locator('[data-provider="groq"][data-forced="open"]')).to_be_visible()


def test_news_of_another_process_arrives_without_a_shared_channel_layer(stage: Stage, board: Page) -> None:
    stage.manage("resilience", "force-open", "groq", "--reason", "from a shell")
    expect(board.locator('[data-provider="groq"][data-forced="open"]')).to_contain_text("from a shell")


def test_a_login_that_ended_elsewhere_is_said_on_the_open_page(stage: Stage, board: Page) -> None:
    stage.python("from django.contrib.sessions.models import Session; Session.objects.all().delete()")
    stage.act("breakers/groq/force-open/")
    expect(board.locator("#notice")).to_contain_text("You are logged out", timeout=10_000)
    expect(board.locator('[data-live="stale"]')).to_be_visible()
    board.locator('[data-provider="openai"] button[data-action="reset"]').click()
    board.wait_for_url("**/login/?next=/")


def test_the_socket_refuses_strangers(window: Page) -> None:
    window.goto("/login/")
    closed = window.evaluate(
        "() => new Promise(done => { const s = new WebSocket(location.origin.replace('http', 'ws') + '/ws/board/');"
        " s.onopen = () => done('opened'); s.onclose = () => done('closed') })"
    )
    assert closed == "closed"


def test_the_socket_refuses_foreign_pages_even_with_a_good_login(stage: Stage, board: Page) -> None:
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in board.context.cookies())
    statuses = [handshake(stage.port, cookies, origin) for origin in (stage.url, "https://evil.example")]
    assert statuses == [101, 403]


def handshake(port: int, cookies: str, origin: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Origin": origin, "Cookie": cookies,
    }  # fmt: skip
    try:
        connection.request("GET", "/ws/board/", headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()
