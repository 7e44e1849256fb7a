"""The store: all that is kept between triages, in one database.

In: rows. Out: rows. Not here: SQL (each kind of row has its module beside this).
"""

from pathlib import Path
from types import TracebackType

from postmortem.fleet.store.allocation_records import AllocationRecords
from postmortem.fleet.store.analysis_records import AnalysisRecords
from postmortem.fleet.store.answer_records import AnswerRecords
from postmortem.fleet.store.databases import Database
from postmortem.fleet.store.delivery_records import DeliveryRecords
from postmortem.fleet.store.group_records import GroupRecords
from postmortem.fleet.store.job_listing import JobListing
from postmortem.fleet.store.job_records import JobRecords
from postmortem.fleet.store.migrating import update_tables
from postmortem.fleet.store.store_address import parse_store_url
from postmortem.fleet.store.triage_records import TriageRecords


class Store:
    """An opened store. Threads may share it; another process opens its own.

    Every call is one or more transactions, each kept whole or not at all; none is left open between
    calls, nor between the rows of an iterator.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.triages = TriageRecords(database)
        self.jobs = JobRecords(database)
        self.listing = JobListing(database)
        self.analyses = AnalysisRecords(database)
        self.groups = GroupRecords(database)
        self.allocations = AllocationRecords(database)
        self.deliveries = DeliveryRecords(database)
        self.answers = AnswerRecords(database)

    @property
    def name(self) -> str:
        """Name it for people, without a password."""
        return self._database.name

    def close(self) -> None:
        """Close it; leases that are held stay until they run out."""
        self._database.close()

    def __enter__(self) -> "Store":  # noqa: PYI034 -- Self is not in Python 3.10
        """Give it, opened as it is."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()


def open_database_store(named: str | Path) -> Store:
    """Open what `entrance.open_store` names, when all that it needs is installed."""
    database = Database(parse_store_url(named))
    try:
        update_tables(database)
    except BaseException:
        database.close()
        raise
    return Store(database)
