"""`/healthz`: the process is alive. `/readyz`: it can take requests."""

import asyncio

from django.db import Error, connection

from resilience.registry import get_registry
from routing import lifecycle, table
from routing.client import HttpClient

PATHS = ("/healthz", "/readyz")
DATABASE_PATIENCE = 2.0  # s


async def answer(path: str, client: HttpClient) -> None:
    """Answer a probe of a load balancer."""
    if path == "/healthz":
        await client.send_json(200, [], {"status": "ok"})
        return
    problems = {
        "draining": lifecycle.draining(),
        "table": not table.is_loaded(),
        "database": not await _database_answers(),
    }
    failing = [name for name, bad in problems.items() if bad]
    status = {"status": "not ready", "failing": failing} if failing else {"status": "ready"}
    await client.send_json(503 if failing else 200, [], status)


async def _database_answers() -> bool:
    try:
        async with asyncio.timeout(DATABASE_PATIENCE):
            await get_registry().thread.run(_select_one)
    except (Error, TimeoutError):
        return False
    return True


def _select_one() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
