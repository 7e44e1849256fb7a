"""Which triages there were.

In: options, times. Out: numbers and rows. Not here: what a triage found.
"""

from collections.abc import Collection, Mapping

from sqlalchemy import insert, select, update

from postmortem.fleet.store.databases import Database
from postmortem.fleet.store.store_tables import TRIAGES
from postmortem.fleet.store.stored_rows import TriageRow


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
