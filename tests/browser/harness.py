"""A real server process for a real browser, on a database and ports of its own."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

from playwright.sync_api import Page

from tests.bench.processes import free_port
from tests.browser import PASSWORD

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or ""
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
READY_WITHIN = 60.0  # s; two slow cores, shared


class Site:
    """`manage.py serve` with a database in `folder`; started on entering, ended on leaving."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "omniroute_site.settings",
            "DATABASE_URL": f"sqlite:///{folder / 'site.sqlite3'}",
            "SECRET_KEY": "browser-tests-0123456789-0123456789-0123456789",
            "ENCRYPTION_KEY": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
            "REDIS_URL": "",
            "PROVIDER_KEY": "sk-of-nobody",  # what seed.py's connections refer to
            "DEBUG": "false",
            "DRAIN_SECONDS": "1",
        }
        self._log = (folder / "site.log").open("ab")
        self._log_path = folder / "site.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._simulator: subprocess.Popen[bytes] | None = None
        self.simulator_url = ""

    def __enter__(self) -> "Site":
        self.manage("migrate", "--verbosity", "0")
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if self._simulator is not None:
            _end(self._simulator)
        self._log.close()

    def manage(self, *arguments: str) -> str:
        """Run a command to its end and return what it said."""
        return self._run("manage.py", *arguments)

    def seed(self, scenario: str) -> None:
        """Fill the database (see seed.py)."""
        self._run("-m", "tests.browser.seed", scenario)

    def python(self, text: str) -> str:
        """Run a few lines against the site's database, in a process of its own."""
        return self._run("-c", f"import django; django.setup()\n{text}")

    def start(self) -> None:
        """Start serving and wait until it answers."""
        self._process = self._spawn("manage.py", "serve", "--port", str(self.port))
        self._wait_for(f"{self.url}/healthz", self._process)

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> None:
        """Stop serving; the database stays."""
        if self._process is not None:
            _end(self._process, with_signal)
            self._process = None

    def simulate(self) -> str:
        """Start the simulated providers; return their address."""
        port = free_port()
        self.simulator_url = f"http://127.0.0.1:{port}"
        self._simulator = self._spawn("manage.py", "simulate", "--port", str(port))
        self._wait_for(f"{self.simulator_url}/control/", self._simulator)
        return self.simulator_url

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=self.environment, check=False, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def _spawn(self, *arguments: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, env=self.environment, stdout=self._log, stderr=self._log
        )

    def _wait_for(self, url: str, process: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(url, timeout=2):  # noqa: S310 (our own server)
                    return
            except OSError:
                if process.poll() is not None:
                    break
                time.sleep(0.1)
        raise RuntimeError(f"{url} does not answer:\n{self._log_path.read_text()[-4000:]}")


def _end(process: "subprocess.Popen[bytes]", with_signal: signal.Signals = signal.SIGTERM) -> None:
    process.send_signal(with_signal)
    try:
        process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def log_in(page: Page, name: str) -> None:
    """Through the login form, as people do."""
    page.goto("/login/")
    page.fill("[name=username]", name)
    page.fill("[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.wait_for_url(re.compile(r"/$"))


def focused(page: Page) -> Any:
    """The id of the element that has the focus."""
    return page.evaluate("document.activeElement && document.activeElement.id")
