"""Chains: who answers now, and edits on the version the editor has seen."""

import html

from django.contrib.admin.models import LogEntry
from django.test import Client

from resilience import actions
from routing.models import FallbackChain, FallbackEntry
from tests.dashboard.conftest import cooling, locked, opened, write

HTMX = {"HX-Request": "true"}


def edit(client: Client, chain: FallbackChain, what: str, version: int = 0, *, htmx: bool = True) -> tuple[int, str]:
    answer = client.post(f"/chains/{chain.pk}/", {"edit": what, "version": version}, headers=HTMX if htmx else {})
    return answer.status_code, html.unescape(answer.content.decode())


def order(chain: FallbackChain) -> list[str]:
    return [entry.provider.slug for entry in chain.entries.order_by("priority", "id")]


def pk(chain: FallbackChain, provider: str) -> int:
    return chain.entries.get(provider__slug=provider).pk


def test_an_entry_moves_up_and_down(operator: Client, fleet: FallbackChain) -> None:
    status, body = edit(operator, fleet, f"move-up:{pk(fleet, 'groq')}")
    assert status == 200
    assert order(fleet) == ["openai", "groq", "anthropic"]
    assert body.index('data-entry="groq') < body.index('data-entry="anthropic')
    assert 'name="version" value="1"' in body
    edit(operator, fleet, f"move-down:{pk(fleet, 'openai')}", version=1)
    assert order(fleet) == ["groq", "openai", "anthropic"]


def test_moving_past_the_end_changes_no_order(operator: Client, fleet: FallbackChain) -> None:
    assert edit(operator, fleet, f"move-up:{pk(fleet, 'openai')}")[0] == 200
    assert order(fleet) == ["openai", "anthropic", "groq"]


def test_moving_keeps_the_priorities_there_are(operator: Client, fleet: FallbackChain) -> None:
    for position, entry in enumerate(fleet.entries.order_by("priority")):
        FallbackEntry.objects.filter(pk=entry.pk).update(priority=10 * (position + 1))
    edit(operator, fleet, f"move-down:{pk(fleet, 'openai')}")
    assert list(fleet.entries.order_by("priority").values_list("priority", flat=True)) == [10, 20, 30]
    assert order(fleet) == ["anthropic", "openai", "groq"]


def test_entries_of_equal_priority_get_an_order(operator: Client, fleet: FallbackChain) -> None:
    fleet.entries.update(priority=4)
    edit(operator, fleet, f"move-up:{pk(fleet, 'groq')}")
    assert order(fleet) == ["openai", "groq", "anthropic"]


def test_an_entry_and_a_chain_are_switched_off_and_on(operator: Client, fleet: FallbackChain) -> None:
    edit(operator, fleet, f"toggle:{pk(fleet, 'openai')}")
    assert not fleet.entries.get(provider__slug="openai").enabled
    edit(operator, fleet, "toggle-chain", version=1)
    fleet.refresh_from_db()
    assert not fleet.enabled
    edit(operator, fleet, "toggle-chain", version=2)
    fleet.refresh_from_db()
    assert fleet.enabled


def test_who_edits_an_old_version_overwrites_nothing(operator: Client, fleet: FallbackChain) -> None:
    edit(operator, fleet, f"move-up:{pk(fleet, 'groq')}")
    status, body = edit(operator, fleet, f"move-up:{pk(fleet, 'groq')}", version=0)
    assert status == 422
    assert "Somebody else changed this chain meanwhile" in body
    assert 'name="version" value="1"' in body
    assert order(fleet) == ["openai", "groq", "anthropic"]


def test_every_edit_is_logged_with_its_editor(operator: Client, fleet: FallbackChain) -> None:
    edit(operator, fleet, f"move-up:{pk(fleet, 'groq')}")
    logged = LogEntry.objects.get()
    assert (logged.user.get_username(), logged.change_message) == ("alice", "Moved groq up.")


def test_an_entry_of_another_chain_is_not_touched(operator: Client, fleet: FallbackChain) -> None:
    other = FallbackChain.objects.create(model="other")
    entry = FallbackEntry.objects.create(chain=other, provider=fleet.entries.all()[0].provider)
    assert edit(operator, fleet, f"toggle:{entry.pk}")[0] == 422
    entry.refresh_from_db()
    assert entry.enabled
    fleet.refresh_from_db()
    assert fleet.version == 0


def test_nonsense_is_not_found(operator: Client, fleet: FallbackChain) -> None:
    for data in ({"edit": "explode:1", "version": 0}, {"edit": "toggle:x", "version": 0}, {"edit": "toggle:1"}, {}):
        assert operator.post(f"/chains/{fleet.pk}/", data).status_code == 404


def test_without_a_script_an_edit_is_a_form_and_its_end_the_page(operator: Client, fleet: FallbackChain) -> None:
    answer = operator.post(f"/chains/{fleet.pk}/", {"edit": f"move-up:{pk(fleet, 'groq')}", "version": 0})
    assert answer["Location"] == f"/chains/#lane-{fleet.pk}"
    status, body = edit(operator, fleet, "toggle-chain", version=0, htmx=False)
    assert status == 422
    assert "<html" in body


def answering(client: Client) -> list[str]:
    page = client.get("/chains/").content.decode()
    entries = page.split('<li class="entry"')[1:]
    return [entry.split('data-entry="')[1].split("/")[0] for entry in entries if " data-answers" in entry.split(">")[0]]


def test_the_first_entry_that_takes_calls_answers(operator: Client, fleet: FallbackChain) -> None:
    assert answering(operator) == ["openai"]
    write(breakers=(opened("openai"),))
    assert answering(operator) == ["anthropic"]
    write(cooldowns=(cooling("anthropic", "main"),))
    assert answering(operator) == ["groq"]
    write(lockouts=(locked("groq", "main", "llama-3.3-70b"),))
    assert answering(operator) == []
    assert "Nothing answers it now" in operator.get("/chains/").content.decode()


def test_a_connection_that_cools_down_leaves_its_sibling(operator: Client, fleet: FallbackChain) -> None:
    write(cooldowns=(cooling("openai", "main"),))
    assert answering(operator) == ["openai"]
    write(cooldowns=(cooling("openai", "batch"),))
    assert answering(operator) == ["anthropic"]


def test_a_provider_held_open_is_passed_over(operator: Client, fleet: FallbackChain) -> None:
    actions.force_open("openai", actor="alice", reason="because")
    assert answering(operator) == ["anthropic"]


def test_a_weighted_chain_has_no_order_to_change(operator: Client, fleet: FallbackChain) -> None:
    FallbackChain.objects.update(strategy="weighted")
    page = operator.get("/chains/").content.decode()
    assert answering(operator) == ["openai", "anthropic", "groq"]
    assert "move-up" not in page
    assert 'data-order="any"' in page
