"""Files of a triage for other programs: JSON Lines and CSV.

In: rows as plain values. Out: text. Not here: the rows (`fleet.overview`), the page
(`report.page`), writing files.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""With which a spreadsheet takes a cell for a formula."""


def format_json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write an object a line."""
    return "".join(
        json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
        for row in rows
    )


def format_csv(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> str:
    """Write the rows as CSV; no cell of text can become a formula."""
    target = io.StringIO()
    names = list(columns)
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_format_cell(row.get(name)) for name in names])
    return target.getvalue()


def _format_cell(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        value = " ".join(map(str, value))
    if isinstance(value, Mapping):
        value = value.get("en", "")
    if isinstance(value, str):
        plain = "".join(letter if letter.isprintable() else " " for letter in value)
        return f"'{plain}" if value.startswith(_FORMULA) else plain
    return "" if value is None else value
