"""The chain editor: changed row by row, saved as a whole, on the version its editor has seen."""

import re
from typing import Any

import pytest
from django.test import Client

from omniroute_site.dashboard.chain_draft import sent, stored
from resilience.models import ResilienceEvent
from routing.models import FallbackChain, FallbackEntry, Provider, UpstreamModel
from tests.dashboard.conftest import add_provider, log
from tests.dashboard.reading import said_by

HTMX = {"HX-Request": "true"}


def form(chain: FallbackChain, **more: Any) -> dict[str, Any]:
    """What the browser sends for the chain as it is stored."""
    draft = stored(chain)
    data: dict[str, Any] = {"model": draft.model, "strategy": draft.strategy, "version": str(draft.version)}
    data |= {"enabled": "on"} if draft.enabled else {}
    data["entry"] = [entry.key for entry in draft.entries]
    for entry in draft.entries:
        for name in ("provider", "model", "connection", "weight"):
            data[f"{entry.key}-{name}"] = getattr(entry, name)
        data |= {f"{entry.key}-{name}": "on" for name in ("enabled", "tied") if getattr(entry, name)}
    return {**data, "reason": "openai is slow today", **more}


def post(client: Client, chain: FallbackChain | None, data: dict[str, Any], *, htmx: bool = True) -> tuple[int, str]:
    address = f"/chains/{chain.pk}/" if chain else "/chains/new/"
    answer = client.post(address, data, headers=HTMX if htmx else {})
    assert answer.status_code != 200 or "Location" not in answer
    return answer.status_code, said_by(answer) or answer.get("HX-Redirect", "")


def order(chain: FallbackChain) -> list[str]:
    return [entry.provider.slug for entry in chain.entries.order_by("priority", "id")]


def shown(page: str) -> list[str]:
    return [name.split("/")[0] for name in re.findall(r'<li class="row"[^>]*data-entry="([^"]*)"', page)]


def test_moving_adding_and_removing_change_the_draft_and_save_nothing(operator: Client, fleet: FallbackChain) -> None:
    openai, _anthropic, groq = (f"e{entry.pk}" for entry in fleet.entries.order_by("priority"))
    status, page = post(operator, fleet, form(fleet, do=f"move-up:{groq}"))
    assert (status, shown(page)) == (200, ["openai", "groq", "anthropic"])
    assert shown(post(operator, fleet, form(fleet, do=f"remove:{openai}"))[1]) == ["anthropic", "groq"]
    added = post(operator, fleet, form(fleet, do="add"))[1]
    assert shown(added) == ["openai", "anthropic", "groq", ""]
    assert "openai is slow today" in added
    fleet.refresh_from_db()
    assert (order(fleet), fleet.version) == (["openai", "anthropic", "groq"], 0)


def test_moving_past_the_end_leaves_the_draft(operator: Client, fleet: FallbackChain) -> None:
    first = f"e{fleet.entries.order_by('priority')[0].pk}"
    assert shown(post(operator, fleet, form(fleet, do=f"move-up:{first}"))[1]) == ["openai", "anthropic", "groq"]


def test_the_draft_is_saved_as_a_whole_with_who_and_why(operator: Client, fleet: FallbackChain) -> None:
    data = form(fleet, do="save", strategy="weighted")
    data["entry"] = list(reversed(data["entry"]))
    data[f"{data['entry'][0]}-weight"] = "3.5"
    status, address = post(operator, fleet, data)
    assert (status, address) == (200, f"/chains/#lane-{fleet.pk}")
    fleet.refresh_from_db()
    assert (order(fleet), fleet.strategy, fleet.version) == (["groq", "anthropic", "openai"], "weighted", 1)
    assert fleet.entries.get(provider__slug="groq").weight == 3.5
    event = ResilienceEvent.objects.get()
    assert (event.name, event.actor, event.reason) == ("config_changed", "alice", "openai is slow today")
    assert event.data["subject"] == "chain gpt-4o"
    assert event.cause.startswith("strategy weighted; groq/llama-3.3-70b weight 3.5; order groq/llama-3.3-70b, ")


