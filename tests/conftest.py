"""What every test gets: async tests run, an empty database, and no socket leaves this machine."""

import inspect
import socket
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.management.color import no_style
from django.db import connection
from django.test import TransactionTestCase

MADE_BY_MIGRATE = {
    "django_migrations",
    "django_content_type",
    "auth_permission",
    "auth_group",
    "auth_group_permissions",
}


def _empty_database(_: TransactionTestCase) -> None:
    """After a test with transactions of its own: all rows go but those that `migrate` makes.

    Django's flush deletes them too and makes them anew, which takes longer than most of these tests.
    """
    tables = {*connection.introspection.django_table_names(only_existing=True, include_views=False)} - MADE_BY_MIGRATE
    statements = connection.ops.sql_flush(no_style(), sorted(tables), reset_sequences=False, allow_cascade=False)
    connection.ops.execute_sql_flush(statements)


TransactionTestCase._fixture_teardown = _empty_database  # type: ignore[method-assign]


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
