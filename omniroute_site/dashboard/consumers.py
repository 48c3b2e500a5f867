"""The one websocket: it only brings news. Actions are ordinary POSTs."""

import asyncio
import contextlib
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.urls import URLPattern, URLResolver, path, re_path
from django.utils.module_loading import import_string

from omniroute_site.dashboard.access import may_see
from omniroute_site.dashboard.cells import draw
from omniroute_site.dashboard.live import PAGES, open_feed
from omniroute_site.dashboard.push import Feed, Line

LOGGED_OUT = 4401
"""Our close code for "this login is over": the page says so and does not come back."""
ASK_AGAIN = 1.0  # s; a login is checked again before a push, at most this often


class BoardConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    """One open page: full state on connect, then what changes, as long as its login is valid."""

    feed: Feed[object] | None = None
    line: Line | None = None
    telling: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Refuse who may not see; begin to tell the others."""
        page = parse_qs(self.scope["query_string"].decode("latin-1")).get("page", ["board"])[0]
        if page not in PAGES or not await self._still_allowed():
            await self.close()
            return
        await self.accept()
        self.feed = open_feed(page)
        self.line = await self.feed.join()
        self.telling = asyncio.create_task(self._tell(self.line))

    async def disconnect(self, code: int) -> None:
        """Leave the feed."""
        del code
        if self.telling is not None and self.telling is not asyncio.current_task():
            self.telling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.telling
        if self.feed is not None and self.line is not None:
            await self.feed.leave(self.line)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Pages have nothing to say here."""

    async def _tell(self, line: Line) -> None:
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        while True:
            message = await line.take()
            if loop.time() - asked_at >= ASK_AGAIN:
                asked_at = loop.time()
                if not await self._still_allowed():
                    await self.send(text_data=await database_sync_to_async(draw)("notice", notice="signed-out"))
                    await self.close(code=LOGGED_OUT)
                    return
            await self.send(text_data=message)

    async def _still_allowed(self) -> bool:
        allowed: bool = await database_sync_to_async(self._may_see)()
        return allowed

    def _may_see(self) -> bool:
        """Whether the login behind this page still holds and may see it: read anew, not from the handshake."""
        session = self.scope.get("session")
        if session is None or not session.session_key:
            return False
        request = HttpRequest()
        request.session = import_string(f"{settings.SESSION_ENGINE}.SessionStore")(session.session_key)
        return may_see(get_user(request))


class NoSocketConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    """A socket that is not there, such as OpenAI's realtime one: refused before it is accepted, as 403."""

    async def connect(self) -> None:
        """Refuse."""
        await self.close()


websocket_urlpatterns: list[URLPattern | URLResolver] = [
    path("ws/board/", BoardConsumer.as_asgi()),
    re_path("", NoSocketConsumer.as_asgi()),
]
