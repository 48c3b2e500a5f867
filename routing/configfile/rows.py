"""One object of the file → one row: what differs is written, and noted in the plan."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from django.db import models

from routing.configfile.plan import Plan, describe

M = TypeVar("M", bound=models.Model)

SECRETS = {"api_key_encrypted": "api_key", "api_key_env": "api_key", "key_hint": "api_key", "key_hash": "key"}
"""Columns whose values no plan shows, and the name the file has for them."""


def is_new(row: models.Model) -> bool:
    """Whether the row is not stored yet."""
    return row._state.adding  # noqa: SLF001 (documented by Django under this name)


class RowWriter:
    """Writes rows in the running transaction and keeps the plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def put(self, what: str, row: M, columns: Mapping[str, Any], *, also: Sequence[str] = ()) -> M:
        """Make a row hold these columns. `also` names what changed beside it, in tables of its own."""
        if is_new(row):
            for column, value in columns.items():
                setattr(row, column, value)
            row.save(force_insert=True)
            self.plan.add("create", what, tuple(also))
            return row
        changed = [column for column, value in columns.items() if getattr(row, column) != value]
        if not changed and not also:
            self.plan.unchanged += 1
            return row
        details = dict.fromkeys([_described(column, row, columns[column]) for column in changed] + list(also))
        for column in changed:
            setattr(row, column, columns[column])
        if changed:
            row.save(update_fields=changed)
        self.plan.add("change", what, tuple(details))
        return row

    def drop(self, what: str, row: models.Model) -> None:
        """Delete a row with what hangs on it."""
        row.delete()
        self.plan.add("delete", what)


def _described(column: str, row: models.Model, value: Any) -> str:
    if column in SECRETS:
        return f"{SECRETS[column]} changed"
    before = getattr(row, column)
    if column == "headers":  # their values may be secrets
        return describe(column, sorted(before), sorted(value)) if sorted(before) != sorted(value) else "headers changed"
    return describe(column, before, value)
