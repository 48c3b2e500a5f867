"""`/v1`, `/healthz` and `/readyz`: a bare ASGI application beside Django.

No middleware, no thread per request, no ORM (docs/adr/0001). Every error becomes an answer here and nowhere else.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from django.conf import settings

from resilience.registry import get_registry
from routing import engine, health, lifecycle, table, telemetry, upstream
from routing.adapters.base import ClientRequest
from routing.auth import authenticate, key_may_use
from routing.chains import resolve
from routing.client import HttpClient, Send, error_headers, request_headers
from routing.dialects import DIALECTS, Dialect, dialect_of
from routing.errors import GatewayError, draining
from routing.http_body import ClientGoneError, Receive, read_body
from routing.ids import uuid7
from routing.job import Job
from routing.journal import Journal
from routing.listing import list_models, one_model
from routing.live import live
from routing.logrow import Visit
from routing.table import ClientKey, RoutingTable

log = logging.getLogger("omniroute.proxy")

Scope = dict[str, Any]
MAX_HEADER_BYTES = 32 * 1024  # of all headers together; a client that sends more has lost its way

_random = random.Random()  # noqa: S311 (spreads load, guards nothing)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """One HTTP request."""
    path: str = scope["path"]
    if path in health.PATHS:
        await health.answer(path, HttpClient(send))
        return
    await Exchange(scope, receive, send).run()


class Exchange:
    """One request of a client, from its headers to its row in the request log."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._headers: dict[bytes, bytes] = dict(scope["headers"])
        self._table: RoutingTable = table.current()
        self._visit = Visit(uuid7(), datetime.now(UTC), time.monotonic())
        self._job: Job | None = None
        self._dialect: Dialect = dialect_of(scope["path"], self._headers)
        self._client = HttpClient(send, (self._dialect.id_header, self._visit.id.encode()))
        self._client_gone = False

    async def run(self) -> None:
        """Answer, whatever happens."""
        visit = self._visit
        try:
            await self._answer()
        except ClientGoneError:
            visit.client_left()
        except asyncio.CancelledError:
            visit.client_left()
            if not self._client_gone:
                raise  # the server is ending this task, and wants to hear that it ended
        finally:
            visit.finish(self._job, self._client.status, time.monotonic())

    async def _answer(self) -> None:
        try:
            await self._route()
        except GatewayError as error:
            await self._refuse(error)
        except engine.StreamInterruptedError as broken:
            await self._break_off(broken)
        except ClientGoneError:
            raise
        except Exception:
            # a bug must not take the connection down without a word, nor hide
            log.exception("request failed", extra={"request_id": self._visit.id})
            await self._refuse(
                GatewayError("The gateway made a mistake; it is in its log.", status=500, code="internal_error")
            )

    async def _route(self) -> None:
        method, path = self._scope["method"], self._scope["path"]
        if lifecycle.draining():
            raise draining()
        size = sum(len(name) + len(value) for name, value in self._scope["headers"])
        if size > MAX_HEADER_BYTES:
            raise GatewayError(
                f"The request's headers are larger than {MAX_HEADER_BYTES} bytes.", status=431, code="invalid_request"
            )
        handler = self._handler(method, path)
        key = authenticate(self._scope["headers"], self._table, "chat")
        self._visit.key_name = key.name
        await handler(key)

    def _handler(self, method: str, path: str) -> Callable[[ClientKey], Awaitable[None]]:
        if path in DIALECTS:
            allowed, handler = "POST", self._model_call
        elif path == "/v1/models" or path.startswith("/v1/models/"):
            allowed, handler = "GET", self._models
        else:
            known = ", ".join(DIALECTS)
            message = f"There is no {path} here; there are {known} and /v1/models."
            raise GatewayError(message, status=404, code="not_found")
        if method != allowed:
            message = f"{path} takes {allowed}, not {method}."
            raise GatewayError(message, status=405, code="method_not_allowed", allow=allowed)
        return handler

    async def _models(self, key: ClientKey) -> None:
        name = self._scope["path"].removeprefix("/v1/models").strip("/")
        if name:
            document = self._dialect.model_card(one_model(self._table, key, name))
        else:
            query = dict(parse_qsl(self._scope["query_string"].decode("latin-1"), keep_blank_values=True))
            document = self._dialect.model_list(list_models(self._table, key), query)
        await self._client.send_json(200, request_headers(self._visit.id, name or "-", 0), document)

    async def _model_call(self, key: ClientKey) -> None:
        body = await read_body(self._receive, self._headers, settings.MAX_BODY_BYTES)
        request = self._dialect.parse(body, self._headers)
        self._visit.asked(self._dialect.path, request)
        if not key_may_use(key, request.model):
            raise GatewayError(
                f"This key may not use the model {request.model!r}.",
                status=403,
                code="model_not_allowed",
                param="model",
            )
        self._job = self._new_job(request)
        await self._run_until_client_leaves(self._job)

    def _new_job(self, request: ClientRequest) -> Job:
        visit = self._visit
        return Job(
            id=visit.id,
            request=request,
            route=resolve(self._table, request.model),
            table=self._table,
            client=self._client,
            pair_with=self._dialect.pair,
            registry=get_registry(),
            live=live,
            upstream=upstream.current(),
            random=_random,
            started=visit.clock,
            journal=Journal(visit.clock),
        )

    async def _run_until_client_leaves(self, job: Job) -> None:
        """Run the engine; a disconnect cancels it, which closes the upstream and gives the permit back."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 (a coroutine that runs is in a task)
        watcher = asyncio.get_running_loop().create_task(self._watch(task))
        try:
            await engine.run(job)
        finally:
            watcher.cancel()

    async def _watch(self, task: asyncio.Task[Any]) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._client_gone = True
        task.cancel()

    async def _refuse(self, error: GatewayError) -> None:
        visit, job = self._visit, self._job
        visit.refused(error)
        if self._client.started:
            return  # nothing can be taken back
        chain = job.route.name if job else visit.requested_model or "-"
        lines = job.journal.for_client() if job else ()
        calls = job.journal.calls if job else 0
        headers = error_headers(visit.id, chain, calls, error)
        await self._client.send_json(error.status, headers, self._dialect.error_body(error, visit.id, chain, lines))
        if job is None:
            telemetry.refused(error.code)

    async def _break_off(self, broken: engine.StreamInterruptedError) -> None:
        """Tell a client in the middle of a stream that no more will come."""
        visit, job = self._visit, self._job
        if job is None or broken.failure.kind == "cancelled":
            visit.client_left()
            return
        error = GatewayError(
            f"The stream broke after its first content: {broken.failure.message}", status=502, code="stream_interrupted"
        )
        visit.refused(error)
        body = self._dialect.error_body(error, visit.id, job.route.name, job.journal.for_client())
        await self._client.finish(self._dialect.error_event(body, job.events))
