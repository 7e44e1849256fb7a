"""The store: all that is kept between triages, in one database of the newest revision.

In: rows. Out: rows. Not here: SQL (each kind of row has its module beside this), the steps from one
revision to the next (`migrations/versions/`).

A database is brought to the newest revision whoever else is about to do so. Alembic runs the steps:
it knows what both databases can change, and writes a first draft of a new one.
"""

from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from postmortem.core.errors import InputError
from postmortem.fleet.store.databases import Database, parse_store_url
from postmortem.fleet.store.delivery_records import AnswerRecords, DeliveryRecords
from postmortem.fleet.store.job_records import JobListing, JobRecords
from postmortem.fleet.store.store_tables import METADATA, REVISION_TABLE
from postmortem.fleet.store.triage_records import (
    AllocationRecords,
    AnalysisRecords,
    GroupRecords,
    TriageRecords,
)

_FOLDER: Final = Path(__file__).parent / "migrations"
_ONE_AT_A_TIME: Final = Lock()
"""Alembic keeps what it works on in its module."""
_LOCK_NUMBER: Final = 7_305_811_940
"""Of the lock that migrations take on a server; any number that nobody else takes."""


def update_tables(database: Database) -> None:
    """Make the tables, or bring those that are there up to date.

    Raises:
        InputError: a newer program made them, or the file is the database of another program.
    """
    config = _build_alembic_config()
    scripts = ScriptDirectory.from_config(config)
    newest = scripts.get_current_head()
    known = {script.revision for script in scripts.walk_revisions()}
    with database.reading() as connection:
        found = _read_revision(connection, database, known)
    database.enable_write_ahead_log()
    if found == newest:
        return
    with _ONE_AT_A_TIME, database.writing() as connection:
        if database.is_server:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK_NUMBER})"))
        if _read_revision(connection, database, known) != newest:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def get_alembic_settings() -> dict[str, Any]:
    """Give what Alembic must know of our tables, for `migrations/env.py` and for comparisons."""
    return {
        "target_metadata": METADATA,
        "version_table": REVISION_TABLE,
        "transactional_ddl": True,
        "render_as_batch": True,
        "include_name": _is_ours,
    }


def _is_ours(name: str | None, kind: str, _: object) -> bool:
    return kind != "table" or name in METADATA.tables


def _build_alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _read_revision(connection: Connection, database: Database, known: set[str]) -> str | None:
    """Tell the revision that a database has; None if it has none of our tables.

    Raises:
        InputError: it is one that this program does not know, or all that is there is foreign.
    """
    context = MigrationContext.configure(connection, opts={"version_table": REVISION_TABLE})
    found = context.get_current_revision()
    if found is not None and found not in known:
        raise InputError(
            f"a newer version of the program made this store (revision {found})",
            database.name,
            "upgrade postmortem, or name another store",
        )
    if found is None and not database.is_server and inspect(connection).get_table_names():
        raise InputError(
            "this file is the database of another program",
            database.name,
            "name another file; it is made if it is not there",
        )
    return found


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
