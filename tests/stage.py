"""Simulated providers and a gateway in front of them, as real processes on loopback, for tests that act from outside."""

import json
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from tests.site.processes import KEY, ROOT, Server, environment, manage, prepare

SIMULATOR_READY = re.compile(r"simulator ready (http://127\.0\.0\.1:\d+)")
PATIENCE = 60.0  # s

Json = dict[str, Any]


def configuration(simulator: str, common: Json) -> Json:
    """OpenAI-compatible providers behind two chains, one with two connections; and a chain through every format."""

    def provider(slug: str, *connections: str, **members: Any) -> Json:
        keys = [{"slug": name, "api_key": f"sk-sim-{slug}-{name}"} for name in connections]
        return {
            "slug": slug,
            "format": "openai",
            "base_url": f"{simulator}/openai/v1",
            "retries": 0,
            "connections": keys,
        } | (common | members)

    return {
        "settings": {"wait_for_retry_after": 0},
        "providers": [
            provider("primary", "one"),
            provider("pair", "one", "two"),
            provider("backup", "one"),
            provider("azure", "one", format="azure", base_url=f"{simulator}/azure"),
            provider("claude", "one", format="anthropic", base_url=f"{simulator}/anthropic/v1"),
            provider("google", "one", format="gemini", base_url=f"{simulator}/gemini/v1beta"),
        ],
        "chains": [
            {"model": "gpt-4o", "entries": [{"provider": "primary"}, {"provider": "backup", "priority": 1}]},
            {"model": "paired", "entries": [{"provider": "pair"}, {"provider": "backup", "priority": 1}]},
            {
                "model": "every-format",
                "entries": [
                    {"provider": "primary", "model": "gpt-4o"},
                    {"provider": "claude", "model": "claude-sonnet-4-5", "priority": 1},
                    {"provider": "google", "model": "gemini-2.5-pro", "priority": 2},
                ],
            },
        ],
        "keys": [{"name": "tests", "key": KEY, "scopes": ["chat", "read", "operate"]}],
    }


class Stage:
    """`with Stage(folder) as stage:` everything runs; `stage.gateway` may be killed and started again."""

    def __init__(
        self, folder: Path, *, workers: int = 1, breaker: Json | None = None, database_url: str = "", **common: Any
    ) -> None:
        """common: members of every provider. database_url: another database than a file in the folder."""
        self.folder = folder
        self.database = folder / "stage.sqlite3"
        self._environment = {"DATABASE_URL": database_url} if database_url else {}
        self._workers = workers
        self._common = {"breaker": {"jitter": 0} | (breaker or {})} | common
        self.simulator = ""

    def __enter__(self) -> Self:
        self._log = (self.folder / "simulator.log").open("wb")
        self._simulator = subprocess.Popen(
            [sys.executable, "manage.py", "simulate", "--port", "0"],
            cwd=ROOT,
            env=environment(self.database),
            stdout=self._log,
            stderr=self._log,
        )
        try:
            self.simulator = self._await_simulator()
            self._configure()
            self.gateway = self._server().__enter__()
        except BaseException:
            self._stop_simulator()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.gateway.__exit__(kind, value, tb)
        self._stop_simulator()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.gateway.port}"

    def restart(self) -> None:
        """Start the gateway again, after it was stopped or killed."""
        self.gateway.__exit__(None, None, None)
        self.gateway = self._server().__enter__()

    def control(self, key: str, *, format_: str = "openai", **behaviour: Any) -> None:
        """Make a simulated account misbehave: `control("primary-one", mode="error")`; or a format: `control("gemini", …)`."""
        name = f"{format_}:sk-sim-{key}" if "-" in key else key
        self._simulator_call("PUT", f"/control/{name}", behaviour)

    def dictate(self, text: str) -> None:
        """Make every simulated model say this."""
        for name in ("openai", "azure", "anthropic", "gemini"):
            self._simulator_call("PUT", f"/control/{name}", {"text": text})

    def calm(self) -> None:
        """Healthy providers, and nothing remembered against them."""
        self._simulator_call("DELETE", "/control/")
        state = self.state()
        marked = [one["provider"] for one in state["breakers"] if one["state"] != "CLOSED" or one["window"]["failures"]]
        for provider in marked:
            self.api("POST", f"/api/resilience/breakers/{provider}/reset/", {"reason": "a new test"})
        if marked:
            time.sleep(0.5)  # a reset is a new generation; outcomes count once the serving process has heard of it
        for row in state["cooldowns"]:
            body = {"provider": row["provider"], "connection": row["connection"], "reason": "a new test"}
            self.api("POST", "/api/resilience/cooldowns/clear/", body)

    def calls(self, key: str, *, format_: str = "openai") -> list[Json]:
        """What a simulated account was asked, oldest first, with the bodies."""
        rows: list[Json] = self._simulator_call("GET", f"/control/log?name={format_}:sk-sim-{key}&bodies=true")
        return rows

    def state(self) -> Json:
        """The state API's answer."""
        return self.api("GET", "/api/resilience/")

    def breaker(self, provider: str) -> Json:
        return next(one for one in self.state()["breakers"] if one["provider"] == provider)

    def api(self, method: str, path: str, body: Json | None = None) -> Any:
        return _json(method, self.url + path, body, {"Authorization": f"Bearer {KEY}"})

    def python(self, text: str) -> None:
        """Run lines against the database in another process."""
        done = manage("shell", "-c", text, database=self.database, **self._environment)
        assert done.returncode == 0, done.stderr

    def _configure(self) -> None:
        path = self.folder / "stage.yaml"
        path.write_text(yaml.safe_dump(configuration(self.simulator, self._common)))
        prepare(path, database=self.database, **self._environment)

    def _server(self) -> Server:
        arguments = ("serve", "--port", "0", "--workers", str(self._workers))
        return Server(*arguments, database=self.database, log=self.folder / "gateway.log", **self._environment)

    def _await_simulator(self) -> str:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if found := SIMULATOR_READY.search((self.folder / "simulator.log").read_text()):
                return found[1]
            time.sleep(0.05)
        raise AssertionError("the simulator did not start")

    def _stop_simulator(self) -> None:
        self._simulator.terminate()
        self._simulator.wait(10)
        self._log.close()

    def _simulator_call(self, method: str, path: str, body: Json | None = None) -> Any:
        return _json(method, self.simulator + path, body, {})


def _json(method: str, url: str, body: Json | None, headers: dict[str, str]) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(  # noqa: S310 (loopback, chosen by us)
        url, data, {"Content-Type": "application/json", **headers}, method=method
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
        return json.load(answer)
