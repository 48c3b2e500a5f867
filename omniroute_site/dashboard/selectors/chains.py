"""Chains as lanes: entries in order, where each stands, and what it served in the last hour."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from omniroute_site.dashboard.board_rows import Count
from omniroute_site.dashboard.chain_lint import Link, warnings
from omniroute_site.dashboard.chain_rows import Chains, Entry, Lane
from omniroute_site.dashboard.rows import BREAKER_TONES
from omniroute_site.dashboard.selectors.state import Now, read_now
from omniroute_site.dashboard.standing import Gate, Standing, standing_of
from resilience.core.state import Breaker
from routing import table
from routing.ids import uuid7_floor
from routing.models import FallbackChain, FallbackEntry, Outcome, RequestLog

SHARE_OF = timedelta(hours=1)
MOST_ROWS = 5_000
"""Of the last hour's requests the newest that are looked at; more would not change a bar's length."""

RELATED = ("entries__provider", "entries__connection")
Served = Mapping[tuple[str, str, str], int]


def read_chains(at: datetime) -> Chains:
    """Read every chain as it is at `at`."""
    now = read_now(at)
    served, rescued = _served(at)
    chains = FallbackChain.objects.prefetch_related(*RELATED)
    return Chains(tuple(_lane(chain, now, served, rescued) for chain in chains))


def read_lane(chain_id: int, at: datetime) -> Lane | None:
    """One chain, None if it is gone."""
    chain = FallbackChain.objects.prefetch_related(*RELATED).filter(pk=chain_id).first()
    return _lane(chain, read_now(at), *_served(at)) if chain else None


def _served(at: datetime) -> tuple[Served, Mapping[str, int]]:
    """How often each (chain, provider, model) answered of late, and how often each chain was rescued."""
    recent = RequestLog.objects.filter(id__gte=uuid7_floor(at - SHARE_OF)).newest_first()
    rows = recent.values_list("chain", "provider", "model", "outcome")[:MOST_ROWS]
    served: Counter[tuple[str, str, str]] = Counter()
    rescued: Counter[str] = Counter()
    for chain, provider, model, outcome in rows:
        if provider:
            served[chain, provider, model] += 1
        rescued[chain] += outcome == Outcome.RESCUED
    return served, rescued


def _lane(chain: FallbackChain, now: Now, served: Served, rescued: Mapping[str, int]) -> Lane:
    rows = list(chain.entries.all())
    total = sum(count for (name, _provider, _model), count in served.items() if name == chain.model)
    found_one = False
    entries = []
    for row in rows:
        standing = _standing(row, chain, now)
        answers = chain.enabled and standing.usable and not (found_one and chain.strategy == "priority")
        found_one = found_one or standing.usable
        count = served.get((chain.model, row.provider.slug, row.model or chain.model), 0)
        entries.append(_entry(row, chain, now, standing, answers=answers, share=round(100 * count / (total or 1))))
    return Lane(
        id=chain.pk,
        model=chain.model,
        strategy=chain.strategy,
        enabled=chain.enabled,
        entries=tuple(entries),
        requests=Count(total, more=total >= MOST_ROWS),
        rescued_percent=round(100 * rescued.get(chain.model, 0) / total) if total else 0,
        warnings=tuple(_warnings(rows, chain, now, found_one=found_one)),
    )


def _standing(row: FallbackEntry, chain: FallbackChain, now: Now) -> Standing:
    provider = now.table.providers.get(row.provider.slug)
    if provider is None:  # added between two reads; the next push has it
        return Standing(Gate.DISABLED, "not loaded yet")
    entry = table.Entry(
        provider=provider,
        model=row.model or chain.model,
        priority=row.priority,
        weight=row.weight,
        enabled=row.enabled,
        connection=row.connection.slug if row.connection else None,
    )
    return standing_of(entry, now)


def _entry(
    row: FallbackEntry, chain: FallbackChain, now: Now, standing: Standing, *, answers: bool, share: int
) -> Entry:
    breaker = now.breaker(row.provider.slug)
    off = standing.gate is Gate.DISABLED
    return Entry(
        provider=row.provider.slug,
        model=row.model or chain.model,
        connection=row.connection.slug if row.connection else "",
        weight=row.weight,
        off=off,
        tone="off" if off else _tone(breaker),
        word=standing.why or _word(chain, row, answers=answers),
        until=standing.until,
        answers=answers,
        skipped=standing.gate is Gate.SKIPPED,
        share_percent=min(100, share),
    )


def _tone(breaker: Breaker) -> str:
    return "forced" if breaker.forced else BREAKER_TONES[breaker.state.value]


def _word(chain: FallbackChain, row: FallbackEntry, *, answers: bool) -> str:
    if chain.strategy == "weighted":
        return f"weight {row.weight:g}"
    if answers:
        return "answers now"
    return "ready" if chain.enabled else "chain disabled"


def _warnings(rows: Sequence[FallbackEntry], chain: FallbackChain, now: Now, *, found_one: bool) -> Iterable[str]:
    links = [
        Link(row.provider.slug, row.model or chain.model, row.connection.slug if row.connection else "", row.enabled)
        for row in rows
    ]
    if not found_one and any(row.enabled and row.provider.enabled for row in rows):
        yield "Nothing answers it now."
    yield from warnings(links, now.table)
