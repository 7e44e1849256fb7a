"""A database as the store uses it: one transaction to write, short ones to read, its own clock.

In: a URL. Out: connections, inserts that know of conflicts. Not here: tables, migrations.
SQLAlchemy speaks both databases, pools connections and guards what is put into statements.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, Float, FunctionElement, Table, create_engine, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles

from postmortem.core.errors import InputError, MissingExtra, install_hint
from postmortem.fleet.store.store_address import format_store_url, remove_url_secrets

CHUNK: Final = 500
"""Values of one statement, rows of one transaction, rows of one page."""
_PATIENCE: Final = 60
"""Seconds that a writer waits for another on SQLite."""
_USUAL: Final = {"connect_timeout": "10", "client_encoding": "utf8"}
"""For PostgreSQL, unless the URL says otherwise."""
_MEND: Final = {
    "sqlite": "check that it is a store, that it and its folder can be written, and that the disk"
    " is not full",
    "postgresql": "check the address, that the server runs, and that the user may create tables",
}


class Seconds(FunctionElement[float]):
    """Now, by the clock of the database: leases hold although the clocks of machines differ."""

    type = Float()
    inherit_cache = True


@compiles(Seconds, "sqlite")
def _compile_seconds_sqlite(*_: Any, **__: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(Seconds, "postgresql")
def _compile_seconds_postgresql(*_: Any, **__: Any) -> str:
    return "extract(epoch from clock_timestamp())::float8"


class Database:
    """An opened database; safe to share between threads, not to be carried into a forked process.

    Raises:
        InputError: from every use, when the database fails: a broken file, a full disk, a lost
            server.
        MissingExtra: the driver of PostgreSQL is not installed.
    """

    def __init__(self, url: URL) -> None:
        self._url = url
        self._engine = _create_engine(url)
        self._reader = self._engine.execution_options(is_reading=True)

    @property
    def name(self) -> str:
        """Name it for people, without a password."""
        return format_store_url(self._url)

    @property
    def is_server(self) -> bool:
        """Say whether others than we may have tables in it."""
        return self._engine.dialect.name == "postgresql"

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a transaction, kept whole or not at all; on SQLite no other writes meanwhile."""
        with self._translate_errors(), self._engine.begin() as connection:
            yield connection

    def enable_write_ahead_log(self) -> None:
        """Have SQLite keep a write-ahead log, which it remembers; harmless to say twice."""
        if self.is_server:
            return
        with (
            self._translate_errors(),
            closing(self._engine.raw_connection()) as connection,
            suppress(sqlite3.OperationalError),  # locked: another process says it right now
        ):
            connection.cursor().execute("PRAGMA journal_mode = WAL")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a transaction that only reads, and holds nobody up."""
        with self._translate_errors(), self._reader.connect() as connection:
            yield connection

    def insert(self, table: Table) -> "sqlite.Insert | postgresql.Insert":
        """Begin an insert that can be told what to do with a row that is there."""
        return postgresql.insert(table) if self.is_server else sqlite.insert(table)

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Turn what the driver raises into an error for users."""
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            said = remove_url_secrets(" ".join(str(cause).split()), self._url)
            raise InputError(
                f"the store cannot be used: {said}", self.name, _MEND[self._engine.dialect.name]
            ) from error


def _create_engine(url: URL) -> Engine:
    if url.drivername == "sqlite":
        engine = create_engine(
            url, hide_parameters=True, connect_args={"timeout": _PATIENCE, "isolation_level": None}
        )
        event.listen(engine, "connect", _prepare_sqlite_connection)
        event.listen(engine, "begin", _begin)
        return engine
    try:
        return create_engine(
            url.set(query={**_USUAL, **url.query}), hide_parameters=True, pool_pre_ping=True
        )
    except ImportError as error:
        raise MissingExtra(
            "a store in PostgreSQL needs psycopg",
            "",
            install_hint("triage", "postgres"),
        ) from error


def _prepare_sqlite_connection(connection: sqlite3.Connection, _: object) -> None:
    """Set a new connection of SQLite up: references hold."""
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Connection) -> None:
    """Take the lock at once where something is to be written: a reader cannot become a writer."""
    is_reading = connection.get_execution_options().get("is_reading", False)
    connection.exec_driver_sql("BEGIN" if is_reading else "BEGIN IMMEDIATE")


def iter_chunks(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Cut rows into pieces of one statement."""
    return (rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK))
