"""The first run: an operator account, a demo configuration, and the simulated providers it calls.

Everything here looks before it makes, so that a later run changes nothing.
"""

import ctypes
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user_model

from routing.models import Provider

CONFIG = Path(__file__).parent / "demo.yaml"
OPERATOR = "admin"
SIMULATOR_PATHS = ("/openai/v1", "/anthropic/v1", "/gemini/v1beta", "/azure")
START_TIMEOUT = 20.0  # s
PR_SET_PDEATHSIG = 1  # Linux: prctl(2)


class DemoError(Exception):
    """The demo cannot run; the message is for people."""


def ensure_operator() -> str | None:
    """Create the operator's account if nobody could log in and act; its password, else None."""
    users = get_user_model()
    if users.objects.filter(is_superuser=True).exists():
        return None
    password = secrets.token_urlsafe(12)
    user, _created = users.objects.get_or_create(username=OPERATOR)
    user.is_staff = user.is_superuser = user.is_active = True
    user.set_password(password)
    user.save()
    return password


def simulator_addresses() -> list[tuple[str, int]]:
    """Where the enabled providers expect the simulator: loopback addresses with one of its paths."""
    urls = [urlsplit(url) for url in Provider.objects.filter(enabled=True).values_list("base_url", flat=True)]
    found = {
        (url.hostname, url.port)
        for url in urls
        if url.hostname in ("127.0.0.1", "localhost") and url.port and url.path.startswith(SIMULATOR_PATHS)
    }
    return sorted((host, port) for host, port in found if host and port)


class Simulators:
    """The simulator processes of this run. Leaving the block ends them."""

    def __init__(self, addresses: Iterable[tuple[str, int]]) -> None:
        self._addresses = list(addresses)
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Simulators":
        try:
            for host, port in self._addresses:
                if not answers(host, port):  # somebody's own `manage.py simulate` is as good
                    self._start(host, port)
        except BaseException:  # Ctrl-C too: what has started must not stay behind
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start(self, host: str, port: int) -> None:
        command = [sys.executable, "manage.py", "simulate", "--host", host, "--port", str(port)]
        process = subprocess.Popen(  # noqa: S603 (our own interpreter and command)
            command,
            cwd=settings.BASE_DIR,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            # its own session: Ctrl-C must not stop it under requests that are still being drained
            start_new_session=True,
            preexec_fn=end_with_parent(),  # noqa: PLW1509 (this process has no threads yet)
        )
        self._processes.append(process)
        deadline = time.monotonic() + START_TIMEOUT
        while not answers(host, port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise DemoError(f"the simulated providers could not start on {host}:{port}")
            time.sleep(0.05)


def answers(host: str, port: int) -> bool:
    """Whether something listens there."""
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def end_with_parent() -> Callable[[], None] | None:
    """A function that, called in a new process, has it end when its parent does, however that dies (Linux only)."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl  # looked up here: between fork and exec as little as possible may happen

    def ask() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    return ask


def end_with_make() -> None:
    """Started by make: end when it does, even if it was killed and could not pass the signal on."""
    ask = end_with_parent() if "MAKELEVEL" in os.environ else None
    if ask is not None:
        ask()
