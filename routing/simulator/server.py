"""The server: raw asyncio connections that carry out plans, so that they can reset, stall and cut like a bad network."""

import asyncio
import socket
import struct
import time
from types import TracebackType
from typing import Self, cast

import orjson

from routing.simulator import controls
from routing.simulator.behaviour import Behaviour, Control
from routing.simulator.faults import End, Pause, Step
from routing.simulator.http import CONTINUE, ProtocolError, Request, RequestParser
from routing.simulator.providers import Providers
from routing.simulator.requestlog import Entry, RequestLog

# More than this waiting behind a request that is being answered, and the client is made to wait (pipelining is rare).
MAX_WAITING_BYTES = 64 * 1024
_LINGER_ZERO = struct.pack("ii", 1, 0)  # close() then sends RST instead of FIN


class Connection(asyncio.Protocol):
    """One client connection; answers its requests one after the other."""

    def __init__(self, providers: Providers, open_connections: set["Connection"]) -> None:
        self._providers = providers
        self._open = open_connections
        self._parser = RequestParser()
        self._transport: asyncio.Transport
        self._task: asyncio.Task[None] | None = None
        self._entry: Entry | None = None
        self.lost = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)
        self._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 (asyncio's signature)
        """Stop what is being sent; an answer that was not complete is noted as left by the client."""
        self._open.discard(self)
        self.lost.set()
        if self._task is not None:
            self._task.cancel()
        if self._entry is not None:
            self._entry.end(time.time(), client_closed=True)
            self._entry = None

    def pause_writing(self) -> None:
        """The client reads too slowly."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """The client caught up."""
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        """Parse, and answer unless an answer is under way."""
        self._parser.feed(data)
        if self._task is None:
            self._serve()
        elif len(self._parser.buffer) > MAX_WAITING_BYTES:
            self._transport.pause_reading()

    def abort(self) -> None:
        """Drop the connection."""
        self._transport.abort()

    def _serve(self) -> None:
        """Answer every complete request there is; one that takes time goes on in a task."""
        while self._task is None and not self._transport.is_closing():
            try:
                request = self._parser.take()
            except ProtocolError as error:
                self._transport.write(controls.Reply(error.status, {"error": str(error)}).encode())
                self._transport.close()
                return
            if request is None:
                if self._parser.wants_continue:
                    self._parser.wants_continue = False
                    self._transport.write(CONTINUE)
                return
            self._handle(request)

    def _handle(self, request: Request) -> None:
        answered = self._providers.answer(request)
        if answered is None:
            self._transport.write(controls.handle(request, self._providers).encode())
            steps: list[Step] = []
        else:
            made, self._entry = answered
            steps = made.steps
        if not request.keep_alive:
            steps.append(End.CLOSE)
        if all(isinstance(step, bytes) for step in steps) and self._writable.is_set():
            self._transport.write(b"".join(cast("list[bytes]", steps)))
            self._end_entry()
        else:
            self._task = asyncio.get_running_loop().create_task(self._perform(steps))

    async def _perform(self, steps: list[Step]) -> None:
        """Carry out steps that take time or end the connection, then go on with the next request."""
        for step in steps:
            if isinstance(step, bytes):
                await self._writable.wait()
                self._transport.write(step)
            elif isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
            elif step is End.HANG:
                await asyncio.get_running_loop().create_future()
            else:
                self._finish(step)
                return
        self._end_entry()
        self._task = None
        if not self._transport.is_closing():
            self._transport.resume_reading()
            self._serve()

    def _finish(self, end: End) -> None:
        self._end_entry()
        if end is End.CLOSE:
            self._transport.close()
            return
        connection: socket.socket = self._transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
        self._transport.abort()

    def _end_entry(self) -> None:
        if self._entry is not None:
            self._entry.end(time.time())
            self._entry = None


class Simulator:
    """The simulated providers on a port: `async with Simulator() as simulator: … simulator.url`."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self._host, self._port = host, port
        self._providers = Providers()
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """Where it listens, `http://host:port`; the port is the real one once started."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    @property
    def control(self) -> Control:
        """What the providers are told to do."""
        return self._providers.control

    @property
    def log(self) -> RequestLog:
        """What the providers were asked."""
        return self._providers.log

    def behave(self, name: str, **members: object) -> Behaviour:
        """Set a behaviour as `PUT /control/{name}` does. Raises ControlError."""
        return self.control.put(name, orjson.dumps(members))

    async def start(self) -> None:
        """Listen. Raises OSError if the port is taken."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self._providers, self._connections), self._host, self._port, backlog=1024
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and drop all connections."""
        if self._server is None:
            return
        self._server.close()
        dropped = tuple(self._connections)
        for connection in dropped:
            connection.abort()
        for connection in dropped:  # connection_lost comes in one of the loop's next turns
            await connection.lost.wait()
        await self._server.wait_closed()
        self._server = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
