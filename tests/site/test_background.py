"""What runs beside the requests: started once, stopped in order, a failure tried again."""

import asyncio

import pytest

from omniroute_site import background
from resilience import sync
from routing import heartbeat, requestlog, table


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The parts replaced by ones that only note that they were called."""
    noted: list[str] = []

    def part(name: str, *, fails: bool = False) -> object:
        async def run(*_role: object) -> None:
            await asyncio.sleep(0)
            noted.append(name)
            if fails:
                raise OSError(name)

        return run

    for module, name in ((table, "table"), (sync, "state"), (requestlog, "log"), (heartbeat, "heart")):
        monkeypatch.setattr(module, "start", part(f"start {name}"))
        monkeypatch.setattr(module, "stop", part(f"stop {name}", fails=name == "state"))
    monkeypatch.setattr(table, "is_loaded", lambda: True)
    monkeypatch.setattr(background, "_start", None)
    return noted


async def test_many_first_requests_start_once(calls: list[str]) -> None:
    await asyncio.gather(*(background.ensure_started() for _ in range(10)))

    assert calls == ["start table", "start state", "start log", "start heart"]
    assert background.running()


async def test_state_is_flushed_first_and_a_failure_keeps_nobody_from_flushing(calls: list[str]) -> None:
    await background.ensure_started()
    calls.clear()

    await background.shutdown()
    await background.shutdown()

    assert calls == ["stop state", "stop log", "stop table", "stop heart"]
    assert not background.running()


async def test_a_start_that_failed_is_tried_again(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail() -> None:
        raise OSError("database")

    with monkeypatch.context() as broken:
        broken.setattr(sync, "start", fail)
        with pytest.raises(OSError, match="database"):
            await background.ensure_started()
    assert not background.running()

    await background.ensure_started()

    assert background.running()


async def test_a_caller_that_leaves_does_not_stop_the_start(calls: list[str]) -> None:
    caller = asyncio.create_task(background.ensure_started())
    await asyncio.sleep(0)
    caller.cancel()

    await background.ensure_started()

    assert calls == ["start table", "start state", "start log", "start heart"]


async def test_nothing_is_served_without_a_routing_table(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "is_loaded", lambda: False)

    with pytest.raises(background.NoTableError):
        await background.ensure_started()

    assert calls == ["start table"]
    assert not background.running()
