"""What `make run` runs: everything a first look needs, then the server. Idempotent."""

import tempfile
from argparse import ArgumentParser
from functools import partial
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from omniroute_site import demo
from omniroute_site.roles import Role
from omniroute_site.serving import launch
from omniroute_site.serving.listener import CannotListenError, listen, url
from routing import table
from routing.models import Provider

SIMULATOR = "127.0.0.1:9100"  # as demo.yaml spells it


class Command(BaseCommand):
    help = "Migrate, create the operator's account and a demo configuration where there is none, and serve."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--simulator-port", type=int, default=9100, help="for a new demo configuration")
        parser.add_argument("--reset", action="store_true", help="empty the SQLite database first, and do not serve")

    def handle(self, *args: Any, **options: Any) -> None:
        demo.end_with_make()
        if options["reset"]:
            self._reset()
            self._say_login(self._prepare(options["simulator_port"]))
            return
        host, port = options["host"], options["port"]
        try:
            sock = listen(host, port)  # first: a taken port must be known before anything is made or printed
        except CannotListenError as error:
            raise CommandError(f"{error}. Stop what runs there, or choose another: make run PORT={port + 1}") from error
        password = self._prepare(options["simulator_port"])
        connection.close()
        try:
            with demo.Simulators(demo.simulator_addresses()):
                hello = partial(self._say_hello, url("127.0.0.1" if host == "0.0.0.0" else host, sock), password)  # noqa: S104
                if not launch.serve(sock, host, role=Role.ALL, workers=1, on_ready=hello):
                    raise CommandError("the server could not start; its log says why")
        except demo.DemoError as error:
            raise CommandError(str(error)) from error

    def _prepare(self, simulator_port: int) -> str | None:
        """Migrate, and make what a first run lacks; the operator's password if it is new."""
        call_command("migrate", interactive=False, verbosity=0)
        password = demo.ensure_operator()
        if not Provider.objects.exists():
            self._apply_demo(simulator_port)
        return password

    def _reset(self) -> None:
        if connection.vendor != "sqlite":
            raise CommandError(
                "demo-reset empties the database, and this one is not SQLite: do it yourself if you mean it"
            )
        call_command("migrate", interactive=False, verbosity=0)
        call_command("flush", interactive=False, verbosity=0)
        self._say("emptied the database")

    def _apply_demo(self, simulator_port: int) -> None:
        text = demo.CONFIG.read_text(encoding="utf-8").replace(SIMULATOR, f"127.0.0.1:{simulator_port}")
        if not settings.DEMO_CLIENT_KEY:  # an .env that somebody wrote by hand: let one be made and printed
            text = text.replace('key: "env:DEMO_CLIENT_KEY", ', "")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            call_command("config", "apply", file.name, stdout=self.stderr)
        self._say("loaded the demo configuration (omniroute_site/demo.yaml)")

    def _say_hello(self, address: str, password: str | None) -> None:
        key = settings.DEMO_CLIENT_KEY
        self._say(f"dashboard   {address}/")
        self._say_login(password)
        if self._usable(key):
            self._say(f"client key  {key}")
        else:
            self._say("client key  one of yours; make another at /keys/ or with `manage.py config apply`")
            key = "YOUR_KEY"
        model = next(iter(table.current().chains), "MODEL")
        body = f'{{"model": "{model}", "messages": [{{"role": "user", "content": "Hello"}}]}}'
        self._say("try         " + f"curl {address}/v1/chat/completions -H 'Authorization: Bearer {key}' \\")
        self._say("              " + f"-H 'Content-Type: application/json' -d '{body}'")

    def _say_login(self, password: str | None) -> None:
        if password is None:
            self._say(f"login       {demo.OPERATOR}, password as printed on the first run")
            self._say(f"            (forgotten? .venv/bin/python manage.py changepassword {demo.OPERATOR})")
        else:
            self._say(f"login       {demo.OPERATOR} / {password}   (shown this once)")

    def _usable(self, key: str) -> bool:
        return bool(key) and sha256(key.encode()).hexdigest() in table.current().keys

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