def test_what_is_saved_is_what_the_editor_shows_again(operator: Client, fleet: FallbackChain) -> None:
    FallbackEntry.objects.filter(provider__slug="groq").update(priority=1, enabled=False)
    before = stored(fleet)
    post(operator, fleet, form(fleet, do="save"))
    fleet.refresh_from_db()
    after = stored(fleet)
    assert [(e.label, e.weight, e.enabled, e.tied) for e in after.entries] == [
        (e.label, e.weight, e.enabled, e.tied) for e in before.entries
    ]
    assert [entry.tied for entry in after.entries] == [False, False, True]


def test_who_saves_an_old_version_overwrites_nothing_and_sees_both(operator: Client, fleet: FallbackChain) -> None:
    old = form(fleet, do="save", strategy="random")
    post(operator, fleet, form(fleet, do="save", enabled="", strategy="fastest", reason="cheaper"))
    status, page = post(operator, fleet, old)
    assert status == 422
    assert "Somebody else saved this chain meanwhile. Nothing of yours was saved." in page
    assert "alice" in page
    assert "cheaper" in page
    assert f'id="lane-{fleet.pk}"' in page
    assert '<option value="random" selected>' in page
    fleet.refresh_from_db()
    assert (fleet.strategy, fleet.version) == ("fastest", 1)
    assert post(operator, fleet, {**old, "version": "1"})[0] == 200
    fleet.refresh_from_db()
    assert fleet.strategy == "random"


def test_a_chain_deleted_meanwhile_is_said_so(operator: Client, fleet: FallbackChain) -> None:
    data = form(fleet, do="save")
    fleet.delete()
    assert post(operator, fleet, data)[0] == 404


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"reason": ""}, "Say why"),
        ({"model": ""}, "Apps ask for it by a name."),
        ({"model": "gpt\t4"}, "Only printable characters."),
        ({"model": "other"}, "There is a chain of this name already."),
        ({"strategy": "best"}, "best is not one of the available choices"),
        ({"new0-provider": ""}, "Choose a provider."),
        ({"new0-provider": "nobody"}, "There is no provider nobody here."),
        ({"new0-connection": "nope"}, "There is no connection nope here."),
        ({"new0-weight": "0"}, "greater than or equal to 0.001"),
        ({"new0-weight": "nan"}, "Enter a number."),
        ({"new0-model": "gpt-4o"}, "The same as entry 1."),
    ],
)
def test_a_mistake_is_said_beside_its_field_and_nothing_is_lost(
    operator: Client, fleet: FallbackChain, wrong: dict[str, str], words: str
) -> None:
    FallbackChain.objects.create(model="other")
    data = form(fleet, do="save")
    data["entry"] = [*data["entry"], "new0"]
    data |= {"new0-provider": "openai", "new0-model": "gpt-4o-mini", "new0-weight": "1", "new0-enabled": "on"}
    status, page = post(operator, fleet, data | wrong)
    assert status == 422
    assert words in page
    assert shown(page)[:3] == ["openai", "anthropic", "groq"]
    assert fleet.entries.count() == 3


def test_a_new_chain_is_made(operator: Client, fleet: FallbackChain) -> None:
    data = {
        "do": "save", "model": "cheap", "strategy": "priority", "enabled": "on", "version": "0", "reason": "a second one",
        "entry": ["new0"], "new0-provider": "groq", "new0-weight": "1", "new0-connection": "main", "new0-enabled": "on",
    }  # fmt: skip
    assert operator.get("/chains/new/").status_code == 200
    assert post(operator, None, data)[0] == 200
    made = FallbackChain.objects.get(model="cheap")
    entry = made.entries.get()
    assert (entry.upstream_model, entry.connection.slug if entry.connection else "") == ("cheap", "main")
    assert ResilienceEvent.objects.get().cause == "created"


def test_a_chain_is_deleted_with_a_reason(operator: Client, fleet: FallbackChain) -> None:
    assert post(operator, fleet, form(fleet, do="delete", reason=" "))[0] == 422
    assert post(operator, fleet, form(fleet, do="delete", reason="nobody asks for it"))[0] == 200
    assert not FallbackChain.objects.exists()
    assert ResilienceEvent.objects.get().cause == "deleted"


