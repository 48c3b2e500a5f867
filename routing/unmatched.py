"""From requests to the collection of unmatched errors: counted by shape, a batch of requests at a time.

Runs in the request log's writer, behind the rows of the same batch: a batch that could not be written comes again whole.
"""

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F

from resilience.core.outcome import Failure
from resilience.core.unmatched import EXAMPLE_LENGTH, SHAPE_LENGTH
from routing.requestlog_rows import REFUSALS, RequestRecord, storable

if TYPE_CHECKING:
    from routing.models import UnmatchedError

logger = logging.getLogger(__name__)

MAX_SHAPES = 200
"""Of one provider. What comes on top is counted as "others", until `prune` has made room; processes that write at the
same moment may pass it by a few."""
OTHERS = "others"
MAX_CODE = 200

Key = tuple[str, str]  # provider and digest


@dataclass(slots=True)
class Group:
    """Errors of one shape in one batch. `failure` is one of them, None for those beyond MAX_SHAPES."""

    failure: Failure | None
    first_seen_at: datetime
    last_seen_at: datetime
    count: int = 0


def count_unmatched(batch: Sequence[RequestRecord]) -> None:
    """Count the unmatched errors of some requests. Raises when the database cannot be reached; then nothing is counted."""
    groups: dict[Key, Group] = {}
    for record in batch:
        for provider, failure in record.unmatched:
            _add(groups, (provider, _digest(failure)), failure, record.started_at)
    if not groups:
        return
    try:
        with transaction.atomic():
            _write(groups)
    except REFUSALS as error:  # the batch must not come again for ever
        logger.warning("unmatched.refused", extra={"shapes": len(groups), "error": type(error).__name__})


def _add(groups: dict[Key, Group], key: Key, failure: Failure | None, at: datetime, count: int = 1) -> None:
    group = groups.setdefault(key, Group(failure, at, at))
    group.count += count
    group.first_seen_at = min(group.first_seen_at, at)
    group.last_seen_at = max(group.last_seen_at, at)


def _digest(failure: Failure) -> str:
    shape = failure.unmatched.shape if failure.unmatched else ""
    text = f"{failure.status}\n{failure.code}\n{shape}"
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _write(groups: dict[Key, Group]) -> None:
    from routing.models import UnmatchedError  # this module is imported by the path, before apps may be ready

    rows = UnmatchedError.objects
    known: dict[str, set[str]] = defaultdict(set)
    for provider, digest in rows.filter(provider__in={key[0] for key in groups}).values_list("provider", "digest"):
        known[provider].add(digest)
    bounded = _bounded(groups, known)
    new = [_row(*key, group) for key, group in bounded.items() if key[1] not in known[key[0]]]
    rows.bulk_create(new, ignore_conflicts=True)  # another process may have been quicker
    for (provider, digest), group in sorted(bounded.items(), key=lambda item: item[0]):  # one order: no deadlocks
        rows.filter(provider=provider, digest=digest).update(
            count=F("count") + group.count, last_seen_at=group.last_seen_at
        )


def _bounded(groups: dict[Key, Group], known: dict[str, set[str]]) -> dict[Key, Group]:
    """The groups with those that are one shape too many put together."""
    bounded: dict[Key, Group] = {}
    room = {provider: MAX_SHAPES - len(digests - {OTHERS}) for provider, digests in known.items()}
    for (provider, digest), group in groups.items():
        if digest in known[provider]:
            bounded[provider, digest] = group
        elif room.setdefault(provider, MAX_SHAPES) > 0:
            room[provider] -= 1
            bounded[provider, digest] = group
        else:
            _add(bounded, (provider, OTHERS), None, group.last_seen_at, group.count)
    return bounded


def _row(provider: str, digest: str, group: Group) -> "UnmatchedError":
    from routing.models import UnmatchedError  # as above

    failure = group.failure
    row = UnmatchedError(
        provider=provider, digest=digest, first_seen_at=group.first_seen_at, last_seen_at=group.last_seen_at
    )
    if failure is not None and failure.unmatched is not None:
        row.status, row.kind = failure.status, failure.kind.value
        row.code = storable(failure.code or "", MAX_CODE)
        row.shape = storable(failure.unmatched.shape, SHAPE_LENGTH)
        row.example = storable(failure.unmatched.example, EXAMPLE_LENGTH)
    return row
