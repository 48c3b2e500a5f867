"""The chains page in a real Chromium."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Stage
from tests.browser.harness import focused

pytestmark = pytest.mark.browser

LANE = '[data-chain="gpt-4o"]'


def order(page: Page) -> list[str | None]:
    return [entry.get_attribute("data-entry") for entry in page.locator(f"{LANE} [data-entry]").all()]


@pytest.fixture
def chains(board: Page) -> Page:
    board.goto("/chains/")
    board.wait_for_selector('[data-live="live"]')
    return board


def test_an_entry_moves_by_keyboard_and_keeps_the_focus(chains: Page) -> None:
    first, second, third = order(chains)
    button = chains.locator(f'[data-entry="{second}"] button[data-action="move-up"]')
    button.focus()
    before = focused(chains)
    chains.keyboard.press("Enter")
    expect(chains.locator(f"{LANE} [data-entry]").first).to_have_attribute("data-entry", second or "")
    assert order(chains) == [second, first, third]
    assert focused(chains) == before
    chains.locator(f'[data-entry="{second}"] button[data-action="move-down"]').click()
    expect(chains.locator(f"{LANE} [data-entry]").first).to_have_attribute("data-entry", first or "")


def test_the_ring_moves_to_who_answers_now(stage: Stage, chains: Page) -> None:
    expect(chains.locator(f'{LANE} [data-entry="openai/gpt-4o"][data-answers]')).to_be_visible()
    stage.act("breakers/openai/force-open/")
    expect(chains.locator(f'{LANE} [data-entry="groq/llama-3.3-70b"][data-answers]')).to_be_visible()


def test_an_entry_is_switched_off_and_on_again(chains: Page) -> None:
    entry = chains.locator('[data-entry="mistral/mistral-large"]')
    entry.locator('button[data-action="toggle"]').click()
    expect(entry).to_have_attribute("data-enabled", "false")
    entry.locator('button[data-action="toggle"]').click()
    expect(entry).to_have_attribute("data-enabled", "true")


def test_two_operators_at_once_see_each_other(chains: Page) -> None:
    other = chains.context.new_page()
    other.goto("/chains/")
    other.locator('[data-entry="mistral/mistral-large"] button[data-action="move-up"]').click()
    expect(chains.locator(f"{LANE} [data-entry]").nth(1)).to_have_attribute("data-entry", "mistral/mistral-large")
    other.locator('[data-entry="mistral/mistral-large"] button[data-action="move-down"]').click()
    expect(chains.locator(f"{LANE} [data-entry]").nth(2)).to_have_attribute("data-entry", "mistral/mistral-large")
