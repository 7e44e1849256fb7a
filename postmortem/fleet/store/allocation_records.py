"""What the scheduler says of each attempt of a job.

In: rows. Out: rows. Not here: reading the scheduler's file, what its words mean.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from sqlalchemy import bindparam, select, tuple_

from postmortem.fleet.store.databases import CHUNK, Database
from postmortem.fleet.store.store_tables import ALLOCATIONS
from postmortem.fleet.store.stored_rows import AllocationRow


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
