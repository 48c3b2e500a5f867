"""What every test gets: async tests run, and no socket leaves this machine."""

import inspect
import socket
from typing import Any

import pytest
from asgiref.sync import async_to_sync


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run `async def` tests through asgiref, so that they share the test's database transaction."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    async_to_sync(pyfuncitem.obj)(**arguments)
    return True


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse connections to anything but this machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        if host and host not in ("127.0.0.1", "::1", "localhost"):
            raise RuntimeError(f"a test tried to reach {host}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
