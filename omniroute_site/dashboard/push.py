"""News for open pages: read once, compared once, drawn once per process, however many pages are open.

     hint (channel layer) ─┐
     a version moved ──────┼──► read rows ──► compare with the last ──► draw what differs ──► every open page
     two seconds passed ───┘

A hint says only "read again"; bursts become one reading each 250 ms. Where no hint can arrive (another process without
Redis) the look at the version numbers twice a second brings the news. A feed runs while a page is open, never longer.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async
from django.utils import timezone

from omniroute_site.dashboard.cells import Cells, clock
from resilience import news
from resilience.reading import current_version
from routing.table_compile import read_version

logger = logging.getLogger(__name__)

T = TypeVar("T")

SPACING = 0.25  # s between two readings at least
LOOK_EVERY = 0.5  # s between two looks at the version numbers
READ_EVERY = 2.0  # s between two readings at most while pages are open: traffic has no version number
HEARTBEAT = 5.0  # s between two words to a page at most, so that it knows that the line is alive
TOPICS = ("state", "table")


@dataclass(slots=True, eq=False)
class Line:
    """What one open page has yet to be told. A slow page gets fewer, later cells, never older ones."""

    waiting: Cells = field(default_factory=dict)
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, cells: Cells) -> None:
        """Add cells; a newer one takes the place of an older, after those that came between."""
        for name, html in cells.items():
            self.waiting.pop(name, None)
            self.waiting[name] = html
        self.ready.set()

    async def take(self) -> str:
        """Wait for news and return it as one message."""
        await self.ready.wait()
        self.ready.clear()
        message = "".join(self.waiting.values())
        self.waiting.clear()
        return message


class Feed(Generic[T]):
    """One kind of page: how it is read, and how it is drawn given what it showed before."""

    def __init__(self, read: Callable[[datetime], T], draw: Callable[[T | None, T], Cells]) -> None:
        self._read = read
        self._draw = draw
        self._lines: set[Line] = set()
        self._last: T | None = None
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._versions: Sequence[int] = ()

    async def join(self) -> Line:
        """Open a line; its first message is the whole page's cells."""
        line = Line()
        self._lines.add(line)
        if not self._tasks:
            self._last = None
            self._tasks = [asyncio.create_task(news.listen(topic, self._wake.set)) for topic in TOPICS]
            self._tasks.append(asyncio.create_task(self._run()))
        else:
            line.put(await database_sync_to_async(self._everything)())
        return line

    async def leave(self, line: Line) -> None:
        """Close a line, and with the last one the feed."""
        self._lines.discard(line)
        if self._lines:
            return
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        read_at = told_at = 0.0
        failing = False
        while True:
            started = loop.time()
            self._wake.clear()
            try:
                cells = await self._news(everything=started - read_at >= READ_EVERY)
                failing = False
            except Exception as error:  # the database is away: pages say stale by themselves, and we try again
                if not failing:
                    logger.exception("board.unreadable", extra={"error": type(error).__name__})
                failing, cells = True, None
            if cells is not None:
                read_at = started
            if cells or (cells is not None and started - told_at >= HEARTBEAT):
                told_at = started
                self._tell({**(cells or {}), **clock(timezone.now())})
            await asyncio.sleep(max(0.0, SPACING - (loop.time() - started)))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), LOOK_EVERY)

    async def _news(self, *, everything: bool) -> Cells | None:
        """Cells that differ; None if nothing was read, since no version number moved."""
        cells: Cells | None = await database_sync_to_async(self._compare)(everything)
        return cells

    def _compare(self, everything: bool) -> Cells | None:  # noqa: FBT001 (called through database_sync_to_async)
        versions = (current_version(), read_version())
        if versions == self._versions and not everything and self._last is not None:
            return None
        new = self._read(timezone.now())
        cells = self._draw(self._last, new)
        self._last, self._versions = new, versions
        return cells

    def _everything(self) -> Cells:
        new = self._last if self._last is not None else self._read(timezone.now())
        return {**self._draw(None, new), **clock(timezone.now())}

    def _tell(self, cells: Cells) -> None:
        for line in self._lines:
            line.put(cells)


_feeds: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Feed[object]]]" = WeakKeyDictionary()


def feed_of(page: str, make: Callable[[], Feed[object]]) -> Feed[object]:
    """The feed of a page on this event loop."""
    feeds = _feeds.setdefault(asyncio.get_running_loop(), {})
    if page not in feeds:
        feeds[page] = make()
    return feeds[page]
