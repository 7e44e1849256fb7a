"""A store is made, brought up to date, or refused with what is wrong and how to mend it."""

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from postmortem.core.errors import InputError, MissingExtra, PostmortemError, UsageError
from postmortem.fleet.store import open_store
from postmortem.fleet.store.opened_store import Store, get_alembic_settings
from postmortem.fleet.store.store_tables import METADATA, REVISION_TABLE

if TYPE_CHECKING:
    from tests.postgresql_server import PostgresqlServer


def test_the_steps_make_the_tables_that_the_code_knows(store: Store) -> None:
    """Alembic finds no difference: in tables, columns, types, defaults, indexes and references."""
    with store._database.reading() as connection:
        # Of an empty default Alembic finds on SQLite that it differs from itself.
        opts = {**get_alembic_settings(), "compare_server_default": store._database.is_server}
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, METADATA) == []
        tables = inspect(connection).get_table_names()
    assert {*METADATA.tables, REVISION_TABLE} == set(tables)


def test_a_store_that_is_there_is_opened_as_it_is(url: str) -> None:
    """What was kept is still there."""
    with open_store(url) as store:
        triage = store.triages.begin({"a": "b"}, 1.0)
    with open_store(url) as store, open_store(url) as beside:
        assert store.triages.get_row(triage) == beside.triages.get_row(triage) is not None


def test_a_store_of_a_newer_program_is_refused(url: str) -> None:
    """And stays as it is."""
    with open_store(url) as store, store._database.writing() as connection:
        connection.execute(text("UPDATE postmortem_revision SET version_num = '9999'"))
    for _ in range(2):
        with pytest.raises(InputError, match=r"newer version.*9999.*upgrade postmortem"):
            open_store(url)


@pytest.mark.postgres
def test_tables_of_others_stay_alone(postgresql: "PostgresqlServer") -> None:
    """A database on a server may have a use already, with migrations of its own."""
    url = postgresql.new_database()
    name = url.split("@/")[1].split("?")[0]
    postgresql.execute(
        "CREATE TABLE jobs (a int); CREATE TABLE alembic_version (version_num text)", name
    )
    with open_store(url) as store:
        store.triages.begin({}, 1.0)


@pytest.mark.postgres
def test_a_server_without_an_encoding_keeps_chinese(postgresql: "PostgresqlServer") -> None:
    """SQL_ASCII is what a server has that was made without a locale."""
    url = postgresql.new_database("ENCODING 'SQL_ASCII' TEMPLATE template0")
    with open_store(url.replace("postgresql://", "postgres://")) as store:
        triage = store.triages.begin({"名": "值"}, 1.0)
        row = store.triages.get_row(triage)
        store.jobs.note_refused(triage, "作业", "unreadable", "", "读不了")
    assert row is not None
    assert row.options == {"名": "值"}


def test_a_file_can_be_named_by_a_url(tmp_path: Path) -> None:
    """Both ways to name it mean the same file; its name for people is the path."""
    path = tmp_path / "50% of 名.sqlite"
    with open_store(f"sqlite:///{path}") as store:
        triage = store.triages.begin({}, 1.0)
        assert store.name == str(path)
    with open_store(path) as store:
        assert store.triages.get_row(triage) is not None


def foreign(path: Path) -> None:
    """The database of another program."""
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE runs (a)")
    connection.close()


def halved(path: Path) -> None:
    """A store of which a part was lost."""
    with open_store(path) as store, store._database.writing():
        pass
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(
            lambda path: path.write_text("no database " * 99), "not a database", id="text"
        ),
        pytest.param(
            lambda path: path.write_bytes(b"SQLite format 3\0" * 99), "store", id="broken"
        ),
        pytest.param(halved, "malformed", id="cut"),
        pytest.param(foreign, "another program", id="foreign"),
        pytest.param(lambda path: path.mkdir(), "a folder is no store", id="folder"),
    ],
)
def test_what_is_no_store_is_refused(
    make: Callable[[Path], object], said: str, tmp_path: Path
) -> None:
    """And is not written to."""
    path = tmp_path / "store.sqlite"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(InputError, match=said) as raised:
        open_store(path)
    assert str(path) in str(raised.value)
    assert raised.value.mend
    assert before is None or path.read_bytes() == before


