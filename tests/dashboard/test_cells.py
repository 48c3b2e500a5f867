"""One template per live thing: the first page, the htmx answer and the push draw the same."""

import re
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from omniroute_site.dashboard import samples
from omniroute_site.dashboard.board_rows import Board
from omniroute_site.dashboard.cells import board_cells
from omniroute_site.dashboard.chain_cells import chain_cells
from omniroute_site.dashboard.live import PAGES, everything
from omniroute_site.dashboard.rows import NO_TRAFFIC, dom_id
from omniroute_site.dashboard.selectors.board import read_board
from routing.models import FallbackChain
from tests.dashboard.conftest import log


def without_controls(text: str) -> str:
    """The live part: places for controls are the only thing that depends on who looks."""
    text = re.sub(r'<form class="acts".*?</form>', "[controls]", text, flags=re.DOTALL)
    return re.sub(r'<span class="acts".*?</span>(?=\s*</(?:h3|li)>)', "[controls]", text, flags=re.DOTALL)


@pytest.mark.parametrize("page", list(PAGES))
def test_first_page_htmx_answer_and_push_are_equal(
    operator: Client, on_fire: FallbackChain, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log()
    now = timezone.now()
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
    first = without_controls(operator.get(reverse(f"dashboard:{page}")).content.decode())
    net = operator.get(f"/live/{page}/").content.decode()
    pushed = everything(page, now)
    assert net == "".join(pushed.values())
    assert len(pushed) >= 2
    for name, cell in pushed.items():
        assert without_controls(cell).strip() in first, name


def test_a_push_carries_no_control(on_fire: FallbackChain) -> None:
    for page in PAGES:
        text = "".join(everything(page, timezone.now()).values())
        assert "<button" not in text
        assert "csrf" not in text
    assert "hx-preserve" in "".join(everything("board", timezone.now()).values())


def test_every_cell_has_its_id_and_swaps_by_it(on_fire: FallbackChain) -> None:
    for page in PAGES:
        for name, cell in everything(page, timezone.now()).items():
            assert re.match(rf'<\w+ [^>]*id="{name}"[^>]*hx-swap-oob="true"', cell), name


def test_ids_are_unique_on_a_page(operator: Client, on_fire: FallbackChain) -> None:
    for path in ("/", "/chains/", "/lockouts/", "/processes/", "/providers/", "/providers/openai/", "/kinds/"):
        ids = re.findall(r' id="([^"]*)"', operator.get(path).content.decode())
        assert len(ids) == len(set(ids))
        assert all(ids)


def test_nothing_is_pushed_where_nothing_changed(on_fire: FallbackChain) -> None:
    now = timezone.now()
    assert board_cells(read_board(now), read_board(now)) == {}


def board() -> Board:
    return samples.board(samples.NOW)


def test_traffic_alone_pushes_a_picture_and_not_the_tile() -> None:
    old = board()
    first, *rest = old.circuits
    new = replace(old, circuits=(replace(first, traffic=NO_TRAFFIC), *rest))
    assert list(board_cells(old, new)) == ["traffic-openai"]


def test_a_change_of_state_pushes_its_tile_alone() -> None:
    old = board()
    first, *rest = old.circuits
    new = replace(old, circuits=(replace(first, failure_count=4), *rest))
    assert list(board_cells(old, new)) == ["tile-openai"]


def test_a_tile_that_moves_pushes_the_wall() -> None:
    old = board()
    new = replace(old, circuits=tuple(reversed(old.circuits)))
    assert list(board_cells(old, new)) == ["wall-note", "wall"]


def test_new_events_are_announced_once_and_oldest_first() -> None:
    new = board()
    old = replace(new, events=new.events[2:])
    cells = board_cells(old, new)
    assert list(cells) == ["ticker", "announce"]
    assert cells["announce"].index("openai open") < cells["announce"].index("groq half-open")
    assert "announce" not in board_cells(None, new)


def test_lanes_are_pushed_one_by_one() -> None:
    from omniroute_site.dashboard.chain_rows import Chains

    lanes = samples.lanes(samples.NOW)
    changed = replace(lanes[1], strategy="random")
    assert list(chain_cells(Chains(lanes), Chains((lanes[0], changed, lanes[2])))) == ["lane-2"]
    assert list(chain_cells(Chains(lanes), Chains(lanes[:2]))) == ["lanes"]


def test_any_model_name_gives_an_id_that_a_selector_can_use() -> None:
    names = [dom_id("openai", "main", model) for model in ("gpt-4o", "meta/llama:free", "a b", "ü", "'\"<>", "x" * 500)]
    assert all(re.fullmatch(r"[a-z][a-z0-9-]*", name) for name in names)
    assert len(set(names)) == len(names)
