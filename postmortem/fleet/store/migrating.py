"""Brings a database to the newest revision of the tables, whoever else is about to do so.

In: a database. Out: the same, with the tables. Not here: the steps (`migrations/versions/`).
Alembic runs them: it knows what both databases can change, and writes a first draft of a new one.
"""

from pathlib import Path
from threading import Lock
from typing import Any, Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from postmortem.core.errors import InputError
from postmortem.fleet.store.databases import Database
from postmortem.fleet.store.store_tables import METADATA, REVISION_TABLE

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
