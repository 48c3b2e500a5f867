"""The board in a real Chromium, while things happen behind it."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Stage
from tests.browser.harness import focused, log_in

pytestmark = pytest.mark.browser

OPENAI = '[data-provider="openai"]'


def test_a_tile_turns_open_without_reload_when_its_provider_fails(stage: Stage, board: Page) -> None:
    board.evaluate("window.sameDocument = true")
    stage.behave("primary", mode="error")
    assert [stage.ask() for _ in range(5)] == [200] * 5
    expect(board.locator(f'{OPENAI}[data-state="OPEN"]')).to_be_visible()
    expect(board.locator("#verdict")).to_contain_text("openai is open, retrying in")
    expect(board.locator("#verdict")).to_contain_text("gpt-4o is answered by groq")
    expect(board.locator("[data-event]").first).to_contain_text("openai open")
    expect(board).to_have_title("openai out · OmniRoute")
    assert board.evaluate("window.sameDocument") is True


def test_a_countdown_runs_in_the_page(stage: Stage, board: Page) -> None:
    stage.behave("primary", mode="error")
    for _ in range(5):
        stage.ask()
    shown = board.locator(f"{OPENAI} .state time")
    expect(shown).to_have_text(re.compile(r"^1?\d:\d\d$"))
    before = shown.inner_text()
    expect(shown).not_to_have_text(before)


def test_an_operator_holds_a_circuit_open_and_releases_it(board: Page) -> None:
    tile = board.locator(OPENAI)
    tile.locator('button[data-action="force-open"]').click()
    expect(tile.locator(".confirm")).to_contain_text("gpt-4o")
    tile.locator('button[data-action="force-open"]').click()  # without a reason
    expect(tile.locator(".errors")).to_contain_text("Say why")
    tile.locator("[name=reason]").fill("billing migration")
    tile.locator("[name=duration]").fill("30 min")
    tile.locator('button[data-action="force-open"]').click()
    expect(board.locator(f'{OPENAI}[data-forced="open"]')).to_contain_text("billing migration")
    tile.locator('button[data-action="unforce"]').click()
    tile.locator("[name=reason]").fill("done")
    board.keyboard.press("Enter")
    expect(board.locator(f"{OPENAI}[data-forced]")).to_have_count(0)
    expect(board.locator("#ticker")).to_contain_text("alice: “done”")


def test_unlocking_by_keyboard_keeps_the_focus_on_the_tile(stage: Stage, board: Page) -> None:
    stage.act("lockouts/lock/", provider="openai", connection="main", model="gpt-4o")
    lock = board.locator('[data-lockout="openai/main/gpt-4o"]')
    button = lock.locator('button[data-action="unlock"]')
    expect(button).to_be_visible()  # fetched for the place that the push left for it
    button.focus()
    board.keyboard.press("Enter")
    expect(lock.locator("[name=reason]")).to_be_focused()
    board.keyboard.type("it is back")
    board.keyboard.press("Enter")
    expect(lock).to_have_count(0)
    expect(board.locator("#name-openai")).to_be_focused()


@pytest.mark.parametrize("browser_moves_nodes", [True, False])
def test_a_push_disturbs_neither_focus_nor_a_form_half_filled_in(
    stage: Stage, board: Page, browser_moves_nodes: bool
) -> None:
    if not browser_moves_nodes:  # as in browsers without `moveBefore`
        board.evaluate("for (const kind of [Element, DocumentFragment, Document]) delete kind.prototype.moveBefore")
    board.locator(f'{OPENAI} button[data-action="reset"]').click()
    board.locator(f"{OPENAI} [name=reason]").fill("half a sent")
    stage.behave("primary", mode="error")
    for _ in range(5):
        stage.ask()
    expect(board.locator(f'{OPENAI}[data-state="OPEN"]')).to_be_visible()
    expect(board.locator(f"{OPENAI} [name=reason]")).to_be_focused()
    board.keyboard.type("ence")
    expect(board.locator(f"{OPENAI} [name=reason]")).to_have_value("half a sentence")


def test_a_focused_button_survives_the_move_of_its_tile(stage: Stage, board: Page) -> None:
    button = board.locator('[data-provider="mistral"] button[data-action="force-open"]')
    button.focus()
    before = focused(board)
    stage.act("breakers/mistral/force-close/")
    expect(board.locator('[data-provider="mistral"][data-forced="closed"]')).to_be_visible()
    assert focused(board) == before == "act-force-open-mistral"


def test_escape_leaves_the_form_and_returns_to_its_button(board: Page) -> None:
    board.locator(f'{OPENAI} button[data-action="reset"]').click()
    expect(board.locator(f"{OPENAI} [name=reason]")).to_be_focused()
    board.keyboard.press("Escape")
    expect(board.locator(f'{OPENAI} button[data-action="reset"]')).to_be_focused()


def test_a_viewer_sees_everything_and_finds_no_button(window: Page) -> None:
    log_in(window, "victor")
    expect(window.locator(OPENAI)).to_be_visible()
    expect(window.locator("button[data-action]")).to_have_count(0)


def test_actions_work_without_a_script(stage: Stage, browser: Browser) -> None:
    stage.calm()
    context = browser.new_context(base_url=stage.url, java_script_enabled=False)
    page = context.new_page()
    log_in(page, "alice")
    page.click(f'{OPENAI} button[data-action="force-open"]')
    page.fill("[name=reason]", "no script here")
    page.click('button[data-action="force-open"]')
    expect(page.locator(f'{OPENAI}[data-forced="open"]')).to_contain_text("no script here")
    context.close()


def test_keys_move_between_tiles_and_show_their_help(board: Page) -> None:
    board.keyboard.press("j")
    first = focused(board)
    board.keyboard.press("j")
    assert first.startswith("name-")
    assert focused(board) != first
    board.keyboard.press("?")
    expect(board.locator("#help")).to_be_visible()
