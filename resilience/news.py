"""Hints between processes: "something changed, read again". The one module that touches the channel layer.

A hint carries no data, may be lost, and may come twice; whoever listens reads the truth from the database, and
polls it as well. So nothing here may block, raise, or make anybody wait for Redis.

Topics: "state" (breakers, cooldowns, lockouts), "table" (configuration), "requests" (the request log).
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import InMemoryChannelLayer, get_channel_layer

logger = logging.getLogger(__name__)

PATIENCE = 2.0  # s; a Redis that does not answer must not hold a command or pile up tasks
RENEW_AFTER = 600.0  # s; group membership expires (a day by default), so it is renewed while waiting
RECONNECT_AFTER = 1.0  # s
LOG_EVERY = 60.0  # s

_loop: asyncio.AbstractEventLoop | None = None
_sending: set[asyncio.Task[None]] = set()
_last_logged = -LOG_EVERY


def bind(loop: asyncio.AbstractEventLoop) -> None:
    """Send from `loop` from now on, whichever thread announces: layers keep their connections per loop."""
    global _loop  # noqa: PLW0603 (one serving loop per process)
    _loop = loop


def announce(topic: str) -> None:
    """Tell everyone who listens to `topic`, from any thread, without waiting and without raising."""
    try:
        _announce(topic)
    except Exception as error:  # noqa: BLE001 (a lost hint costs a second at most; the poll carries the news)
        _log_failure(error)


def _announce(topic: str) -> None:
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if running is not None:
        task = running.create_task(_send(topic))
        _sending.add(task)  # the loop itself holds tasks only weakly
        task.add_done_callback(_sending.discard)
    elif _loop is not None and _loop.is_running():
        asyncio.run_coroutine_threadsafe(_send(topic), _loop)
    elif not isinstance(
        get_channel_layer(), InMemoryChannelLayer
    ):  # else nobody could hear it: it stays in this process
        async_to_sync(_send)(topic)


async def _send(topic: str) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        await _ask(layer.group_send(_group(topic), {"type": "news", "topic": topic}))
    except Exception as error:  # noqa: BLE001 (as in announce)
        _log_failure(error)


async def listen(topic: str, callback: Callable[[], Awaitable[None] | None]) -> None:
    """Call `callback` at each hint on `topic`, until cancelled; also after (re)connecting, since hints may be missed."""
    while True:
        try:
            await _listen_once(topic, callback)
        except Exception as error:  # noqa: BLE001 (Redis away, layer misconfigured: polling goes on, so do we)
            _log_failure(error)
            await asyncio.sleep(RECONNECT_AFTER)


async def _listen_once(topic: str, callback: Callable[[], Awaitable[None] | None]) -> None:
    layer = get_channel_layer()
    if layer is None:
        raise RuntimeError("no channel layer is configured")
    channel = await layer.new_channel("news")
    await _ask(layer.group_add(_group(topic), channel))
    receiving: asyncio.Future[Any] | None = None
    try:
        while True:
            answer = callback()
            if answer is not None:
                await answer
            receiving = asyncio.ensure_future(layer.receive(channel))
            receiving.add_done_callback(_retrieved)
            await _arrived(receiving, topic, channel)
    finally:
        if receiving is not None:
            receiving.cancel()
        await _leave(topic, channel)


async def _arrived(receiving: asyncio.Future[Any], topic: str, channel: str) -> None:
    """Wait for a hint, renewing the membership meanwhile.

    A receive in hand is not cancelled for that: it would cost the connection to Redis.
    """
    while not receiving.done():
        done, _ = await asyncio.wait((receiving,), timeout=RENEW_AFTER)
        if not done:
            await _ask(get_channel_layer().group_add(_group(topic), channel))
    receiving.result()


async def _ask(operation: Coroutine[object, object, None]) -> None:
    """Run one operation of the layer, for `PATIENCE` at most, in a task of its own.

    redis-py waits with `asyncio.wait_for`, which in Python 3.11 loses a cancellation that comes together with the
    result; awaited directly, a listener told to stop would go on for ever.
    """
    asked = asyncio.ensure_future(operation)
    asked.add_done_callback(_retrieved)
    try:
        done, _ = await asyncio.wait((asked,), timeout=PATIENCE)
        if not done:
            raise TimeoutError(f"the channel layer did not answer within {PATIENCE:.0f} s")
        asked.result()
    finally:
        asked.cancel()


def _retrieved(receiving: asyncio.Future[Any]) -> None:
    """Take the error of an operation that nobody waits for any more, else asyncio complains about it."""
    if not receiving.cancelled():
        receiving.exception()


async def _leave(topic: str, channel: str) -> None:
    try:
        await _ask(get_channel_layer().group_discard(_group(topic), channel))
    except Exception as error:  # noqa: BLE001 (membership expires by itself)
        _log_failure(error)


def _group(topic: str) -> str:
    return f"omniroute.news.{topic}"


def _log_failure(error: Exception) -> None:
    """At most once a minute: every write announces, and Redis may be away for hours."""
    global _last_logged  # noqa: PLW0603
    now = time.monotonic()
    if now - _last_logged >= LOG_EVERY:
        _last_logged = now
        logger.warning("news.unavailable", extra={"error": f"{type(error).__name__}: {error}"})
