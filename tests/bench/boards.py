"""`python -m tests.bench.boards`: how soon open boards hear of a fact, and what they cost the traffic.

act ──POST──► gateway ──► board on it            100 times; at most 0.5 s
                 └─────► board on another process   at most 1 s (no Redis: by polling)
a storm of 300 transitions ──► the board ends on the last state, and has not stood still
full load, with and without 20 open boards ──► requests/s, and what a page takes meanwhile
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from websockets.asyncio.client import ClientConnection, connect

from tests.bench import gateway as gateways
from tests.bench import nginx
from tests.bench.gateway import Gateway, Installation
from tests.bench.plain_load import Burst, Load, post
from tests.bench.processes import BenchError, Children, free_port, require

ACCOUNT, PASSWORD = "bench", "bench-password"
SAME_PROCESS, OTHER_PROCESS = 0.5, 1.0  # s, as DASHBOARD promises
TRANSITIONS, STORM, BOARDS = 100, 300, 20
ROUNDS, SECONDS, CONNECTIONS = 3, 5.0, 32
PATIENCE = 15.0  # s for what should come at once
COST = 0.10  # of the throughput that the boards may cost
PROVIDER = "bench-stream"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Throughput with some boards open, and how long the board's page took meanwhile, in seconds."""

    boards: int
    bursts: Sequence[Burst]
    pages: Sequence[float]

    @property
    def per_second(self) -> float:
        """Of the median round."""
        return statistics.median(burst.per_second for burst in self.bursts)


async def cookies(gateway: Gateway) -> httpx.Cookies:
    """Log in as a person does."""
    async with httpx.AsyncClient(base_url=gateway.url) as client:
        await client.get("/login/")
        form = {"username": ACCOUNT, "password": PASSWORD, "csrfmiddlewaretoken": client.cookies["csrftoken"]}
        answer = await client.post("/login/", data=form)
        if answer.status_code != 302:
            raise BenchError(f"the login was refused: {answer.status_code}")
        return client.cookies


@asynccontextmanager
async def board(gateway: Gateway, jar: httpx.Cookies) -> AsyncIterator[ClientConnection]:
    """An open board: its socket, after the first message."""
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items()), "Origin": gateway.url}
    address = f"ws{gateway.url.removeprefix('http')}/ws/board/?page=board"
    async with connect(address, additional_headers=headers, max_size=None) as socket:
        await asyncio.wait_for(socket.recv(), PATIENCE)
        yield socket


async def heard(socket: ClientConnection, state: str) -> float:
    """The moment at which the board shows the provider in a state. Raises TimeoutError."""
    sign = f'data-provider="{PROVIDER}" data-state="{state}"'
    async with asyncio.timeout(PATIENCE):
        while sign not in str(await socket.recv()):
            pass
    return time.monotonic()


async def act(gateway: Gateway, client: httpx.AsyncClient, what: str) -> None:
    """One transition."""
    answer = await client.post(
        f"{gateway.url}/api/resilience/breakers/{PROVIDER}/{what}/",
        json={"reason": "bench"},
        headers={"Authorization": f"Bearer {gateway.api_key}"},
    )
    answer.raise_for_status()


async def delays(acting: Gateway, seen_on: Gateway) -> list[float]:
    """Seconds from before the call that makes a transition until the board shows it."""
    found = []
    async with httpx.AsyncClient(timeout=PATIENCE) as client, board(seen_on, await cookies(seen_on)) as socket:
        for number in range(TRANSITIONS):
            what, state = (("force-open", "OPEN"), ("unforce", "CLOSED"))[number % 2]
            began = time.monotonic()
            await act(acting, client, what)
            found.append(await heard(socket, state) - began)
    return found