@pytest.mark.parametrize(
    ("url", "kind", "said"),
    [
        pytest.param("mysql://me:secret@host/db", UsageError, "not mysql", id="other database"),
        pytest.param(
            "postgresql+psycopg2://me:secret@host/db", UsageError, "psycopg2", id="other driver"
        ),
        pytest.param("://secret", UsageError, "cannot be read", id="no scheme"),
        pytest.param(
            "postgresql://me:secret@host:port/db", UsageError, "cannot be read", id="no port"
        ),
        pytest.param("sqlite://", UsageError, "is a file", id="in memory"),
        pytest.param("sqlite:///:memory:", UsageError, "is a file", id="in memory by name"),
        pytest.param("", UsageError, "is a file", id="nothing"),
        pytest.param(
            "/nowhere/at/all/store.sqlite", InputError, "folder of the store", id="no folder"
        ),
        pytest.param("/proc/store.sqlite", InputError, "unable to open", id="unwritable"),
        pytest.param(
            "postgresql://me:secret@127.0.0.1:1/db", InputError, "refused", id="no server"
        ),
        pytest.param(
            "postgresql://me:se%26cret@127.0.0.1:1/db?password=secret",
            InputError,
            "refused",
            id="in the query",
        ),
        pytest.param(
            "postgresql://me:secret@/db?host=/nowhere&no=secret",
            InputError,
            "store cannot",
            id="unknown option",
        ),
    ],
)
def test_what_cannot_be_opened_is_said_without_its_password(
    url: str, kind: type[PostmortemError], said: str
) -> None:
    """With what is wrong and how to mend it; no part of the URL that is secret."""
    with pytest.raises(kind, match=said) as raised:
        open_store(url)
    assert raised.value.mend
    assert "secret" not in str(raised.value).replace("no=secret", "")
    assert "se%26cret" not in str(raised.value)


@pytest.mark.postgres
def test_a_refused_password_is_not_repeated(postgresql: "PostgresqlServer") -> None:
    """Nor when the server answers."""
    url = postgresql.url("absent").replace("postgres@", "postgres:tell-nobody@")
    with pytest.raises(InputError, match='"absent" does not exist') as raised:
        open_store(url)
    assert "tell-nobody" not in str(raised.value)
    assert "postgresql://postgres:***@/absent" in str(raised.value)


@pytest.mark.postgres
def test_a_user_without_rights_is_told(postgresql: "PostgresqlServer") -> None:
    """The tables cannot be made."""
    url = postgresql.new_database()
    name = url.split("@/")[1].split("?")[0]
    postgresql.execute(f"CREATE ROLE guest_{name} LOGIN")
    with pytest.raises(InputError, match=r"permission denied.*create tables"):
        open_store(url.replace("postgres@", f"guest_{name}@"))


def test_a_lost_table_is_told_as_the_stores_fault(store: Store) -> None:
    """Not as a crash of the program."""
    with store._database.writing() as connection:
        connection.execute(text("DROP TABLE postmortem_allocations"))
    with pytest.raises(InputError, match=r"store cannot be used.*allocations"):
        list(store.allocations.iter_all())


@pytest.mark.parametrize("missing", ["sqlalchemy", "alembic"])
def test_a_missing_extra_is_named(
    missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the command that installs it; nothing is made."""
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[triage\]'"):
        open_store(tmp_path / "store.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL has an extra of its own."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"psycopg.*'\.\[.*postgres\]"):
        open_store("postgresql://127.0.0.1:1/db")


def test_a_part_of_a_transaction_is_not_kept(store: Store) -> None:
    """What fails in the middle leaves nothing."""
    insertion = text("INSERT INTO postmortem_allocations VALUES ('1', 1, '{}')")

    def insert_twice() -> None:
        with store._database.writing() as connection:
            connection.execute(insertion)
            connection.execute(insertion)

    with pytest.raises(InputError):
        insert_twice()
    assert list(store.allocations.iter_all()) == []


def test_a_step_that_breaks_off_leaves_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that dies while it makes the tables; the next one makes them all."""

    def break_off(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("alembic.op.create_index", break_off)
        with pytest.raises(KeyboardInterrupt):
            open_store(url)
    with open_store(url) as store:
        assert store.triages.begin({}, 1.0) == 1
