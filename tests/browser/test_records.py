"""Explain, lockouts, events, keys, processes and requests in a real Chromium."""

import re
import time

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Stage
from tests.browser.harness import focused, log_in

pytestmark = pytest.mark.browser

UNLOCK = 'button[data-action="unlock"]'
IN_FORCE_WITHIN = 5.0  # s; the gateway promises one, two busy cores are given more


def locked(stage: Stage, *models: str) -> None:
    for model in models:
        stage.act("lockouts/lock/", provider="openai", connection="main", model=model)


@pytest.fixture
def lockouts(stage: Stage, board: Page) -> Page:
    for model in ("gpt-4o", "gpt-5", "o9"):
        stage.act("lockouts/unlock/", provider="openai", connection="main", model=model)
    locked(stage, "gpt-4o", "gpt-5")
    board.goto("/lockouts/")
    board.wait_for_selector('[data-live="live"]')
    return board


def test_unlocking_by_keyboard_keeps_the_focus_on_the_list(stage: Stage, lockouts: Page) -> None:
    expect(lockouts.locator("[data-lockout]")).to_have_count(2)
    first = lockouts.locator('[data-lockout="openai/main/gpt-4o"]')
    first.locator(UNLOCK).focus()
    lockouts.keyboard.press("Enter")
    expect(first.locator("[name=reason]")).to_be_focused()
    lockouts.keyboard.type("it is back")
    lockouts.keyboard.press("Enter")
    expect(first).to_have_count(0)
    second = lockouts.locator('[data-lockout="openai/main/gpt-5"]')
    expect(second.locator(UNLOCK)).to_be_focused()
    lockouts.keyboard.press("Enter")
    expect(second.locator("[name=reason]")).to_be_focused()
    lockouts.keyboard.type("this too")
    lockouts.keyboard.press("Enter")
    expect(lockouts.locator("#lockouts")).to_contain_text("Nothing is locked")
    expect(lockouts.locator("#lockouts-title")).to_be_focused()


def test_a_lock_of_somebody_else_appears_and_disturbs_no_form(stage: Stage, lockouts: Page) -> None:
    first = lockouts.locator('[data-lockout="openai/main/gpt-4o"]')
    first.locator(UNLOCK).click()
    first.locator("[name=reason]").fill("half a sent")
    locked(stage, "o9")
    expect(lockouts.locator('[data-lockout="openai/main/o9"]')).to_contain_text("by key:browser")
    expect(lockouts.locator("#lockouts-note")).to_contain_text("3 in force")
    expect(lockouts).to_have_title("3 locked · OmniRoute")
    expect(first.locator("[name=reason]")).to_be_focused()
    expect(first.locator("[name=reason]")).to_have_value("half a sent")


def test_a_model_is_locked_by_hand(lockouts: Page) -> None:
    lockouts.click("#lock-summary")
    lockouts.select_option("#lock-connection", "groq/main")
    lockouts.fill("#lock-model", "llama-3.3-70b")
    lockouts.click("#do-lock-new")  # without a reason
    expect(lockouts.locator("#lock-reason_error")).to_contain_text("Say why")
    lockouts.fill("#lock-reason", "wrong answers")
    lockouts.keyboard.press("Enter")
    row = lockouts.locator('[data-lockout="groq/main/llama-3.3-70b"]')
    expect(row).to_contain_text("by alice: “wrong answers”")
    row.locator(UNLOCK).click()
    row.locator("[name=reason]").fill("right again")
    lockouts.keyboard.press("Enter")
    expect(row).to_have_count(0)


def test_a_key_is_made_and_opens_the_gateway_until_it_is_disabled(stage: Stage, board: Page) -> None:
    board.goto("/keys/")
    board.click("#key-summary")
    board.fill("#key-name", "browser-made")
    board.fill("#key-reason", "to try it")
    board.click("#key-create")
    secret = board.locator("#key-secret")
    expect(secret).to_be_focused()
    key = secret.input_value()
    assert board.evaluate("getSelection().toString() || document.activeElement.value") == key
    until_status(stage, key, 200)
    row = board.locator('[data-key="browser-made"]')
    row.locator('button[data-action="disable"]').focus()
    board.keyboard.press("Enter")
    expect(row.locator("[name=reason]")).to_be_focused()
    board.keyboard.type("leaked")
    board.keyboard.press("Enter")
    expect(row).to_have_attribute("data-enabled", "false")
    expect(row.locator('button[data-action="enable"]')).to_be_focused()
    until_status(stage, key, 401)
    board.goto("/keys/")
    expect(board.locator("body")).not_to_contain_text(key)
    row.locator('button[data-action="delete"]').click()
    row.locator("[name=reason]").fill("done")
    board.keyboard.press("Enter")
    expect(row).to_have_count(0)
    expect(board.locator("#keys-title")).to_be_focused()


