"""News between processes through Redis, with no poll to help."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.site.processes import ROOT, environment, manage

pytestmark = pytest.mark.services

LISTENER = """
import asyncio, django
django.setup()
from resilience import news

async def main():
    heard = asyncio.Queue()
    task = asyncio.create_task(news.listen("state", lambda: heard.put_nowait(1)))
    await heard.get()  # the callback's first call: subscribed
    print("listening", flush=True)
    await asyncio.wait_for(heard.get(), 30)
    print("heard", flush=True)
    task.cancel()

asyncio.run(main())
"""


def test_an_action_in_one_process_is_heard_in_another(configured: str, redis_url: str) -> None:
    more = {"DATABASE_URL": configured, "REDIS_URL": redis_url}
    listener = subprocess.Popen(
        [sys.executable, "-c", LISTENER],
        cwd=ROOT,
        env=environment(Path(), DJANGO_SETTINGS_MODULE="omniroute_site.settings", **more),
        stdout=subprocess.PIPE,
        text=True,
    )
    with listener:
        assert listener.stdout
        assert listener.stdout.readline() == "listening\n"
        for action in ("force-open", "unforce"):
            done = manage("resilience", action, "primary", "--reason", "drill", database=Path(), **more)
            assert done.returncode == 0, done.stderr

        assert listener.stdout.readline() == "heard\n"
        assert listener.wait(10) == 0


def test_without_redis_actions_still_work(configured: str) -> None:
    """A Redis that is away costs a hint, not the action."""
    more = {"DATABASE_URL": configured, "REDIS_URL": "redis://127.0.0.1:1/0"}
    for action in ("force-open", "unforce"):
        done = manage("resilience", action, "primary", "--reason", "drill", database=Path(), **more)
        assert done.returncode == 0, done.stderr
