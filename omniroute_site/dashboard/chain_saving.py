"""Saving a chain as a whole, on the version its editor has seen: nobody overwrites what they did not see."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F

from omniroute_site.dashboard.chain_draft import ChainDraft, DraftForms, stored
from omniroute_site.dashboard.selectors.events import last_change
from resilience import actions
from resilience.core.events import ConfigChanged
from resilience.models import ResilienceEvent
from routing.models import Connection, FallbackChain, FallbackEntry, Provider


class ChainChangedError(Exception):
    """Somebody else saved the chain meanwhile, or deleted it; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Save:
    """Who saved a chain, and why."""

    actor: str
    reason: str


def save_chain(chain: FallbackChain | None, draft: ChainDraft, forms: DraftForms, by: Save) -> FallbackChain:
    """Write a valid draft; without a chain, as a new one. Raises ChainChangedError."""
    given = forms.chain.cleaned_data
    with transaction.atomic():
        before = _take(chain, draft.version) if chain else ChainDraft()
        saved = chain or FallbackChain(version=1)
        saved.model, saved.strategy, saved.enabled = given["model"], given["strategy"], given["enabled"]
        saved.save()
        saved.entries.all().delete()
        FallbackEntry.objects.bulk_create(_rows(saved, forms))
        what = "created" if chain is None else "; ".join(_differences(before, stored(saved))) or "saved as it was"
        _record(saved.model, what, by)
    return saved


def delete_chain(chain: FallbackChain, version: int, by: Save) -> None:
    """Delete a chain with its entries. Raises ChainChangedError."""
    with transaction.atomic():
        _take(chain, version)
        chain.delete()
        _record(chain.model, "deleted", by)


def last_save(model: str) -> ResilienceEvent | None:
    """Who changed a chain last, and why."""
    return last_change(_subject(model))


def _take(chain: FallbackChain, version: int) -> ChainDraft:
    """Raise the version and return what was stored. The update locks the row: of two editors the second one fails."""
    before = stored(chain)
    if not FallbackChain.objects.filter(pk=chain.pk, version=version).update(version=F("version") + 1):
        raise ChainChangedError
    chain.version = version + 1
    return before


def _rows(chain: FallbackChain, forms: DraftForms) -> Iterator[FallbackEntry]:
    """The entries' rows, numbered by their order; one that is tied has the number of the one above."""
    chosen = {fields.form.cleaned_data["provider"] for fields in forms.entries}
    providers = Provider.objects.in_bulk(chosen, field_name="slug")
    connections = {(each.provider_id, each.slug): each for each in Connection.objects.filter(provider__slug__in=chosen)}
    priority = -1
    for fields in forms.entries:
        given = fields.form.cleaned_data
        provider = providers.get(given["provider"])
        if provider is None:
            raise ChainChangedError
        priority += 0 if given["tied"] and priority >= 0 else 1
        yield FallbackEntry(
            chain=chain,
            provider=provider,
            model=given["model"],
            connection=connections.get((provider.pk, given["connection"])),
            priority=priority,
            weight=given["weight"],
            enabled=given["enabled"],
        )


def _differences(before: ChainDraft, after: ChainDraft) -> Iterator[str]:
    """What was done, for those who read the event."""
    if before.model != after.model:
        yield f"renamed from {before.model}"
    if before.enabled != after.enabled:
        yield "enabled" if after.enabled else "disabled"
    if before.strategy != after.strategy:
        yield f"strategy {after.strategy}"
    were, are = ({entry.label: entry for entry in draft.entries} for draft in (before, after))
    yield from (f"{label} added" for label in are.keys() - were.keys())
    yield from (f"{label} removed" for label in were.keys() - are.keys())
    kept = [label for label in are if label in were]
    for label in kept:
        if were[label].enabled != are[label].enabled:
            yield f"{label} {'enabled' if are[label].enabled else 'disabled'}"
        if were[label].weight != are[label].weight:
            yield f"{label} weight {are[label].weight}"
    places = [[(label, draft[label].tied) for label in draft if label in kept] for draft in (were, are)]
    if places[0] != places[1]:
        yield f"order {', '.join(are)}"


def _record(model: str, what: str, by: Save) -> None:
    actions.configured(ConfigChanged(_subject(model), what), actor=by.actor, reason=by.reason)


def _subject(model: str) -> str:
    return f"chain {model}"
