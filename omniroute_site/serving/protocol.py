"""uvicorn's HTTP protocol with the edges that the gateway's clients run into taken care of.

A request that is not HTTP is refused in the gateway's words; a head that is endless, or never comes, is not waited for;
an offer to speak HTTP/2 (Java's client makes it with every request) does not cost the request its body; and a client that
has stopped reading does not keep a socket, with all that waits to be written to it, for as long as it likes.
"""

import asyncio
import re
from typing import Any

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from routing.errors import GatewayError
from routing.http_body import WRITE_DEADLINE
from routing.ids import uuid7

HEAD_BYTES = 256 * 1024  # of a request's head; less is refused with more grace in routing.proxy
BLANK_LINE = b"\r\n\r\n"
OFFER = re.compile(rb"\r\nUpgrade:[ \t]*h2c", re.IGNORECASE)
REFUSED_OFFER = b"\r\nX-Upgrade: h2c"


class GatewayProtocol(HttpToolsProtocol):
    """One connection of a client."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0  # of the head that is coming
        self._in_head = False
        self._unread: asyncio.TimerHandle | None = None  # ends a connection whose client does not read

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Give the first request as long as a later one."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Feed the parser, which by itself knows no limit."""
        began_before = self._in_head
        if b"h2c" in data and self._idle:
            data = _without_offer(data)
        super().data_received(data)
        if not self._in_head or self.transport.is_closing():
            return
        if began_before:
            self._head_bytes += len(data)
        if self._head_bytes > HEAD_BYTES:
            self._refuse(f"The request's head is larger than {HEAD_BYTES} bytes.", 431)
        elif self._idle:
            self._await_head()

    @property
    def _idle(self) -> bool:
        """Whether no request is under way."""
        return self.cycle is None or self.cycle.response_complete

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._in_head, self._head_bytes = True, 0

    def on_headers_complete(self) -> None:
        """It ends."""
        self._in_head = False
        super().on_headers_complete()

    def pause_writing(self) -> None:
        """As much waits for the client as may wait."""
        super().pause_writing()
        self._unread = self.loop.call_later(WRITE_DEADLINE, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads."""
        self._forget_unread()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """It left, or was left."""
        self._forget_unread()
        super().connection_lost(exc)

    def timeout_keep_alive_handler(self) -> None:
        """No request came for long. A close would wait for a client that has not read the last answer either."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    def send_400_response(self, msg: str) -> None:
        """What came is not HTTP."""
        self._refuse(msg, 400)

    def _forget_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _await_head(self) -> None:
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def _refuse(self, message: str, status: int) -> None:
        """Answer without a request, and end the connection."""
        request_id = uuid7()
        error = GatewayError(message, status=status, code="invalid_request")
        body = orjson.dumps(error.body(request_id, "-"))
        head = (
            f"HTTP/1.1 {status} Refused\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
            f"connection: close\r\nx-omniroute-request-id: {request_id}\r\nx-omniroute-chain: -\r\n"
            "x-omniroute-attempts: 0\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


def _without_offer(data: bytes) -> bytes:
    """The bytes with the header renamed: the parser takes all that follows an upgrade for another protocol's."""
    head, blank, body = data.partition(BLANK_LINE)
    return OFFER.sub(REFUSED_OFFER, head) + blank + body
