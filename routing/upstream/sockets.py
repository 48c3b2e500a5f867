"""aiohttp's pool of sockets, with three things added.

It says whether a call got a used socket, no reader is forgotten, and what nobody asked for is nobody's answer.

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
    from aiohttp.client_reqrep import ConnectionKey
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
            protocol.used, protocol.kept = True, False
        return connection

    def _release(self, key: "ConnectionKey", protocol: ResponseHandler, *, should_close: bool = False) -> None:
        """Keep a socket, or close it."""
        if isinstance(protocol, _Protocol):
            protocol.kept = True
        super()._release(key, protocol, should_close=should_close)


class _Protocol(ResponseHandler):
    used = False
    kept = False  # for the next call

    def data_received(self, data: bytes) -> None:
        """Close a kept socket that says something: aiohttp takes it for the answer to the next request, of whoever."""
        unasked = self.kept and data  # aiohttp calls it without any to go on with what it has
        if not unasked:
            super().data_received(data)
        if unasked or (self.kept and self.should_close):  # or more came with the end of the answer, which let it go
            self.close()

    def set_exception(self, exc: BaseException, exc_cause: BaseException | None = None) -> None:
        """Also tell who reads the body: on a broken chunk, aiohttp lets them wait for ever."""
        payload = self._payload
        if exc_cause is None:
            super().set_exception(exc)
        else:
            super().set_exception(exc, exc_cause)
        if payload is not None and not payload.is_eof() and payload.exception() is None:
            payload.set_exception(aiohttp.ClientPayloadError(BROKEN_RULES), exc)