def until_status(stage: Stage, key: str, status: int) -> None:
    """A change of the configuration is in force soon, not at once."""
    deadline = time.monotonic() + IN_FORCE_WITHIN
    while (got := stage.ask(key=key)) != status and time.monotonic() < deadline:
        time.sleep(0.1)
    assert got == status


def test_explain_shows_what_if_at_the_tick_of_a_box(board: Page) -> None:
    board.goto("/explain/")
    board.fill("#ask-model", "gpt-4o")
    board.keyboard.press("Enter")
    first = board.locator('[data-target="openai/main/gpt-4o"]')
    expect(first).to_have_attribute("data-admitted", "true")
    box = board.locator('#suppose input[value="openai"]')
    box.focus()
    board.keyboard.press("Space")
    expect(first).to_have_attribute("data-reason", "forced_open")
    expect(board.locator("#explained-title")).to_contain_text("groq/main would be asked first, not openai/main")
    expect(board.locator('#suppose input[value="openai"]')).to_be_focused()
    board.fill("#suppose-times", "5")
    board.select_option("#suppose-target", "groq/main/llama-3.3-70b")
    board.select_option("#suppose-kind", "timeout")
    expect(board.locator('[data-target="groq/main/llama-3.3-70b"]')).to_have_attribute("data-reason", "breaker_open")
    board.goto("/")
    expect(board.locator("[data-provider][data-state=OPEN], [data-provider][data-forced]")).to_have_count(0)


def test_an_open_request_list_says_that_there_is_more_and_stays_still(stage: Stage, board: Page) -> None:
    board.goto("/requests/?provider=openai")
    board.wait_for_selector('[data-live="live"]')
    expect(board.locator("#requests-newest")).to_have_text("Reload")
    rows = board.locator("tr[data-request]").count()
    stage.ask()
    expect(board.locator("#requests-newest")).to_have_text("1 new", timeout=10_000)
    assert board.locator("tr[data-request]").count() == rows
    board.locator("#requests-newest").focus()
    board.keyboard.press("Enter")
    expect(board.locator("#requests-newest")).to_have_text("Reload")
    expect(board.locator("#requests-newest")).to_be_focused()
    expect(board.locator("tr[data-request]").first).to_contain_text("openai/main")


def test_the_process_says_that_it_lives(board: Page) -> None:
    board.goto("/processes/")
    row = board.locator('[data-process][data-state="live"]')
    expect(row).to_have_count(1, timeout=10_000)
    expect(row).to_contain_text("draws this page")


def test_events_are_filtered_in_place_and_downloaded(stage: Stage, board: Page) -> None:
    stage.act("breakers/mistral/force-open/")
    board.goto("/events/")
    board.select_option("#events-provider", "mistral")
    expect(board.locator("[data-event]").first).to_contain_text("mistral")
    expect(board).to_have_url(re.compile("provider=mistral"))
    with board.expect_download() as download:
        board.click("#events-csv")
    text = download.value.path().read_text()
    assert text.startswith("id,at,name,provider")
    assert set(re.findall(r"^\d+,[^,]+,\w+,(\w*),", text, re.MULTILINE)) == {"mistral"}


def test_the_pages_work_without_a_script(stage: Stage, browser: Browser) -> None:
    locked(stage, "gpt-4o")
    context = browser.new_context(base_url=stage.url, java_script_enabled=False)
    page = context.new_page()
    log_in(page, "alice")
    page.goto("/lockouts/")
    page.click(f'[data-lockout="openai/main/gpt-4o"] {UNLOCK}')
    page.fill("[name=reason]", "no script here")
    page.click(UNLOCK)
    expect(page).to_have_url(f"{stage.url}/lockouts/")
    expect(page.locator('[data-lockout="openai/main/gpt-4o"]')).to_have_count(0)
    page.goto("/explain/?model=gpt-4o")
    page.check('#suppose input[value="openai"]')
    page.click("#ask-suppose")
    expect(page.locator('[data-target="openai/main/gpt-4o"]')).to_have_attribute("data-reason", "forced_open")
    page.goto("/requests/?text=gpt-4o")
    page.click("#requests-filter")
    expect(page).to_have_url(re.compile("text=gpt-4o"))
    context.close()


def test_a_viewer_finds_no_control_on_any_page(window: Page) -> None:
    log_in(window, "victor")
    for path in ("/lockouts/", "/events/", "/keys/", "/processes/", "/requests/", "/explain/?model=gpt-4o"):
        window.goto(path)
        expect(window.locator("h1")).to_be_visible()
        expect(window.locator("[data-action], #lock-form, #key-form")).to_have_count(0)
        assert focused(window) is not None
