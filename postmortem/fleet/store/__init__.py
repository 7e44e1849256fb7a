"""The store: jobs, analyses and answers in SQLite or PostgreSQL, and the way into it.

In: a path or a URL; rows. Out: an opened `Store`; rows. Not here: what a store can do
(`store.opened_store`), what an analysis says, which jobs there are, which belong together.

What is missing is said before anything heavy is imported.
"""

import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from postmortem.core.errors import MissingExtra, install_hint

if TYPE_CHECKING:
    from postmortem.fleet.store.opened_store import Store


def open_store(named: str | Path) -> "Store":
    """Open a store, make it if it is not there, and bring its tables up to date.

    Args:
        named: the path of a SQLite file (or `sqlite:///FILE`), or `postgresql://…`.

    Raises:
        UsageError: the URL is of neither kind.
        InputError: it cannot be opened or written, or a newer program made it.
        MissingExtra: SQLAlchemy or Alembic is not installed, or psycopg for PostgreSQL.
    """
    if any(importlib.util.find_spec(name) is None for name in ("sqlalchemy", "alembic")):
        raise MissingExtra("a store needs SQLAlchemy and Alembic", "", install_hint("triage"))
    store: Store = importlib.import_module(
        "postmortem.fleet.store.opened_store"
    ).open_database_store(named)
    return store
