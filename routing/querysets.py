"""Chainable filters of the routing rows, and the one rule that keeps every process's routing table fresh.

Every way Django's ORM writes a row ends in one of the methods overridden here: `save()` and `loaddata` in
`_update` or `_insert` of the base manager, `bulk_create` in `_insert`, `bulk_update` and related managers in
`update`, cascades in `_raw_delete`. Each touches the version row in the same transaction, so that no process can
see the new version without the new rows, nor the new rows for longer than its poll without the new version.
Only `Model.delete` goes around the QuerySet; `TableModel.delete` covers it. Raw SQL is left to the slow full reload.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self, TypeVar

from django.apps import apps
from django.db import connections, models, transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest

M_co = TypeVar("M_co", bound=models.Model, covariant=True)


@contextmanager
def touching(using: str) -> Iterator[None]:
    """Run a write and touch the table's version in one transaction, and tell other processes once it is committed.

    The version is taken first: writers of the configuration queue up on its row in one order, without deadlocks.
    """
    with transaction.atomic(using=using):
        _touch(using)
        yield


def _touch(using: str) -> None:
    # A clock reading rather than a count: a rolled-back transaction or a flushed table never hands out a
    # version that a process has already loaded with other rows behind it.
    stamp = time.time_ns() // 1_000
    rows = apps.get_model("routing", "TableVersion").objects.using(using)
    if not rows.filter(pk=1).update(value=Greatest(F("value") + 1, Value(stamp))):
        rows.bulk_create([rows.model(pk=1, value=stamp)], ignore_conflicts=True)
    if not any(entry[1] is _announce for entry in connections[using].run_on_commit):
        transaction.on_commit(_announce, using=using, robust=True)


def _announce() -> None:
    from resilience import news  # the channel layer is not needed to import the models

    news.announce("table")


class TableQuerySet(models.QuerySet[M_co]):
    """Rows the routing table is compiled from; each write touches its version."""

    def update(self, **kwargs: Any) -> int:
        """Update, and touch."""
        with touching(self._write_alias()):
            return super().update(**kwargs)

    def delete(self) -> tuple[int, dict[str, int]]:
        """Delete with cascades, and touch."""
        with touching(self._write_alias()):
            return super().delete()

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]

    def _insert(self, *args: Any, using: str | None = None, **kwargs: Any) -> Any:
        with touching(using or self._write_alias()):
            return super()._insert(*args, using=using, **kwargs)  # type: ignore[misc]

    _insert.alters_data = True  # type: ignore[attr-defined]
    _insert.queryset_only = False  # type: ignore[attr-defined]

    def _update(self, *args: Any, **kwargs: Any) -> Any:
        with touching(self._write_alias()):
            return super()._update(*args, **kwargs)  # type: ignore[misc]

    _update.alters_data = True  # type: ignore[attr-defined]
    _update.queryset_only = False  # type: ignore[attr-defined]

    def _raw_delete(self, using: str | None) -> int:
        with touching(using or self._write_alias()):
            return super()._raw_delete(using)

    _raw_delete.alters_data = True  # type: ignore[attr-defined]

    def _write_alias(self) -> str:
        self._for_write = True
        return self.db

    def enabled(self) -> Self:
        """Those the operator has not switched off."""
        return self.filter(enabled=True)


class UnmatchedErrorQuerySet(models.QuerySet[M_co]):
    """Filters of the errors that nobody knows."""

    def of(self, provider: str) -> Self:
        """Those of one provider, by its slug."""
        return self.filter(provider=provider)

    def latest_first(self) -> Self:
        """By when they were last seen, falling."""
        return self.order_by("-last_seen_at", "-id")


class RequestLogQuerySet(models.QuerySet[M_co]):
    """Filters of the request log. Ids are UUIDv7: ordered by id is ordered by time."""

    def newest_first(self) -> Self:
        """By time, falling."""
        return self.order_by("-id")
