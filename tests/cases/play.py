"""Plays a row: its providers on loopback, the proxy in this process, its steps in order."""

import asyncio
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from asgiref.sync import sync_to_async
from django.apps import apps

from resilience import reading
from resilience import registry as registries
from resilience.registry import Registry
from routing import table, upstream
from routing.configfile import apply_file
from tests.routing.engine.harness import KEY, Answer, Call

from .chatstream import read_events
from .provider import Providers
from .rows import Row

Json = Any
PATIENCE = 8.0
"""s; nothing in a row takes as long. What does, hangs."""


@dataclass
class Step:
    """The answers to a request step, and what it wants of them (None: what the row wants)."""

    number: int
    expect: dict[str, Json] | None
    background: bool
    answers: list[Answer] = field(default_factory=list)
    left: int = 0  # clients that hung up


class Play:
    """One row, played. `offset` is how far the row's clock is ahead of the wall's."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.offset = timedelta(0)
        self.steps: list[Step] = []
        self.old_registries: list[Registry] = []
        scripts = {one["name"]: one["script"] for one in row.row["upstreams"]}
        self.providers = Providers(scripts, lambda text: row.expand(text, self.now()))
        self._background: list[asyncio.Task[None]] = []
        self._since_first = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.offset

    async def run(self) -> None:
        """Play every step, then wait for what is still under way."""
        await self.providers.start()
        try:
            await sync_to_async(self._configure)()
            async with asyncio.timeout(3 * PATIENCE):
                for number, step in enumerate(self.row.steps, 1):
                    await getattr(self, "_" + step["do"])(number, step)
                await asyncio.gather(*self._background)
                await self._hang_ups_arrived()
        finally:
            await upstream.current().aclose()
            await self.providers.stop()

    def _configure(self) -> None:
        apply_file(self.row.configuration(self.providers.port))
        table.load()

    async def _hang_ups_arrived(self) -> None:
        """The upstream calls are over, those of clients that left given up."""
        if not any(step.left for step in self.steps):
            return
        async with asyncio.timeout(PATIENCE):
            for calls in self.providers.calls.values():
                for call in calls:
                    await call.ended.wait()

    async def _request(self, number: int, step: dict[str, Json]) -> None:
        played = Step(number, step.get("expect"), bool(step.get("background")))
        self.steps.append(played)
        if played.background:
            before = sum(map(len, self.providers.calls.values()))
            self._background.append(asyncio.create_task(self._ask(step, played)))
            await self.providers.called(before + 1)
        else:
            await self._ask(step, played)

    async def _ask(self, step: dict[str, Json], played: Step) -> None:
        client = step.get("client") or {}
        for _ in range(step.get("repeat") or client.get("repeat") or 1):
            together = (self._send(step, client, played) for _ in range(client.get("concurrency", 1)))
            played.answers += [answer for answer in await asyncio.gather(*together) if answer is not None]

    async def _send(self, step: dict[str, Json], client: dict[str, Json], played: Step) -> Answer | None:
        row = self.row.row
        model = self.row.chains[tuple(step.get("chain", row["chain"]))]
        payload = json.dumps(row["request"] | {"model": model}, ensure_ascii=False).encode()
        if row.get("request_encoding") == "gzip":
            payload = gzip.compress(payload)
        headers = {name: self.row.expand(value, self.now()) for name, value in row.get("request_headers", {}).items()}
        calls_before = sum(map(len, self.providers.calls.values()))
        call = Call(payload, path=row.get("path", "/v1/chat/completions"), headers=headers, key=KEY)
        async with asyncio.timeout(PATIENCE):
            if "abort_after_events" in client:
                await _until(call, lambda: len(list(read_events(_body(call)))) >= client["abort_after_events"])
            elif "abort_after_ms" in client:  # it leaves while it waits, however long that takes to begin
                await self.providers.called(calls_before + 1)
            else:
                return await call.answer()
            assert not call.task.done(), f"the answer ended before the client could hang up: {_body(call)!r}"
            call.hang_up()
            played.left += 1
            await call.task
        return None

    async def _sleep(self, number: int, step: dict[str, Json]) -> None:
        seconds = timedelta(seconds=step.get("s", 0))
        if "until_s" in step:
            seconds = timedelta(seconds=step["until_s"]) - self._since_first
        self._since_first += seconds
        self.offset += seconds

    async def _restart_gateway(self, number: int, step: dict[str, Json]) -> None:
        """Another process takes over: all it has is the database."""
        self.old_registries.append(registries.get_registry())
        registries._registry = Registry()
        registries._registry.apply(await sync_to_async(reading.load_all)())

    async def _admin_bulk_update(self, number: int, step: dict[str, Json]) -> None:
        await sync_to_async(self._edit)(step)

    def _edit(self, step: dict[str, Json]) -> None:
        """Change rows as a bulk action does, then look as the poll does within a second."""
        [model] = [one for one in apps.get_models() if one.__name__ == step["model"]]
        assert model._default_manager.filter(**step["filter"]).update(**step["set"]) == 1
        table.refresh()


def _body(call: Call) -> str:
    return b"".join(message.get("body", b"") for message in call.messages).decode("utf-8", "replace")


async def _until(call: Call, reached: Callable[[], bool]) -> None:
    while not reached() and not call.task.done():
        call._arrived.clear()
        arriving = asyncio.create_task(call._arrived.wait())
        await asyncio.wait((arriving, call.task), return_when=asyncio.FIRST_COMPLETED)
        arriving.cancel()
