"""The gateway under test: a fresh database, configured through the command line, served on one core."""

import os
import secrets
import sqlite3
import subprocess
import sys
import urllib.request
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.bench.processes import OPENER, BenchError, Children, wait_until_answering

ROOT = Path(__file__).resolve().parents[2]

_CONFIG = """
providers:
  - slug: bench
    format: openai
    base_url: http://127.0.0.1:{plain_port}/v1
    connections: [{{slug: main, api_key: sk-bench}}]
  - slug: bench-stream
    format: openai
    base_url: http://127.0.0.1:{stream_port}/v1
    connections: [{{slug: main, api_key: sk-bench}}]
chains:
  - model: bench
    entries: [{{provider: bench, model: bench-model}}]
  - model: bench-stream
    entries: [{{provider: bench-stream, model: bench-model}}]
keys:
  - {{name: bench, key: {api_key}, scopes: [chat, read, operate]}}
"""


@dataclass(frozen=True, slots=True)
class Gateway:
    """A server to measure. Without `pid` its CPU and memory stay unknown, without `database` its log does."""

    url: str
    api_key: str
    pid: int | None = None
    database: Path | None = None

    def log_rows(self) -> int | None:
        """Rows in the request log; None where the database is not ours to read."""
        if self.database is None:
            return None
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            (count,) = connection.execute("select count(*) from routing_requestlog").fetchone()
            return int(count)

    def dropped_rows(self) -> int | None:
        """Log rows that were dropped, as /metrics tells (the key needs the scope `read`); None if it does not."""
        headers = {"Authorization": f"Bearer {self.api_key}"}
        asked = urllib.request.Request(f"{self.url}/metrics", headers=headers)  # noqa: S310 (our own server)
        try:
            with OPENER.open(asked, timeout=10) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return None
        found = [line for line in lines if line.startswith("omniroute_request_log_dropped ")]
        return int(float(found[0].rpartition(" ")[2])) if found else None


@dataclass(frozen=True, slots=True)
class Installation:
    """A database that is migrated and configured, and the environment of every process on it."""

    env: Mapping[str, str]
    api_key: str
    database: Path


def install(children: Children, *, plain_port: int, stream_port: int) -> Installation:
    """Migrate and configure. Raises BenchError with the command's words if a step fails."""
    database = children.folder / "bench.sqlite3"
    env = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{database}",
        "SECRET_KEY": secrets.token_urlsafe(40),
        "ENCRYPTION_KEY": urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        "DEBUG": "false",
        "REDIS_URL": "",
        "LOG_LEVEL": "WARNING",
    }
    api_key = f"sk-or-{secrets.token_urlsafe(30)}"
    config = children.folder / "bench.yaml"
    config.write_text(_CONFIG.format(plain_port=plain_port, stream_port=stream_port, api_key=api_key))
    manage(["migrate", "--verbosity", "0"], env)
    manage(["config", "apply", str(config)], env)
    return Installation(env, api_key, database)


def serve(children: Children, installed: Installation, *options: str, port: int, core: int) -> Gateway:
    """Start one process."""
    command = [sys.executable, str(ROOT / "manage.py"), "serve", "--port", str(port), *options]
    child = children.start(f"gateway-{port}", command, core=core, env=installed.env)
    url = f"http://127.0.0.1:{port}"
    wait_until_answering(child, f"{url}/readyz")
    return Gateway(url, installed.api_key, child.pid, installed.database)


def start(children: Children, *, port: int, plain_port: int, stream_port: int, core: int) -> Gateway:
    """Install and serve."""
    return serve(children, install(children, plain_port=plain_port, stream_port=stream_port), port=port, core=core)


def manage(arguments: list[str], env: Mapping[str, str]) -> None:
    """Run a management command. Raises BenchError."""
    ran = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        cwd=ROOT, env=dict(env), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if ran.returncode:
        raise BenchError(f"manage.py {' '.join(arguments)} failed:\n{ran.stdout}{ran.stderr}")
