"""Which database is meant, and how it is named without its password.

In: a path or a URL. Out: the URL for SQLAlchemy, and texts that may be printed. Not here:
opening it.
"""

from pathlib import Path
from typing import Final
from urllib.parse import quote, quote_plus

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from postmortem.core.errors import InputError, UsageError

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
