"""Every page of the console against axe-core, light and dark, wide and narrow."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Stage
from tests.browser.harness import log_in

pytestmark = pytest.mark.browser

VIEWPORTS = {"wide": {"width": 1280, "height": 900}, "narrow": {"width": 360, "height": 780}}
AXE = Axe()


def wrong(page: Page) -> list[str]:
    """What axe-core objects to: its rule, how bad it is, and where."""
    page.wait_for_timeout(300)  # controls that load by themselves
    found = AXE.run(page).response["violations"]
    return [
        f"{page.url}: {each['id']} ({each['impact']}) at {node['target']}" for each in found for node in each["nodes"]
    ]


def pages(page: Page) -> list[str]:
    """The pages that the navigation leads to, and one of each kind that these lead to."""
    page.goto("/")
    found = [str(link.get_attribute("href")) for link in page.locator(".bar nav a").all()]
    ours = [address for address in found if not address.startswith("/admin")]
    page.goto("/requests/")
    ours.append(str(page.locator("[data-request] a.id").first.get_attribute("href")))
    ours += [f"/providers/groq/{each}" for each in ("", "settings/", "connections/main/", "rules/_new/")]
    page.goto("/chains/")
    ours += [
        str(page.locator(".lane a.edit").first.get_attribute("href")),
        "/chains/new/",
        "/password/",
        "/explain/?model=gpt-4o&hold=openai",
    ]
    return ours


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", VIEWPORTS)
def test_no_page_keeps_anybody_out(stage: Stage, browser: Browser, scheme: str, width: str) -> None:
    stage.calm()
    stage.behave("primary", mode="error")
    for _request in range(6):
        stage.ask()
    stage.act("lockouts/lock/", provider="groq", connection="main", model="llama-3.3-70b", **{"for": 600})
    context = browser.new_context(base_url=stage.url, viewport=VIEWPORTS[width], color_scheme=scheme)
    page = context.new_page()
    page.goto("/login/")
    complaints = wrong(page)
    log_in(page, "alice")
    for address in pages(page):
        page.goto(address)
        complaints += wrong(page)
    page.goto("/")
    page.locator('[data-provider="openai"] button[data-action="force-open"]').click()
    page.wait_for_selector('[name="reason"]')
    complaints += wrong(page)
    context.close()
    stage.act("lockouts/unlock/", provider="groq", connection="main", model="llama-3.3-70b")
    assert "\n".join(complaints) == ""
