"""aiohttp's pool of sockets, with two things added: it says whether a call got a used socket, and no reader is forgotten.

Subclasses reach into aiohttp where its interface ends; tests/routing/engine/test_upstream_sockets.py holds what they
rely on.
"""

from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

if TYPE_CHECKING:
    from aiohttp import ClientRequest, ClientTimeout
    from aiohttp.tracing import Trace

on_used_socket: ContextVar[bool] = ContextVar("on_used_socket", default=False)
"""Whether the running task's last call went out on a socket that had carried another one before."""

BROKEN_RULES = "the answer's body breaks HTTP's rules"


class SocketPool(aiohttp.TCPConnector):
    """Sockets to one provider. Sets `on_used_socket` for every call."""

    def __init__(self, **options: Any) -> None:
        # no limit on sockets: `max_concurrency` is the operator's, and a hidden one would be a hidden queue
        super().__init__(limit=0, **options)
        self._factory = partial(_Protocol, loop=self._loop)  # type: ignore[assignment]  # what is called counts

    async def connect(
        self,
        req: "ClientRequest",
        traces: list["Trace"],
        timeout: "ClientTimeout",  # noqa: ASYNC109 (aiohttp's signature)
    ) -> Connection:
        """Get a kept socket or open one."""
        on_used_socket.set(False)
        connection = await super().connect(req, traces, timeout)
        protocol = connection.protocol
        if isinstance(protocol, _Protocol):
            on_used_socket.set(protocol.used)
            protocol.used = True
        return connection


class _Protocol(ResponseHandler):
    used = False

    def set_exception(self, exc: BaseException, exc_cause: BaseException | None = None) -> None:
        """Also tell who reads the body: on a broken chunk, aiohttp lets them wait for ever."""
        payload = self._payload
        if exc_cause is None:
            super().set_exception(exc)
        else:
            super().set_exception(exc, exc_cause)
        if payload is not None and not payload.is_eof() and payload.exception() is None:
            payload.set_exception(aiohttp.ClientPayloadError(BROKEN_RULES), exc)
