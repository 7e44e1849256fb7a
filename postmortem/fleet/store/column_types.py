"""How texts and values lie in columns, alike in every database.

In: Python values. Out: what SQLite and PostgreSQL both take, and back without loss. Not here: which
columns there are (`store.store_tables`).
"""

import json
from typing import Any, Final

from sqlalchemy import Dialect, Text, TypeDecorator

from postmortem.core.log_text import compile_lazily

_MARK: Final = "\ufdd0"
"""No character: it stands before the code of one that a database refuses."""
_REFUSED: Final = compile_lazily(f"[\0\ud800-\udfff{_MARK}]")
_ESCAPED: Final = compile_lazily(f"{_MARK}([0-9a-f]{{4}})")


class AnyText(TypeDecorator[str]):
    """A text as a log or a file system has it.

    PostgreSQL takes no NUL, and neither takes the halves of characters that stand for broken bytes
    in a path. Sorted by code points, as Python does it, whatever the locale of the server.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        """Sort by bytes in PostgreSQL too."""
        return dialect.type_descriptor(
            Text(collation="C") if dialect.name == "postgresql" else Text()
        )

    def process_bind_param(self, value: str | None, _: Dialect) -> str | None:
        """Escape what no database takes."""
        if value is None or not _REFUSED.search(value):
            return value
        return _REFUSED.sub(lambda found: f"{_MARK}{ord(found[0]):04x}", value)

    def process_result_value(self, value: str | None, _: Dialect) -> str | None:
        """Give back what was escaped."""
        if value is None or _MARK not in value:
            return value
        return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)


class PlainJson(TypeDecorator[Any]):
    """A plain value as one JSON text: the same value is the same text, so that it can be compared.

    Not the databases' own JSON types: PostgreSQL's refuses texts with NUL.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, _: Dialect) -> str:
        """Write ASCII alone, keys sorted."""
        return json.dumps(value, sort_keys=True, separators=(",", ":"))

    def process_result_value(self, value: str | None, _: Dialect) -> Any:
        """Read it back; tuples come back as lists."""
        return None if value is None else json.loads(value)
