"""The production server."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from omniroute_site.roles import Role
from omniroute_site.serving import launch
from omniroute_site.serving.listener import CannotListenError, listen

ROLES = [role.value for role in Role]


class Command(BaseCommand):
    help = "Serve the gateway with uvicorn. SIGTERM drains for up to DRAIN_SECONDS, then exits 0."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on, 0 for any (default 8000)")
        parser.add_argument("--workers", type=int, default=1, help="processes that share the port (default 1)")
        parser.add_argument("--role", choices=ROLES, default=Role.ALL.value, help="what to serve (default all)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["workers"] < 1:
            raise CommandError("--workers must be at least 1")
        try:
            launch.require_migrated()
            sock = listen(options["host"], options["port"])
        except (launch.NotMigratedError, CannotListenError) as error:
            raise CommandError(str(error)) from error
        if not launch.serve(sock, options["host"], role=Role(options["role"]), workers=options["workers"]):
            raise CommandError("the server could not start; its log says why")