def test_without_a_script_it_is_a_page_and_a_redirect(operator: Client, fleet: FallbackChain) -> None:
    status, page = post(operator, fleet, form(fleet, do="add"), htmx=False)
    assert (status, "<html" in page) == (200, True)
    answer = operator.post(f"/chains/{fleet.pk}/", form(fleet, do="save"))
    assert answer["Location"] == f"/chains/#lane-{fleet.pk}"


def test_viewers_can_neither_look_at_the_editor_nor_save(viewer: Client, fleet: FallbackChain) -> None:
    assert viewer.get(f"/chains/{fleet.pk}/").status_code == 403
    assert viewer.post(f"/chains/{fleet.pk}/", form(fleet, do="save")).status_code == 403
    assert "data-configures" not in viewer.get("/chains/").content.decode()


def test_nonsense_is_not_found(operator: Client, fleet: FallbackChain) -> None:
    for data in ({"do": "explode"}, {}):
        assert operator.post(f"/chains/{fleet.pk}/", data).status_code == 404
    assert operator.get("/chains/999999/").status_code == 404


def test_any_form_is_read(fleet: FallbackChain, rf: Any) -> None:
    request = rf.post("/", {"version": "9" * 400, "entry": ["a", "a", "../x", *map(str, range(300))]})
    draft = sent(request.POST)
    assert draft.version == 0
    assert len(draft.entries) <= 100


def warned(client: Client, chain: FallbackChain, **more: str) -> list[str]:
    page = post(client, chain, form(chain, do="lint", **more))[1]
    return re.findall(r'<li class="lint">([^<]*)</li>', page)


def test_warnings_come_while_the_chain_is_edited(operator: Client, fleet: FallbackChain) -> None:
    keys = form(fleet)["entry"]
    assert warned(operator, fleet) == []
    assert warned(operator, fleet, **{f"{keys[1]}-provider": "openai", f"{keys[2]}-provider": "openai"}) == [
        "One provider only: nothing to fall back to."
    ]
    Provider.objects.update(enabled=False)
    assert warned(operator, fleet) == ["No entry is enabled: every request is refused."]


def test_what_an_entry_further_down_cannot_do_is_said(operator: Client, fleet: FallbackChain) -> None:
    facts = {"openai/gpt-4o": (128_000, True), "groq/llama-3.3-70b": (32_000, False)}
    for name, (window, able) in facts.items():
        slug, model = name.split("/")
        UpstreamModel.objects.create(
            provider=Provider.objects.get(slug=slug), model=model, context_window=window, supports_tools=able
        )
    assert warned(operator, fleet) == [
        "groq/llama-3.3-70b takes 32,000 tokens, the first 128,000.",
        "groq/llama-3.3-70b takes no tools.",
    ]


def test_one_account_twice_is_said(operator: Client, fleet: FallbackChain) -> None:
    FallbackEntry.objects.create(chain=fleet, provider=Provider.objects.get(slug="groq"), model="gemma", priority=9)
    assert warned(operator, fleet) == ["groq/main stands in it twice: when that account cools down, both are skipped."]


def test_what_was_never_exercised_is_said(operator: Client, fleet: FallbackChain) -> None:
    log(provider="openai", model="gpt-4o")
    log(provider="groq", model="llama-3.3-70b")
    assert warned(operator, fleet) == ["anthropic/claude-sonnet-4 has answered nothing in 7 days: untested."]


def test_the_number_of_queries_does_not_grow_with_the_entries(
    operator: Client, fleet: FallbackChain, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        FallbackEntry.objects.create(chain=fleet, provider=add_provider(f"p{number}"), model="m", priority=number + 5)
    with django_assert_max_num_queries(20) as few:
        operator.get(f"/chains/{fleet.pk}/")
    for number in range(20, 60):
        FallbackEntry.objects.create(chain=fleet, provider=add_provider(f"p{number}"), model="m", priority=number + 5)
    with django_assert_max_num_queries(20) as many:
        operator.get(f"/chains/{fleet.pk}/")
    assert len(few) == len(many)
