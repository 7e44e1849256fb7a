"""The analyses of a store, and who may compute which of them now.

In: keys, owners, rows. Out: granted keys, summaries, blobs. Not here: what is in a blob, what a
lease is (`store.leases`). Rows are always locked in the order of their keys, as leases are.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from itertools import islice
from typing import Any, Final

from sqlalchemy import bindparam, exists, or_, select
from sqlalchemy.sql.elements import ColumnElement

from postmortem.fleet.store.databases import CHUNK, Database, iter_chunks
from postmortem.fleet.store.leases import FREE, Leases, grant
from postmortem.fleet.store.store_tables import ANALYSES, JUDGINGS
from postmortem.fleet.store.stored_rows import WAITING, AnalysisRow, AnalysisSummary

_KEPT_AT_ONCE: Final = 50
"""Analyses of one transaction: their blobs are large."""
_SUMMARY: Final = tuple(ANALYSES.c[field.name] for field in fields(AnalysisSummary))


class AnalysisRecords:
    """The analyses, each under its key."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._leases = Leases(database, ANALYSES)

    def claim(
        self, keys: Collection[str], owner: str, seconds: float, again: Collection[str] = ()
    ) -> list[str]:
        """Take the analyses that this owner may compute for so many seconds from now.

        Those that are not kept and that nobody holds, or whose lease has run out; no key is granted
        twice while a lease holds, whoever asks at the same time.

        Args:
            keys: what is wanted; those that are not granted are kept, or another (or this owner,
                earlier) is at them.
            owner: who asks.
            seconds: how long the lease holds unless it is renewed.
            again: states of failed analyses that are to be tried once more.

        Returns:
            The granted keys, sorted.
        """
        granted: list[str] = []
        for some in iter_chunks(sorted(set(keys))):
            granted += self._claim(some, owner, seconds, again)
        return granted

    def renew(self, owner: str, seconds: float) -> int:
        """Let all leases of an owner hold for so many seconds from now; give their number."""
        return self._leases.renew(owner, seconds)

    def release(self, owner: str) -> int:
        """Give back all that an owner has not finished; give the number."""
        return self._leases.release(owner)

    def list_owners(self) -> list[str]:
        """Give who holds leases now, sorted."""
        return self._leases.list_owners()

    def keep(self, rows: Iterable[AnalysisRow]) -> None:
        """Keep what was made; it ends the lease. To keep a key twice is harmless.

        An analysis that is whole is never replaced by one that failed.
        """
        left = iter(rows)
        while batch := list(islice(left, _KEPT_AT_ONCE)):
            values = [
                {**asdict(row.summary), **FREE, "blob": row.blob}
                for row in sorted(batch, key=lambda row: row.summary.key)
            ]
            with self._database.writing() as connection:
                statement = self._database.insert(ANALYSES)
                new = statement.excluded
                connection.execute(
                    statement.on_conflict_do_update(
                        index_elements=[ANALYSES.c.key],
                        set_={name: new[name] for name in values[0] if name != "key"},
                        where=or_(new.blob.is_not(None), ANALYSES.c.blob.is_(None)),
                    ),
                    values,
                )

    def get_states(self, keys: Collection[str]) -> Mapping[str, str]:
        """Give the state of each key that is known; `waiting`: claimed once, and not kept."""
        found: dict[str, str] = {}
        for some in iter_chunks(sorted(set(keys))):
            wanted = select(ANALYSES.c.key, ANALYSES.c.state).where(ANALYSES.c.key.in_(some))
            with self._database.reading() as connection:
                found.update((key, state) for key, state in connection.execute(wanted))
        return found

    def iter_summaries(self, keys: Collection[str]) -> Iterator[AnalysisSummary]:
        """Yield what is kept of these keys, by key."""
        for some in iter_chunks(sorted(set(keys))):
            yield from self._page(ANALYSES.c.key.in_(some), "")[0]

    def iter_triage_analyses(self, triage: int) -> Iterator[AnalysisSummary]:
        """Yield what is kept of the analyses of a triage, each once, by key, page by page."""
        is_mine = exists().where(JUDGINGS.c.triage == triage, JUDGINGS.c.key == ANALYSES.c.key)
        last: str | None = ""
        while last is not None:
            page, last = self._page(is_mine, last)
            yield from page

    def read_blob(self, key: str) -> bytes | None:
        """Give the whole of an analysis; None if it is not kept, or failed."""
        with self._database.reading() as connection:
            found = connection.execute(
                select(ANALYSES.c.blob).where(ANALYSES.c.key == key)
            ).scalar_one_or_none()
        return None if found is None else bytes(found)

    def _claim(
        self, keys: Collection[str], owner: str, seconds: float, again: Collection[str]
    ) -> list[str]:
        """Claim keys of one statement, and see which bear its claim."""
        granted = grant(owner, seconds)
        statement = self._database.insert(ANALYSES)
        is_wanted = ANALYSES.c.blob.is_(None) & or_(
            *(ANALYSES.c.state == state for state in (WAITING, *again))
        )
        with self._database.writing() as connection:
            connection.execute(
                statement.values(key=bindparam("key"), **granted).on_conflict_do_update(
                    index_elements=[ANALYSES.c.key],
                    set_={name: statement.excluded[name] for name in FREE},
                    where=self._leases.is_free() & is_wanted,
                ),
                [{"key": key} for key in keys],
            )
            mine = select(ANALYSES.c.key).where(
                ANALYSES.c.key.in_(keys), ANALYSES.c.claim == granted["claim"]
            )
            return sorted(connection.execute(mine).scalars())

    def _page(
        self, wanted: "ColumnElement[bool]", last: str
    ) -> tuple[list[AnalysisSummary], str | None]:
        """Give summaries behind a key, and the key to go on from; None behind the last page."""
        asked = (
            select(*_SUMMARY)
            .where(wanted, ANALYSES.c.key > last, ANALYSES.c.state != WAITING)
            .order_by(ANALYSES.c.key)
            .limit(CHUNK)
        )
        with self._database.reading() as connection:
            rows = [_build_summary(row._asdict()) for row in connection.execute(asked)]
        return rows, rows[-1].key if len(rows) == CHUNK else None


def _build_summary(values: dict[str, Any]) -> AnalysisSummary:
    lists = {name: tuple(values[name]) for name in ("frameworks", "hosts")}
    return AnalysisSummary(**{**values, **lists})
