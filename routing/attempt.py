"""One attempt: from a permit to its settlement. There is no other way to call a provider.

permit ──► call ──► outcome ──► settle (exactly once, however the attempt ends)
"""

import asyncio
import time
from dataclasses import asdict, replace
from datetime import datetime
from urllib.parse import urlsplit

from resilience.core.classify import classify_http
from resilience.core.kinds import Kind
from resilience.core.outcome import SUCCESS, Failure, Outcome, Success
from resilience.core.permit import Permit
from routing import rescue, telemetry
from routing.adapters.base import Answer, Exchange
from routing.adapters.translation import NOT_AS_DESCRIBED
from routing.chains import Target
from routing.egress import egress
from routing.errors import GatewayError
from routing.gate import sibling_usable
from routing.job import Job
from routing.journal import Line, seconds_until
from routing.redaction import without_secrets
from routing.sse import BOM
from routing.streaming import Relay
from routing.upstream import UpstreamError, UpstreamRequest, UpstreamResponse

REASONING_PATIENCE = 6  # times the usual wait for a first token
SOCKET_PATIENCE = 0.5  # s; to read the end of a complete answer, so that its socket can be used again

CANCELLED = Failure(kind=Kind.CANCELLED, message="given up before the end")
NETWORK_IS_OURS = Failure(kind=Kind.LOCAL, message="no host can be reached: the network here is down")

_closing: set[asyncio.Task[None]] = set()  # sockets being given back; a set, since a loop holds tasks only weakly


