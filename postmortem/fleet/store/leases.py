"""Leases on the rows of a table: who may work on a row, and until when.

In: a table with the columns `owner`, `claim` and `lease_until`; who holds what. Out: values and
conditions for statements, counts. Not here: which rows are wanted (`store.analysis_records`,
`store.answer_records`), who an owner is: a text that no other process uses.

Leases are measured by the clock of the database. Held rows are locked in the order of their keys,
so that no two owners wait for each other.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final
from uuid import uuid4

from sqlalchemy import Table, select, tuple_, update
from sqlalchemy.sql.elements import ColumnElement

from postmortem.fleet.store.databases import Database, Seconds

FREE: Final[Mapping[str, Any]] = {"owner": "", "claim": "", "lease_until": 0.0}
"""Values of a row that nobody holds."""


class Leases:
    """The leases of a table."""

    def __init__(self, database: Database, table: Table) -> None:
        self._database = database
        self._table = table

    def is_free(self) -> "ColumnElement[bool]":
        """Say of a row that nobody holds it, or that its lease has run out."""
        return (self._table.c.owner == "") | (self._table.c.lease_until < Seconds())

    def list_owners(self) -> list[str]:
        """Give who holds leases now, sorted."""
        owner = self._table.c.owner
        with self._database.reading() as connection:
            return sorted(connection.execute(select(owner).where(owner != "").distinct()).scalars())

    def renew(self, owner: str, seconds: float) -> int:
        """Let all leases of an owner hold for so many seconds from now; give their number."""
        return self._change(self._table.c.owner == owner, extend(seconds))

    def release(self, owner: str) -> int:
        """Give back all that an owner holds; give the number."""
        return self._change(self._table.c.owner == owner, FREE)

    def change_claimed(self, claims: Collection[str], values: Mapping[str, Any]) -> int:
        """Write into the rows of claims that are still granted; give the number."""
        return self._change(self._table.c.claim.in_(claims), values)

    def _change(self, held: "ColumnElement[bool]", values: Mapping[str, Any]) -> int:
        keys = tuple(self._table.primary_key)
        locked = select(*keys).where(held).order_by(*keys).with_for_update()
        with self._database.writing() as connection:
            done = connection.execute(
                update(self._table).where(tuple_(*keys).in_(locked), held).values(**values)
            )
            return int(done.rowcount)


def grant(owner: str, seconds: float) -> dict[str, Any]:
    """Build the values of a row that is granted now, under a claim that no other one bears."""
    return {"owner": owner, "claim": uuid4().hex, **extend(seconds)}


def extend(seconds: float) -> dict[str, Any]:
    """Build the value of a lease that holds for so many seconds from now."""
    return {"lease_until": Seconds() + seconds}
