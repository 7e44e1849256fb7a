"""A database as the store uses it: its address, transactions, its own clock, leases on rows.

In: a path or a URL; a table with the columns `owner`, `claim` and `lease_until`. Out: connections,
inserts that know of conflicts, conditions for statements, texts without passwords. Not here:
tables, migrations, which rows are wanted, who an owner is: a text that no other process uses.

One transaction writes, short ones read. SQLAlchemy speaks both databases, pools connections and
guards what is put into statements. Leases are measured by the clock of the database. Held rows are
locked in the order of their keys, so that no two owners wait for each other.
"""

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, quote_plus
from uuid import uuid4

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Float,
    FunctionElement,
    Table,
    create_engine,
    event,
    make_url,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.elements import ColumnElement

from postmortem.core.errors import InputError, MissingExtra, UsageError, install_hint

_POSTGRESQL: Final = ("postgresql", "postgres", "postgresql+psycopg")
_SQLITE: Final = ("sqlite", "sqlite+pysqlite")
_SECRET: Final = ("password", "sslpassword", "passfile")
_HOW: Final = "name a file, sqlite:///FILE or postgresql://USER@HOST/DATABASE"


def parse_store_url(named: str | Path) -> URL:
    """Read what a user named: a path, or a URL of SQLite or PostgreSQL.

    Raises:
        UsageError: it is neither.
        InputError: the folder of the file is not there, or a folder is in its place.
    """
    text = str(named)
    if "://" not in text:
        return _build_sqlite_url(text)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise UsageError("the URL of the store cannot be read", "--store", _HOW) from None
    if url.drivername in _POSTGRESQL:
        return url.set(drivername="postgresql+psycopg")
    if url.drivername not in _SQLITE:
        raise UsageError(
            f"a store is a SQLite file or a PostgreSQL database, not {url.drivername}",
            format_store_url(url),
            _HOW,
        )
    return _build_sqlite_url(url.database or "")


def _build_sqlite_url(path: str) -> URL:
    if path in {"", ":memory:"} or path.startswith("file:"):
        raise UsageError("a store in SQLite is a file", path, _HOW)
    if Path(path).is_dir():
        raise InputError("a folder is no store", path, "name a file in it")
    if not Path(path).absolute().parent.is_dir():
        raise InputError("the folder of the store is not there", path, "make it, or check the path")
    return URL.create("sqlite", database=path)


def format_store_url(url: URL) -> str:
    """Name a database for people: a file as its path, a server without its password."""
    if url.drivername in _SQLITE:
        return url.database or ""
    return (
        url.set(drivername="postgresql")
        .difference_update_query(_SECRET)
        .render_as_string(hide_password=True)
    )


def remove_url_secrets(text: str, url: URL) -> str:
    """Take the secrets of a URL out of a message of the driver, in each spelling."""
    secrets = [url.password, *(url.query.get(name) for name in _SECRET)]
    for secret in (one for one in secrets if isinstance(one, str) and one):
        for spelling in (secret, quote(secret, safe=""), quote_plus(secret)):
            text = text.replace(spelling, "***")
    return text


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
