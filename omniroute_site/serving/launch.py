"""What `serve` and `quickstart` share: from a listening socket to the end of serving."""

import socket
import sys
from collections.abc import Callable

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor

from omniroute_site.roles import Role
from omniroute_site.serving.listener import url
from omniroute_site.serving.server import run
from omniroute_site.serving.supervisor import Supervisor


class NotMigratedError(Exception):
    """The database cannot be served from; the message is for people."""


def require_migrated() -> None:
    """Raise NotMigratedError unless the database answers and has every table."""
    connection = connections[DEFAULT_DB_ALIAS]
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        raise NotMigratedError(f"the database does not answer: {error}") from error
    finally:
        connection.close()
    if missing:
        raise NotMigratedError("the database is not up to date: run `.venv/bin/python manage.py migrate` first")


def serve(
    sock: socket.socket, host: str, *, role: Role, workers: int, on_ready: Callable[[], None] = lambda: None
) -> bool:
    """Serve on `sock` until a signal says stop; False if it could not start.

    Says `omniroute ready …` on stderr, then calls `on_ready`, once requests are accepted by every worker.
    """
    line = f"omniroute ready {url(host, sock)} role={role} workers={workers}\n"

    def ready(*_: object) -> None:
        sys.stderr.write(line)
        sys.stderr.flush()
        on_ready()

    if workers > 1:
        return Supervisor(role, workers, sock, drain_for=settings.DRAIN_SECONDS).run(ready) == 0
    from omniroute_site.asgi import build_application  # imports the whole site, which the supervisor does not need

    return run(build_application(role), sock, on_ready=ready)
