"""One server and one browser for all tests here; a window of its own for each test."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.harness import CHROMIUM, CHROMIUM_ARGUMENTS, Site, log_in

KEY = "sk-or-browser-test"
CONFIGURATION = """
providers:
  - slug: openai
    format: openai
    base_url: {simulator}/openai/v1
    retries: 0
    breaker: {{reset_timeout: 600}}
    connections: [{{slug: main, api_key: primary}}]
  - slug: groq
    format: openai
    base_url: {simulator}/openai/v1
    retries: 0
    connections: [{{slug: main, api_key: second}}]
  - slug: mistral
    format: openai
    base_url: {simulator}/openai/v1
    connections: [{{slug: main, api_key: third}}]
chains:
  - model: gpt-4o
    entries:
      - {{provider: openai, model: gpt-4o, priority: 0}}
      - {{provider: groq, model: llama-3.3-70b, priority: 1}}
      - {{provider: mistral, model: mistral-large, priority: 2}}
keys: [{{name: browser, key: {key}, scopes: [chat, read, operate]}}]
"""


class Stage(Site):
    """The site with simulated providers behind it, and who calls it."""

    def ask(self, model: str = "gpt-4o", *, key: str = KEY) -> int:
        """Send one chat request as an app does; return the status."""
        body = {"model": model, "messages": [{"role": "user", "content": "Hello"}]}
        return self._call(f"{self.url}/v1/chat/completions", body, "POST", key)

    def behave(self, key: str, **behaviour: Any) -> None:
        """Tell a simulated provider what to do for calls with this key."""
        self._call(f"{self.simulator_url}/control/openai:{key}", behaviour, "PUT")

    def act(self, path: str, **body: Any) -> None:
        """Act through the state API, as another operator's script would."""
        assert self._call(f"{self.url}/api/resilience/{path}", {"reason": "test", **body}, "POST") == 200

    def configure(self, file: Path) -> None:
        """Bring the configuration to what the tests start from; chains and providers that they made stay."""
        file.write_text(CONFIGURATION.format(simulator=self.simulator_url, key=KEY))
        self.manage("config", "apply", str(file))

    def calm(self) -> None:
        """Bring everything back to how it started."""
        self._call(f"{self.simulator_url}/control/", None, "DELETE")
        for provider in ("openai", "groq", "mistral"):
            self.act(f"breakers/{provider}/reset/")
        self.act("lockouts/unlock/", provider="openai", connection="main", model="gpt-4o")

    def _call(self, url: str, body: Any, method: str, key: str = KEY) -> int:
        request = urllib.request.Request(  # noqa: S310 (our own servers)
            url,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("site")
    with Stage(Path(folder)) as site:
        site.simulate()
        site.seed("empty")  # people
        site.configure(folder / "omniroute.yaml")
        yield site


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.fail("no Chromium found: install it, or name it in the environment variable CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def window(stage: Stage, browser: Browser) -> Iterator[Page]:
    """A window nobody has logged in at; what its console complains about fails the test."""
    stage.calm()
    context = browser.new_context(base_url=stage.url, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if "Security Policy" in message.text else None)
    yield page
    context.close()
    assert complaints == []


@pytest.fixture
def board(window: Page) -> Page:
    """The board, live, with an operator before it."""
    log_in(window, "alice")
    window.wait_for_selector('[data-live="live"]')
    return window
