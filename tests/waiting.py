"""Waiting, on the event loop, for what happens where there is no event to wait on."""

import asyncio
from collections.abc import Callable

PATIENCE = 10.0  # s


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop and the other threads run until the condition holds. Raises TimeoutError."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 (a thread or a server makes it true, and sets no events for us)
            await asyncio.sleep(0.001)
