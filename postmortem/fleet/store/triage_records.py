"""The triages of a store with their analyses, groups of failures and allocations of the scheduler.

In: options, times, keys, owners, rows. Out: numbers, granted keys, summaries, blobs, rows. Not
here: what is in a blob, what a lease is (`store.databases`), which jobs belong together, reading
the scheduler's file. Analyses are always locked in the order of their keys, as leases are.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from itertools import islice
from typing import Any, Final

from sqlalchemy import (
    Select,
    bindparam,
    delete,
    exists,
    insert,
    literal,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.sql.elements import ColumnElement

from postmortem.fleet.store.databases import CHUNK, FREE, Database, Leases, grant, iter_chunks
from postmortem.fleet.store.store_tables import (
    ALLOCATIONS,
    ANALYSES,
    GROUP_MEMBERS,
    GROUPS,
    JUDGINGS,
    TRIAGES,
)
from postmortem.fleet.store.stored_rows import (
    WAITING,
    AllocationRow,
    AnalysisRow,
    AnalysisSummary,
    GroupRow,
    TriageRow,
)


class TriageRecords:
    """The triages of a store, numbered as they began."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, options: Mapping[str, str], at: float) -> int:
        """Begin one, and give its number."""
        with self._database.writing() as connection:
            done = connection.execute(
                insert(TRIAGES).values(options=dict(options), began=at, finished=None)
            )
            return int(next(iter(done.inserted_primary_key or ())))

    def finish(self, triage: int, at: float) -> None:
        """Take note that all of one is in the store."""
        with self._database.writing() as connection:
            connection.execute(
                update(TRIAGES).where(TRIAGES.c.number == triage).values(finished=at)
            )

    def get_row(self, triage: int) -> TriageRow | None:
        """Give one; None if there is none of that number."""
        with self._database.reading() as connection:
            found = connection.execute(
                select(TRIAGES).where(TRIAGES.c.number == triage)
            ).one_or_none()
        return None if found is None else TriageRow(*found)

    def find_earlier(self, triage: int, same: Collection[str] = ()) -> int | None:
        """Give the last one begun before it that has finished; None if there is none.

        Args:
            triage: the one to look back from.
            same: names of options that both must have alike.
        """
        with self._database.reading() as connection:
            mine = connection.execute(
                select(TRIAGES.c.options).where(TRIAGES.c.number == triage)
            ).scalar_one_or_none()
            rows = connection.execute(
                select(TRIAGES.c.number, TRIAGES.c.options)
                .where(TRIAGES.c.number < triage, TRIAGES.c.finished.is_not(None))
                .order_by(TRIAGES.c.number.desc())
            )
            for number, options in rows:
                if all(options.get(name) == (mine or {}).get(name) for name in same):
                    return int(number)
        return None


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


_OF_GROUP: Final = ("identity", "version", "cause", "template", "title_en", "title_zh")
_DESCRIBED: Final = tuple(GROUPS.c[name] for name in _OF_GROUP)


class GroupRecords:
    """The groups, each under its identity and the version of the way of grouping."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, triage: int, groups: Iterable[GroupRow]) -> None:
        """Keep the groups of a triage, each with the number of its jobs; earlier ones are replaced.

        A group that no triage has met before is kept with this one as its first.
        """
        rows = sorted(groups, key=lambda group: (group.identity, group.version))
        described = [{name: getattr(row, name) for name in _OF_GROUP} for row in rows]
        counted = [{"identity": r.identity, "version": r.version, "jobs": r.jobs} for r in rows]
        group = self._database.insert(GROUPS)
        with self._database.writing() as connection:
            connection.execute(delete(GROUP_MEMBERS).where(GROUP_MEMBERS.c.triage == triage))
            if not rows:
                return
            connection.execute(
                group.values(first_triage=triage).on_conflict_do_update(
                    index_elements=[GROUPS.c.identity, GROUPS.c.version],
                    set_={name: group.excluded[name] for name in _OF_GROUP[2:]},
                ),
                described,
            )
            connection.execute(self._database.insert(GROUP_MEMBERS).values(triage=triage), counted)

    def list_triage_groups(self, triage: int) -> list[GroupRow]:
        """Give the groups of a triage, each with the number of its jobs in it."""
        members = GROUP_MEMBERS
        return self._rows(
            select(*_DESCRIBED, members.c.jobs, GROUPS.c.first_triage)
            .join_from(members, GROUPS)
            .where(members.c.triage == triage)
        )

    def list_known(self) -> list[GroupRow]:
        """Give the groups of all triages, without numbers of jobs."""
        return self._rows(select(*_DESCRIBED, literal(0), GROUPS.c.first_triage))

    def _rows(self, wanted: "Select[Any]") -> list[GroupRow]:
        with self._database.reading() as connection:
            rows = connection.execute(wanted.order_by(GROUPS.c.identity, GROUPS.c.version))
            return [GroupRow(*row) for row in rows]


class AllocationRecords:
    """The allocations, each under the scheduler's id and the attempt."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, allocations: Iterable[AllocationRow]) -> None:
        """Keep them; what is said now replaces what was said of the same attempt before."""
        rows = iter(allocations)
        statement = self._database.insert(ALLOCATIONS)
        while batch := list(islice(rows, CHUNK)):
            values = [
                {"scheduler_id": row.scheduler_id, "attempt": row.attempt, "facts": dict(row.facts)}
                for row in sorted(batch, key=lambda row: (row.scheduler_id, row.attempt))
            ]
            with self._database.writing() as connection:
                connection.execute(
                    statement.on_conflict_do_update(
                        index_elements=[ALLOCATIONS.c.scheduler_id, ALLOCATIONS.c.attempt],
                        set_={"facts": statement.excluded.facts},
                    ),
                    values,
                )

    def iter_all(self) -> Iterator[AllocationRow]:
        """Yield all of them by scheduler id and attempt, page by page."""
        key = tuple_(ALLOCATIONS.c.scheduler_id, ALLOCATIONS.c.attempt)
        wanted = (
            select(ALLOCATIONS)
            .where(
                key
                > tuple_(
                    bindparam("job", type_=ALLOCATIONS.c.scheduler_id.type), bindparam("attempt")
                )
            )
            .order_by(ALLOCATIONS.c.scheduler_id, ALLOCATIONS.c.attempt)
            .limit(CHUNK)
        )
        job, attempt = "", -1
        while True:
            with self._database.reading() as connection:
                page = connection.execute(wanted, {"job": job, "attempt": attempt}).all()
            yield from (AllocationRow(*row) for row in page)
            if len(page) < CHUNK:
                return
            job, attempt = page[-1].scheduler_id, page[-1].attempt
