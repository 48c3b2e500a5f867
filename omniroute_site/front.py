"""The first thing a request meets: which application answers it, and whether this process still does.

Runs before every proxied request, so it compares a few strings and nothing more.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

import orjson

from omniroute_site import background
from omniroute_site.roles import Role, is_traffic
from routing import lifecycle

logger = logging.getLogger(__name__)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]

DRAIN_RETRY_AFTER = 5  # s, CONTRACT section 4
HEALTH = ("/healthz", "/readyz")


class Front:
    """Chooses between the proxy and Django by path and role."""

    def __init__(self, role: Role, *, proxy: Application, pages: Application) -> None:
        self.role = role
        self.proxy = proxy
        self.pages = pages

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        path: str = scope["path"]
        if path.startswith("//"):  # a base URL that ends with a slash, and an app that adds one
            path = scope["path"] = "/" + path.lstrip("/")
        if lifecycle.draining():
            send = _closing(send)
        if path in HEALTH:
            # whether or not everything has started: readyz says what is missing
            await _try_start()
            await self.proxy(scope, receive, send)
        elif not self.role.serves(path):
            message = f"This process runs with --role {self.role} and does not serve {path}."
            await _refuse(send, 404, "not_served_here", message)
        elif not background.running() and not await _try_start():
            await _refuse(send, 503, "not_ready", "The gateway could not start; its log says why.", retry_after=5)
        elif is_traffic(path):
            try:
                await self.proxy(scope, receive, send)
            except asyncio.CancelledError:
                if not lifecycle.draining():
                    raise
                # DRAIN_SECONDS are over. The server ends this task and then itself: it needs no exception to know,
                # but the client deserves an answer if it has none yet (else the server closes the connection)
                with suppress(RuntimeError):
                    await _refuse_draining(send)
        elif lifecycle.draining():
            await _refuse_draining(send)
        else:
            await self.pages(scope, receive, send)


class WebSocketFront:
    """Dashboards' sockets, where there are dashboards."""

    def __init__(self, role: Role, sockets: Application) -> None:
        self.role = role
        self.sockets = sockets

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Serve one socket, or close it before it is accepted."""
        if self.role is Role.PROXY or lifecycle.draining() or not await _try_start():
            await send({"type": "websocket.close", "code": 1001})
            return
        await self.sockets(scope, receive, send)


class Lifespan:
    """uvicorn's start and stop."""

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Start before the first request, flush after the last."""
        del scope
        await receive()
        try:
            await background.ensure_started()
        except Exception as error:
            logger.exception("could not start")
            await send({"type": "lifespan.startup.failed", "message": f"{type(error).__name__}: {error}"})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await background.shutdown()
        await send({"type": "lifespan.shutdown.complete"})


async def _try_start() -> bool:
    """Start under a server without lifespan; False if that failed, with the reason in the log."""
    if background.running():
        return True
    try:
        await background.ensure_started()
    except Exception:
        logger.exception("could not start")
        return False
    return True


def _closing(send: Send) -> Send:
    """Say `connection: close` in every answer, so that kept-alive clients turn to another process."""

    async def closing(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [pair for pair in message.get("headers", ()) if pair[0].lower() != b"connection"]
            message = {**message, "headers": [*headers, (b"connection", b"close")]}
        await send(message)

    return closing


async def _refuse_draining(send: Send) -> None:
    await _refuse(send, 503, "draining", "This process is shutting down.", retry_after=DRAIN_RETRY_AFTER)


async def _refuse(send: Send, status: int, code: str, message: str, *, retry_after: int | None = None) -> None:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    body = orjson.dumps({"error": {"message": message, "type": kind, "code": code, "param": None}})
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if retry_after is not None:
        headers.append((b"retry-after", str(retry_after).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
