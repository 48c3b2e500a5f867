"""Hints travel from every kind of thread, and trouble with the layer is nobody's trouble."""

import asyncio
import logging
import threading

import pytest
from asgiref.sync import sync_to_async

from resilience import news
from tests.waiting import until


class Listener:
    """A listener of this loop; `heard` counts the hints, the first call (on joining) is taken off."""

    def __init__(self, topic: str):
        self.calls = 0
        self.task = asyncio.ensure_future(news.listen(topic, self.count))

    def count(self) -> None:
        self.calls += 1

    @property
    def heard(self) -> int:
        return self.calls - 1

    async def __aenter__(self) -> "Listener":
        news.bind(asyncio.get_running_loop())
        await until(lambda: self.calls == 1)
        return self

    async def __aexit__(self, *_details: object) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


async def test_a_hint_from_the_loop_itself_is_heard():
    async with Listener("state") as listener:
        news.announce("state")
        await until(lambda: listener.heard == 1)


async def test_a_hint_from_another_thread_is_heard():
    async with Listener("state") as listener:
        thread = threading.Thread(target=news.announce, args=("state",))
        thread.start()
        await until(lambda: listener.heard == 1)
        thread.join()


async def test_a_hint_from_a_synchronous_view_is_heard():
    async with Listener("table") as listener:
        await sync_to_async(news.announce, thread_sensitive=True)("table")
        await until(lambda: listener.heard == 1)


async def test_hints_reach_every_listener_of_their_topic_and_no_other():
    async with Listener("state") as first, Listener("state") as second, Listener("requests") as other:
        news.announce("state")
        await until(lambda: first.heard == second.heard == 1)
        assert other.heard == 0


async def test_a_callback_may_be_a_coroutine_function():
    heard = asyncio.Event()

    async def callback() -> None:
        heard.set()

    task = asyncio.create_task(news.listen("state", callback))
    await heard.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def test_a_command_without_a_loop_announces_without_error():
    news.announce("state")


class DeadLayer:
    """A Redis that is away."""

    async def group_send(self, *_arguments: object) -> None:
        raise ConnectionError("connection refused")

    async def new_channel(self, *_arguments: object) -> str:
        raise ConnectionError("connection refused")


@pytest.fixture
def dead_layer(monkeypatch):
    monkeypatch.setattr(news, "get_channel_layer", lambda: DeadLayer())
    monkeypatch.setattr(news, "_last_logged", -news.LOG_EVERY)


def test_a_layer_that_is_away_is_logged_once_a_minute_and_raises_nothing(dead_layer, monkeypatch, caplog):
    caplog.set_level(logging.WARNING)
    monkeypatch.setattr(news, "_loop", None)
    for _ in range(3):
        news.announce("state")

    assert [record.message for record in caplog.records] == ["news.unavailable"]


async def test_a_listener_joins_again_when_the_layer_is_back(dead_layer, monkeypatch):
    monkeypatch.setattr(news, "RECONNECT_AFTER", 0)
    listener = Listener("state")
    await asyncio.sleep(0)
    assert listener.calls == 0

    monkeypatch.undo()
    async with listener:
        news.announce("state")
        await until(lambda: listener.heard >= 1)


async def test_membership_is_renewed_while_waiting(monkeypatch):
    monkeypatch.setattr(news, "RENEW_AFTER", 0)
    joined = []
    layer = news.get_channel_layer()
    join = layer.group_add

    async def counted(group, channel):
        joined.append(channel)
        await join(group, channel)

    monkeypatch.setattr(layer, "group_add", counted)
    async with Listener("state"):
        await until(lambda: len(joined) > 3)

    assert len(set(joined)) == 1
