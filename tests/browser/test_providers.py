"""Providers in a real Chromium: added, tried against the simulator, tuned by keyboard, watched, left alone by viewers."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Stage
from tests.browser.harness import focused, log_in

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def _as_before(stage: Stage) -> Iterator[None]:
    yield
    stage.python(
        "from routing.models import Connection, Provider\n"
        "Provider.objects.filter(slug='acme').delete()\n"
        "Provider.objects.filter(slug='groq').update(breaker_reset_timeout=30, enabled=True)\n"
        "Connection.objects.update(enabled=True, weight=1)"
    )


def test_a_provider_is_added_with_a_connection_and_tried(stage: Stage, board: Page) -> None:
    board.goto("/providers/")
    board.click("#add-provider")
    expect(board.locator("[name=slug]")).to_be_focused()
    board.keyboard.type("Acme")
    board.fill("[name=base_url]", f"{stage.simulator_url}/openai/v1")
    board.fill("[name=api_key]", "sk-acme-0123456789-wxyz")
    board.fill("[name=reason]", "a second source")
    board.click("#save")
    expect(board.locator(".errors")).to_contain_text("must be lower-case letters, digits and hyphens")
    expect(board.locator("[name=slug]")).to_be_focused()
    board.fill("[name=slug]", "acme")
    board.fill("[name=api_key]", "sk-acme-0123456789-wxyz")
    board.click("#save")
    board.wait_for_url("**/providers/acme/")
    account = board.locator('[data-connection="acme/main"]')
    expect(account).to_contain_text("…wxyz")
    account.locator('button[data-action="test"]').click()
    expect(account.locator(".trial")).to_contain_text("Answers")
    expect(account.locator(".trial")).to_contain_text("The key was not refused.")
    stage.behave("sk-acme-0123456789-wxyz", mode="auth")
    account.locator('button[data-action="test"]').click()
    expect(account.locator(".trial")).to_contain_text("Credentials rejected")
    expect(account.locator(".trial")).to_contain_text("Put in another key")
    board.goto("/")
    expect(board.locator("#ticker")).to_contain_text("alice: “a second source”")
    expect(board.locator('[data-provider="acme"][data-state="CLOSED"]')).to_be_visible()


def test_a_setting_is_changed_by_keyboard(board: Page) -> None:
    board.goto("/providers/groq/")
    board.locator("#edit-settings").focus()
    board.keyboard.press("Enter")
    expect(board.locator("[name=name]")).to_be_focused()
    for _ in range(6):  # format, address, switch, two thresholds
        board.keyboard.press("Tab")
    assert focused(board) == "sheet-breaker_reset_timeout"
    board.keyboard.type("45")
    board.keyboard.press("Enter")  # without a reason
    expect(board.locator("[name=reason]")).to_be_focused()
    board.keyboard.type("it recovers slowly")
    board.keyboard.press("Enter")
    board.wait_for_url("**/providers/groq/")
    expect(board.locator('[data-chosen][title="breaker.reset_timeout"]')).to_contain_text("45 s")
    expect(board.locator(".notice", has_text="breaker_reset_timeout 30 → 45")).to_be_visible()


def test_of_two_operators_the_second_sees_both_versions(board: Page) -> None:
    other = board.context.new_page()
    for page, wait in ((board, "50"), (other, "70")):
        page.goto("/providers/groq/settings/")
        page.fill("[name=breaker_reset_timeout]", wait)
        page.fill("[name=reason]", f"wait {wait}")
    board.click("#save")
    board.wait_for_url("**/providers/groq/")
    other.click("#save")
    expect(other.locator("[role=alert]")).to_contain_text("wait 50")
    expect(other.locator(".stored")).to_have_text("now: 50")
    expect(other.locator("[name=breaker_reset_timeout]")).to_have_value("70")
    other.get_by_role("button", name="Replace it by mine").click()
    expect(other.locator('[data-chosen][title="breaker.reset_timeout"]')).to_contain_text("70 s")


def test_the_list_follows_what_happens(stage: Stage, board: Page) -> None:
    board.goto("/providers/")
    board.wait_for_selector('[data-live="live"]')
    stage.act("breakers/openai/force-open/")
    row = board.locator('.fleet [data-provider="openai"]')
    expect(row).to_contain_text("HELD OPEN")
    link = board.locator("#provider-openai")
    link.focus()
    stage.act("breakers/openai/unforce/")
    expect(row).to_contain_text("CLOSED")
    assert focused(board) == "provider-openai"


def test_a_connection_is_disabled_on_its_provider_s_page(board: Page) -> None:
    board.goto("/providers/groq/")
    account = board.locator('[data-connection="groq/main"]')
    account.locator('button[data-action="disable"]').click()
    expect(account.locator("[name=reason]")).to_be_focused()
    board.keyboard.type("key leaked")
    board.keyboard.press("Enter")
    expect(board.locator('[data-connection="groq/main"][data-enabled="false"]')).to_contain_text("disabled")
    expect(account.locator('button[data-action="enable"]')).to_be_visible()


def test_a_viewer_reads_and_finds_no_control(window: Page) -> None:
    log_in(window, "victor")
    for path in ("/providers/", "/providers/groq/", "/kinds/"):
        window.goto(path)
        expect(window.locator("main button, main .btn.primary, main form:not(:empty)")).to_have_count(0)
    assert window.goto("/providers/groq/settings/").status == 403  # type: ignore[union-attr]


def test_everything_works_without_a_script(stage: Stage, browser: Browser) -> None:
    stage.calm()
    context = browser.new_context(base_url=stage.url, java_script_enabled=False)
    page = context.new_page()
    log_in(page, "alice")
    page.goto("/providers/groq/connections/main/")
    page.fill("[name=weight]", "0")
    page.fill("[name=reason]", "no script here")
    page.click("#save")
    expect(page.locator(".errors")).to_contain_text("must be a number from 0.001 to 1000000")
    page.fill("[name=weight]", "2")
    page.click("#save")
    expect(page.locator('[data-connection="groq/main"]')).to_contain_text("weight 2")
    page.click('[data-connection="groq/main"] button[data-action="test"]')
    expect(page.locator('[data-connection="groq/main"] .trial')).to_contain_text("Answers")
    page.click("#switch")
    page.fill("#switch-reason", "over and out")
    page.click('button[data-action="switch"]')
    expect(page.locator(".notice", has_text="groq is disabled.")).to_be_visible()
    context.close()