async def storm(gateway: Gateway) -> tuple[float, int, float]:
    """Seconds that the storm took, messages the board got meanwhile, seconds until it showed the last state."""
    messages = 0

    async def count(socket: ClientConnection) -> None:
        nonlocal messages
        while True:
            await socket.recv()
            messages += 1

    async with httpx.AsyncClient(timeout=60) as client, board(gateway, await cookies(gateway)) as socket:
        counting = asyncio.create_task(count(socket))
        began = time.monotonic()
        for _batch in range(STORM // 20):
            await asyncio.gather(*(act(gateway, client, ("force-open", "unforce")[n % 2]) for n in range(20)))
        took = time.monotonic() - began
        counting.cancel()
        await asyncio.gather(counting, return_exceptions=True)
        began = time.monotonic()
        await act(gateway, client, "force-open")
        return took, messages, await heard(socket, "OPEN") - began


async def loaded(gateway: Gateway, load: Load, boards: int) -> Loaded:
    """Full load while boards are open and somebody asks for the page once a second."""
    bursts, pages = [], []
    jar = await cookies(gateway)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(httpx.AsyncClient(cookies=jar, timeout=60))
        for _board in range(boards):
            socket = await stack.enter_async_context(board(gateway, jar))
            reading = asyncio.create_task(_read(socket))
            stack.callback(reading.cancel)
        for _round in range(ROUNDS):
            burst = asyncio.create_task(asyncio.to_thread(post, load, connections=CONNECTIONS, seconds=SECONDS))
            while not burst.done():
                await asyncio.sleep(1)
                began = time.monotonic()
                (await client.get(gateway.url)).raise_for_status()
                pages.append(time.monotonic() - began)
            bursts.append(burst.result())
    return Loaded(boards, bursts, pages)


async def _read(socket: ClientConnection) -> None:
    async for _message in socket:
        pass


def words(name: str, found: Sequence[float], limit: float) -> str:
    """One line of the table."""
    ordered = sorted(found)
    late = sum(each > limit for each in ordered)
    p95 = ordered[int(len(ordered) * 0.95)]
    return (
        f"{name:<34} median {ordered[len(ordered) // 2] * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms,"
        f" worst {ordered[-1] * 1000:.0f} ms; {late} of {len(ordered)} over {limit * 1000:.0f} ms"
    )


async def run(installed: Installation, children: Children) -> int:
    """Measure; 1 if a promise is broken."""
    ours = gateways.serve(children, installed, port=free_port(), core=0)
    same = await delays(ours, ours)
    sys.stdout.write(words("to a board on the same process", same, SAME_PROCESS) + "\n")
    other = gateways.serve(children, installed, "--role", "dashboard", port=free_port(), core=1)
    across = await delays(ours, other)
    sys.stdout.write(words("to a board on another process", across, OTHER_PROCESS) + "\n")
    took, messages, last = await storm(ours)
    sys.stdout.write(
        f"{STORM} transitions in {took:.1f} s: {messages} messages meanwhile, last state {last:.2f} s later\n"
    )
    load = Load(f"{ours.url}/v1/chat/completions", "bench", installed.api_key, children.folder, 1)
    await loaded(ours, load, 0)  # warms up
    alone, watched = await loaded(ours, load, 0), await loaded(ours, load, BOARDS)
    cost = 1 - watched.per_second / alone.per_second
    for each in (alone, watched):
        page = f"page median {statistics.median(each.pages) * 1000:.0f} ms, worst {max(each.pages) * 1000:.0f} ms"
        sys.stdout.write(f"full load, {each.boards:>2} boards: {each.per_second:,.0f} requests/s; {page}\n")
    sys.stdout.write(f"{BOARDS} boards cost {cost:.1%} of the throughput (limit {COST:.0%})\n")
    kept = max(same) <= SAME_PROCESS and max(across) <= OTHER_PROCESS and messages > 0 and cost <= COST
    return 0 if kept else 1


def main() -> int:
    """Exit code 1 if a promise is broken or nothing could be measured."""
    try:
        require("nginx", "nginx-light")
        require("wrk", "wrk")
        with tempfile.TemporaryDirectory(prefix="omniroute-bench-") as folder, Children(Path(folder)) as children:
            port = free_port()
            nginx.start_upstream(children, port=port, core=1)
            installed = gateways.install(children, plain_port=port, stream_port=port)
            account = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD, **installed.env}
            create = ["createsuperuser", "--noinput", "--username", ACCOUNT, "--email", "bench@example.com"]
            gateways.manage(create, account)
            return asyncio.run(run(installed, children))
    except BenchError as error:
        sys.stderr.write(f"bench: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
