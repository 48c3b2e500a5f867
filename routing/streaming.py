"""Relaying a stream: hold back until there is content, then pass on event by event, and know how it ended.

    first_token deadline │ first content │ idle deadline between data │ finish_reason, [DONE] or the format's end
    ─────── held ────────┼── committed ──┴────────── relayed ─────────┴── the engine settles, then sends the end

Nothing reaches the client before the first content, so that a failure until then is invisible to it. A stream that goes
on with another that broke (rescue.py) is relayed alike; what its client has already, the exchange keeps back.
"""

import asyncio
import time

from resilience.core.kinds import Kind
from resilience.core.outcome import SUCCESS, Failure, Outcome
from routing.adapters.base import Exchange
from routing.chains import Target
from routing.http_body import WRITE_DEADLINE
from routing.job import Job
from routing.sse import Event, EventReader, EventTooLargeError
from routing.upstream import UpstreamError, UpstreamResponse

HOLD_BYTES = 256 * 1024  # of preamble held back; more than that is sent on
TRAILING = 0.5  # s; after the last finish reason, for usage and [DONE]
TENTATIVE = 5.0  # s; the same after a piece of those that all say they are the last

CLIENT_STALLED = Failure(kind=Kind.CANCELLED, message="the client stopped reading")


class Relay:
    """One stream from a provider to the client."""

    def __init__(self, job: Job, target: Target, exchange: Exchange, response: UpstreamResponse) -> None:
        self._job = job
        self._target = target
        self._exchange = exchange
        self._response = response
        self._reader = EventReader()
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._begun = False
        self._writing = False
        self.first_content: float | None = None  # the loop's time
        self._complete_by: float | None = None  # once finished: when to stop waiting for trailing events
        self._loop = asyncio.get_running_loop()

    async def run(self, content_by: float, end_by: float) -> Outcome:
        """Relay to the end. content_by, end_by: the loop's times of the first content and of everything.

        The outcome of a stream that began and broke is a failure like any other.
        """
        try:
            async with asyncio.timeout_at(content_by) as clock:
                while (outcome := await self._next(clock, end_by)) is None:
                    pass
                return outcome
        except TimeoutError:
            return self._timed_out()
        except UpstreamError as error:
            return SUCCESS if self._exchange.finished else Failure(kind=error.kind, message=str(error))
        except EventTooLargeError:
            return Failure(kind=Kind.TRANSIENT, message="an event of the stream did not end")

    async def _next(self, clock: asyncio.Timeout, end_by: float) -> Outcome | None:
        """Relay what comes in one piece; None while the stream goes on."""
        exchange = self._exchange
        chunk = await self._response.chunk()
        events = self._reader.feed(chunk) if chunk else self._reader.rest()
        output = self._take(events)
        failed = exchange.error is not None and not exchange.finished  # whoever has the whole answer need not know more
        if failed and not (self._begun or exchange.has_content):
            return exchange.error  # had it come after content in one piece, the content would be the client's
        if not chunk and not (self._begun or exchange.finished or exchange.closed):
            return self._ended()
        if ready := self._ready(output):
            clock.reschedule(self._loop.time() + WRITE_DEADLINE)
            await self._write(ready)
        if failed:
            return exchange.error
        if not chunk or exchange.closed or exchange.error is not None:
            return self._ended()
        if self._begun and any(event.data is not None for event in events):
            clock.reschedule(min(self._data_by(), end_by))
        return None

    def _take(self, events: list[Event]) -> bytes:
        """What the client is to get for these events; whatever comes after the end, or after an error, is not looked at."""
        exchange = self._exchange
        output = []
        for event in events:
            output.append(exchange.feed(event))
            if exchange.closed or exchange.error is not None:
                break
        return b"".join(output)

    def _data_by(self) -> float:
        """When the next data must have come. What may follow a finished answer cannot draw it out by coming slowly."""
        idle = self._target.provider.timeouts.idle
        if not self._exchange.finished:
            return self._loop.time() + idle
        if self._exchange.tentative:
            return self._loop.time() + min(idle, TENTATIVE)
        if self._complete_by is None:
            self._complete_by = self._loop.time() + TRAILING
        return self._complete_by

    def _ready(self, output: bytes) -> bytes:
        """What may be written now: everything held so far once there is content, nothing before."""
        exchange = self._exchange
        if self._begun:
            return output
        if output:
            self._held.append(output)
            self._held_bytes += len(output)
        if not (exchange.has_content or exchange.finished or self._held_bytes > HOLD_BYTES):
            return b""
        self._begun = True
        self.first_content = time.monotonic()
        output = b"".join(self._held)
        self._held.clear()
        return output

    async def _write(self, output: bytes) -> None:
        job = self._job
        self._writing = True
        if not job.client.started:
            job.first_content = time.monotonic() - job.started
            await job.client.start(job, self._target)
        await job.client.write(output)
        self._writing = False

    def _ended(self) -> Outcome:
        """The body is over, or the format said so."""
        exchange = self._exchange
        if exchange.finished or (exchange.closed and self._begun):
            return SUCCESS
        if exchange.closed or not self._begun:
            return Failure(kind=Kind.TRANSIENT, message="the stream ended without content", status=200)
        return Failure(kind=Kind.TRANSIENT, message="the stream ended without a finish reason", status=200)

    def _timed_out(self) -> Outcome:
        if self._writing:
            return CLIENT_STALLED
        if self._exchange.finished:
            return SUCCESS  # only trailing events were still awaited
        what = "no data in the stream" if self._begun else "no first token"
        return Failure(kind=Kind.TIMEOUT, message=f"{what} in time")
