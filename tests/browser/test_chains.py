"""The chains page and the editor in a real Chromium."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Stage
from tests.browser.harness import focused

pytestmark = pytest.mark.browser

LANE = '.lane[data-chain="gpt-4o"]'
EDITOR = "#chain-editor"
FIRST, SECOND, THIRD = "openai/gpt-4o", "groq/llama-3.3-70b", "mistral/mistral-large"


def order(page: Page, where: str) -> list[str | None]:
    return [entry.get_attribute("data-entry") for entry in page.locator(f"{where} [data-entry]").all()]


def open_editor(page: Page) -> None:
    page.goto("/chains/")
    page.locator(f"{LANE} a.edit").click()
    page.wait_for_selector(EDITOR)


@pytest.fixture(scope="module", autouse=True)
def as_before(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Other tests find the chain as they expect it."""
    yield
    stage.configure(tmp_path_factory.mktemp("again") / "omniroute.yaml")


@pytest.fixture
def chains(board: Page) -> Page:
    board.goto("/chains/")
    board.wait_for_selector('[data-live="live"]')
    return board


def save(page: Page, reason: str) -> None:
    page.locator('[name="reason"]').fill(reason)
    page.locator(f"{EDITOR} button#save-chain").click()


def test_a_chain_is_reordered_by_keyboard_and_saved_with_a_reason(chains: Page) -> None:
    watching = chains.context.new_page()
    watching.goto("/chains/")
    watching.wait_for_selector('[data-live="live"]')
    open_editor(chains)
    button = chains.locator(f'{EDITOR} [data-entry="{SECOND}"] button[data-action="move-down"]')
    button.focus()
    before = focused(chains)
    chains.keyboard.press("Enter")
    expect(chains.locator(f"{EDITOR} [data-entry]").nth(2)).to_have_attribute("data-entry", SECOND)
    assert focused(chains) == before
    assert order(watching, LANE) == [FIRST, SECOND, THIRD]
    save(chains, "groq is slow today")
    expect(chains.locator(".notice", has_text="Chain gpt-4o is saved.")).to_be_visible()
    expect(watching.locator(f"{LANE} [data-entry]").nth(1)).to_have_attribute("data-entry", THIRD)
    chains.goto("/")
    expect(chains.locator("#ticker li").first).to_contain_text("groq is slow today")


def test_an_entry_is_dragged(chains: Page) -> None:
    open_editor(chains)
    rows = chains.locator(f"{EDITOR} [data-entry]")
    expect(rows).to_have_count(3)
    first, second, _third = order(chains, EDITOR)
    box = rows.nth(1).bounding_box() or {}
    rows.nth(0).drag_to(
        rows.nth(1), source_position={"x": 12, "y": 12}, target_position={"x": 12, "y": box["height"] - 4}
    )
    assert order(chains, EDITOR)[:2] == [second, first]
    expect(rows.nth(0).locator(".place")).to_have_text("1")


def test_warnings_come_while_a_chain_is_edited_and_nothing_is_lost(chains: Page) -> None:
    open_editor(chains)
    for left in (2, 1):
        chains.locator(f'{EDITOR} button[data-action="remove"]').last.click()
        expect(chains.locator(f"{EDITOR} [data-entry]")).to_have_count(left)
    expect(chains.locator("#chain-lint")).to_contain_text("One provider only")
    chains.locator(f"{EDITOR} button#save-chain").click()
    expect(chains.locator(f"{EDITOR} .errors").first).to_contain_text("Say why")
    expect(chains.locator(f"{EDITOR} [data-entry]")).to_have_count(1)


def test_of_two_operators_the_second_one_sees_what_the_first_one_saved(chains: Page) -> None:
    open_editor(chains)
    other = chains.context.new_page()
    open_editor(other)
    other.locator('[name="strategy"]').select_option("random")
    save(other, "spread the load")
    expect(other.locator(".notice", has_text="is saved")).to_be_visible()
    chains.locator('[name="strategy"]').select_option("fastest")
    save(chains, "speed")
    expect(chains.locator(".conflict")).to_contain_text("spread the load")
    expect(chains.locator('[name="strategy"]')).to_have_value("fastest")
    chains.locator(f"{EDITOR} button#save-chain").click()
    expect(chains.locator(".notice", has_text="is saved")).to_be_visible()
    open_editor(chains)
    chains.locator('[name="strategy"]').select_option("priority")
    save(chains, "as it was")
    expect(chains.locator(".notice", has_text="is saved")).to_be_visible()


def test_the_ring_moves_to_who_answers_now(stage: Stage, chains: Page) -> None:
    expect(chains.locator(f'{LANE} [data-entry="openai/gpt-4o"][data-answers]')).to_be_visible()
    stage.act("breakers/openai/force-open/")
    expect(chains.locator(f'{LANE} [data-entry]:not([data-entry="openai/gpt-4o"])[data-answers]')).to_be_visible()
