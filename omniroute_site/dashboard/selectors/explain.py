"""Who would be asked: the serving code's own answer, for the state as it is and as it might be."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from asgiref.sync import async_to_sync

from omniroute_site.dashboard.board_rows import EventRow
from omniroute_site.dashboard.explain_rows import Candidate, Explained, Gate
from omniroute_site.dashboard.selectors.events import told
from resilience.eventlog import to_row
from resilience.livecopy import LiveCopy
from resilience.registry import get_registry
from routing import explain as serving
from routing.adapters.base import ClientRequest
from routing.live import live
from routing.table import RoutingTable
from routing.what_if import Outlook, Supposition, suppose

SEED = 7  # one order for now and for what if, where chance decides


def copied_state() -> LiveCopy:
    """A copy of what this process decides by. Taken on the event loop, which owns the original."""

    async def on_the_loop() -> LiveCopy:
        return get_registry().copied()

    return async_to_sync(on_the_loop)()


def read_explained(
    model: str, table: RoutingTable, layers: LiveCopy, now: datetime, request: ClientRequest | None = None
) -> Explained:
    """The targets for `model` as they are, for `request` if it is known. Raises GatewayError 404 `model_not_found`."""
    answer = serving.explain({"model": model}, table, layers, live, now, seed=SEED, request=request)
    candidates = _with_first(tuple(_candidate(target) for target in answer["targets"]))
    emergency = table.settings.emergency
    explained = Explained(
        model=model,
        chain=answer["chain"] or "",
        strategy=answer["strategy"],
        candidates=candidates,
        max_attempts=table.settings.max_attempts,
        emergency=f"{emergency.provider}/{emergency.model}" if emergency.enabled and answer["chain"] else "",
    )
    return replace(explained, answers_now=explained.first.key if explained.first else "")


def read_supposed(
    explained: Explained, table: RoutingTable, layers: LiveCopy, what: Supposition, now: datetime
) -> Explained:
    """The same with what would become of each target. Nothing is written, and `layers` stay as they are."""
    outlook = suppose(layers.copied(), table, what, now)
    before = {candidate.key: candidate for candidate in explained.candidates}
    answer = serving.explain({"model": explained.model}, table, outlook.layers, live, outlook.at, seed=SEED)
    found = map(_candidate, answer["targets"])
    candidates = tuple(replace(before[one.key], then=one.now) for one in found if one.key in before)
    return replace(
        explained,
        candidates=_with_first(candidates),
        supposed=True,
        events=_events(outlook, now),
        failing=what.failing.times if what.failing else 0,
        reached=outlook.reached,
        later=what.later,
    )


def _candidate(target: Mapping[str, Any]) -> Candidate:
    waits = target["retry_after"]
    gate = Gate(
        reason="probe" if target["probe"] else target["reason"] or "",
        until=datetime.fromisoformat(target["until"]) if target["until"] else None,
        waits=None if waits is None else timedelta(seconds=waits),
        problem=target["problem"] or "",
    )
    return Candidate(
        target["provider"],
        target["connection"],
        target["model"],
        gate,
        dropped=target.get("dropped", ()),
        refused=target.get("refused", ""),
    )


def _with_first(candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Mark who would be asked first."""
    first = next((one for one in candidates if one.gate.admitted), None)
    return tuple(replace(one, first=one is first) for one in candidates)


def _events(outlook: Outlook, now: datetime) -> tuple[EventRow, ...]:
    """What would stand in the event log, as it would be told there."""
    return tuple(told(to_row(event, at=now)) for event in outlook.events)