class Attempt:
    """One admitted upstream call. `rest` is what the client still has to get after a success."""

    def __init__(self, job: Job, target: Target, *, last: bool, followed: bool) -> None:
        """last: no other target could answer after this one, so it may take its time. followed: others are in line."""
        self._job = job
        self._target = target
        self._time = time.monotonic  # of the same origin as the loop's clock, which in uvloop stands still for a turn
        timeouts = target.provider.timeouts
        self._patience = timeouts.response if last or not job.request.stream else _first_token(job, target)
        self._end_by = job.started + timeouts.total
        self._followed = followed
        self._relay: Relay | None = None
        self._line: Line = {}
        self.rest: Answer | bytes = b""

    async def run(self, permit: Permit) -> Outcome:
        """Call the target and settle the permit."""
        job, target = self._job, self._target
        provider = target.provider.slug
        job.live.enter(provider, target.connection.slug)
        outcome: Outcome = CANCELLED  # what holds if a cancellation, a bug or our own translation ends this early
        exchange: Exchange | None = None
        try:
            exchange = rescue.exchange_for(job, target, self._output_cap, followed=self._followed)
            request = exchange.request()
            if isinstance(request, Answer):
                self.rest = request
                return SUCCESS  # nobody was asked, so the permit is given back
            self._line = job.journal.begin(target, self._time())
            if exchange.dropped_params:
                self._line["dropped_params"] = list(exchange.dropped_params)
            outcome = await self._exchange(exchange, request)
            if isinstance(outcome, Failure):
                outcome = _in_clients_words(without_secrets(outcome, target.connection), exchange)
        except GatewayError as error:
            if not job.client.started:
                raise
            outcome = Failure(kind=Kind.LOCAL, message=error.message)  # another target took the request before
        finally:
            job.live.leave(provider, target.connection.slug)
            await self._settle(permit, outcome)
        self._note_rescue(exchange, outcome)
        if outcome is SUCCESS:
            first = self._line.get("first_token", self._line["ended"])
            job.live.measure(provider, target.model, first - self._line["started"], self._time())
        return outcome

    def _note_rescue(self, exchange: Exchange | None, outcome: Outcome) -> None:
        """Whether the next target can go on with what broke; and what each part of an answer used."""
        job, line = self._job, self._line
        if isinstance(exchange, rescue.RescueExchange) and line:
            line["rescue"] = exchange.how
            telemetry.rescue(exchange.how, line["decision"])
        if isinstance(outcome, Failure) and job.client.started:
            job.broken = rescue.broken(job, exchange, outcome)
        if exchange is not None and job.broken is not None and exchange.usage.known:
            line["usage"] = {name: count for name, count in asdict(exchange.usage).items() if count is not None}

    @property
    def _output_cap(self) -> int | None:
        return self._job.table.settings.emergency.max_output_tokens if self._target.emergency else None

    async def _exchange(self, exchange: Exchange, request: UpstreamRequest) -> Outcome:
        """Call, and turn everything that can go wrong on the way into a failure."""
        self._job.live.use(self._target.provider.slug, self._target.model, self._time())
        try:
            return await self._call(exchange, request)
        except UpstreamError as error:
            if not error.reached:
                egress.unreached(_host(self._target), self._time())
            return Failure(kind=error.kind, message=str(error))
        finally:
            self._job.counted(self._target, exchange.usage)
            self._job.events = exchange.events
            telemetry.dropped_events(self._target.provider.slug, exchange.dropped)

    async def _call(self, exchange: Exchange, request: UpstreamRequest) -> Outcome:
        """Send the request and bring the answer home, streamed or not. Raises UpstreamError."""
        job = self._job
        response: UpstreamResponse | None = None
        outcome: Outcome = CANCELLED
        wait_until = min(self._time() + self._patience, self._end_by)
        try:
            async with asyncio.timeout_at(wait_until):
                provider = self._target.provider
                response = await job.upstream.open(provider.slug, request, provider.timeouts.connect)
                self._note_headers(response)
                good = 200 <= response.status < 300
                if good and (not job.request.stream or await response.begins_with_json()):
                    return await self._unstreamed(exchange, response)
            if not good:  # the status is known: a body that does not come is not what failed
                return self._classified(exchange, response, await response.read_error())
            self._relay = Relay(job, self._target, exchange, response)
            outcome = await self._relay.run(wait_until, self._end_by)
        except TimeoutError:
            return Failure(kind=Kind.TIMEOUT, message=f"no answer within {self._patience:g} s")
        finally:
            if outcome is SUCCESS:
                _finish(response)
            elif response is not None:
                await response.aclose()
        if outcome is SUCCESS:
            self.rest = exchange.end()
        return outcome

    async def _unstreamed(self, exchange: Exchange, response: UpstreamResponse) -> Outcome:
        body = (await response.read()).removeprefix(BOM)  # which some servers put before JSON, and clients refuse
        result = exchange.unary(body, response.headers)
        if isinstance(result, Failure):
            return result
        exchange.usage = result.usage
        try:
            self.rest = exchange.replay(result) if self._job.request.stream else result
        except NOT_AS_DESCRIBED:
            return Failure(kind=Kind.TRANSIENT, message="status 200, but the body cannot be told as a stream")
        return SUCCESS

    def _note_headers(self, response: UpstreamResponse) -> None:
        at = self._time()
        egress.answered(at)
        self._line["headers"] = at - self._job.started
        self._line["status"] = response.status

    def _classified(self, exchange: Exchange, response: UpstreamResponse, body: bytes) -> Failure:
        provider = self._target.provider
        return classify_http(
            exchange.error_format,
            response.status,
            response.headers,
            body,
            now=self._job.now,
            max_cooldown=provider.policy.cooldown.max_cooldown,
            rules=provider.error_rules,
        )

    async def _settle(self, permit: Permit, outcome: Outcome) -> None:
        """Tell the layers, then write down what happened. The only caller of `Registry.settle`."""
        job, target, line = self._job, self._target, self._line
        now, at = job.now, self._time()
        if self._relay is not None and self._relay.first_content is not None and outcome is not CANCELLED:
            line["first_token"] = self._relay.first_content - job.started
        verdict = outcome
        if isinstance(outcome, Failure) and outcome.status is None and "headers" not in line and egress.broken(at):
            verdict = NETWORK_IS_OURS
        try:
            await job.registry.settle(
                permit,
                target.provider.policy,
                verdict,
                now=now,
                sibling_usable=isinstance(verdict, Failure) and sibling_usable(target, job.registry, now),
                request_id=job.id,
            )
        finally:  # also for a client that leaves while the database is written to
            if line:  # else our own translation failed, and nothing was sent
                self._write_down(outcome, now, at)

    def _write_down(self, outcome: Outcome, now: datetime, at: float) -> None:
        job, target, line = self._job, self._target, self._line
        telemetry.attempt(target.provider.slug, "ok" if isinstance(outcome, Success) else outcome.kind.value)
        if isinstance(outcome, Success):
            job.journal.answered(line, at)
        elif outcome.kind in (Kind.CANCELLED, Kind.LOCAL):
            job.journal.released(line, outcome, at)
        else:
            job.journal.failed(line, target, outcome, at, retry_after=_retry_after(job, target, now))


def _first_token(job: Job, target: Target) -> float:
    """Seconds to wait for a first token while there are other targets."""
    patience = target.provider.timeouts.first_token
    return patience * REASONING_PATIENCE if target.facts.reasoning or job.request.wants_reasoning else patience


def _retry_after(job: Job, target: Target, now: datetime) -> float | None:
    """Seconds until this target can be called again, if the failure shut a gate.

    By what the database has, where it answers: a later failure that is not written yet would be undone by `kill -9`.
    """
    known = job.registry.stored() if job.registry.backlog.database_ok else job.registry
    shut = known.check(target.pair, target.provider.policy, now)
    until = getattr(shut, "until", None)
    return None if until is None else seconds_until(until, now)


def _in_clients_words(failure: Failure, exchange: Exchange) -> Failure:
    return replace(failure, param=exchange.clients_name(failure.param)) if failure.param else failure


def _host(target: Target) -> str:
    return urlsplit(target.connection.base_url).hostname or ""


def _finish(response: UpstreamResponse | None) -> None:
    """Read a complete stream to its last byte without keeping the client waiting: that is a task of its own."""
    if response is not None:
        task = asyncio.get_running_loop().create_task(_read_to_end(response))
        _closing.add(task)
        task.add_done_callback(_closing.discard)


async def _read_to_end(response: UpstreamResponse) -> None:
    try:
        await response.finish(SOCKET_PATIENCE)
    finally:
        await response.aclose()
