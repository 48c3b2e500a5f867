"""`manage.py simulate`: the simulated providers in a process of their own."""

import asyncio
import ipaddress
import signal
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from routing.simulator import Simulator

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 9100


class Command(BaseCommand):
    help = "Serves simulated providers (OpenAI, Anthropic, Gemini, Azure) that fail on request; see docs/simulator.md."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=DEFAULT_HOST, help="default: 127.0.0.1; anything else is open to others")
        parser.add_argument("--port", type=int, default=DEFAULT_PORT, help=f"default: {DEFAULT_PORT}; 0: any free one")

    def handle(self, *_args: object, host: str, port: int, **_options: object) -> None:
        if not is_loopback(host):
            self.stderr.write(f"warning: {host} is reachable from other machines, and the controls ask for no key")
        try:
            run = event_loop_runner()
            run(self._serve(host, port))
        except OSError as error:
            raise CommandError(f"cannot listen on {host}:{port}: {error}") from error

    async def _serve(self, host: str, port: int) -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopped.set)
        async with Simulator(host, port) as simulator:
            self.stdout.write(f"simulator ready {simulator.url}")
            self.stdout.flush()
            await stopped.wait()


def event_loop_runner() -> Any:
    """The `run` of uvloop where it is installed (it comes with uvicorn), else of asyncio."""
    try:
        import uvloop  # optional: there is none for Windows
    except ImportError:
        return asyncio.run
    return uvloop.run


def is_loopback(host: str) -> bool:
    """Whether a host names this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
