"""Takes the pictures of README and docs, and any others one wants to look at.

    python -m tests.browser.screenshots            board, chains and chain editor, light and dark, in docs/
    python -m tests.browser.screenshots FOLDER     every page in every scenario at 1440, 800 and 360 px, light and dark

Starts a server of its own on a database of its own, so nothing else is needed but Chromium.
"""

import sys
import tempfile
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.browser.harness import CHROMIUM, CHROMIUM_ARGUMENTS, Site, log_in

DOCS = Path(__file__).resolve().parents[2] / "docs"
WIDTHS = {1440: 960, 800: 1100, 360: 780}
SCHEMES = ("light", "dark")
PAGES = {
    "board": "/",
    "chains": "/chains/",
    "providers": "/providers/",
    "new-provider": "/providers/_new/",
    "requests": "/requests/",
    "kinds": "/kinds/",
    "lockouts": "/lockouts/",
    "events": "/events/",
    "explain": "/explain/?model=gpt-4o&hold=anthropic&kind=timeout&target=gemini/us-east/gemini-2.5-pro&later=5+min",
    "keys": "/keys/",
    "processes": "/processes/",
}
FLEET_PAGES = {
    "provider": "/providers/gemini/",
    "settings": "/providers/gemini/settings/",
    "connection": "/providers/gemini/connections/us-east/",
    "rule": "/providers/gemini/rules/0/",
}
"""Pages of what an empty scenario has not."""
LIVE = ("/", "/chains/", "/providers/", "/requests/", "/lockouts/", "/processes/")


def page_of(browser: Browser, site: Site, scheme: str, width: int) -> BrowserContext:
    """A logged-in window."""
    context = browser.new_context(
        base_url=site.url,
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": width, "height": WIDTHS[width]},
    )
    log_in(context.new_page(), "alice")
    return context


def shoot(context: BrowserContext, path: str, file: Path, *, whole: bool) -> None:
    """Take one picture, once the page is live."""
    page = context.pages[0]
    page.goto(path)
    if path in LIVE:
        page.wait_for_selector('[data-live="live"]')
    page.wait_for_timeout(400)
    page.screenshot(path=str(file), full_page=whole)


def for_docs(browser: Browser, site: Site) -> None:
    """The pictures of the documentation."""
    DOCS.mkdir(exist_ok=True)
    for scheme in SCHEMES:
        site.seed("fire")
        context = page_of(browser, site, scheme, 1440)
        shoot(context, "/", DOCS / f"board-{scheme}.png", whole=False)
        shoot(context, "/chains/", DOCS / f"chains-{scheme}.png", whole=False)
        shoot(context, editor_of(context), DOCS / f"chain-editor-{scheme}.png", whole=False)
        context.close()


def editor_of(context: BrowserContext) -> str:
    """Where the chain with the most to see is edited."""
    page = context.pages[0]
    page.goto("/chains/")
    return str(page.locator('.lane[data-chain="gpt-4o"] a.edit').get_attribute("href"))


def for_eyes(browser: Browser, site: Site, folder: Path) -> None:
    """All of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for scenario in ("fire", "healthy", "empty", "many"):
        site.seed(scenario)
        for scheme, width in product(SCHEMES, WIDTHS):
            context = page_of(browser, site, scheme, width)
            pages = PAGES | ({} if scenario == "empty" else FLEET_PAGES | {"chain-editor": editor_of(context)})
            pages |= {"patterns": "/patterns/"} if scenario == "fire" else {}
            for name, path in pages.items():
                shoot(context, path, folder / f"{scenario}-{name}-{width}-{scheme}.png", whole=True)
            context.close()


def main() -> None:
    """Take the pictures asked for."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        with Site(Path(folder)) as site:
            if len(sys.argv) > 1:
                for_eyes(browser, site, Path(sys.argv[1]))
            else:
                for_docs(browser, site)
        browser.close()


if __name__ == "__main__":
    main()
