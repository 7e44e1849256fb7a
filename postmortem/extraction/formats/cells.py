"""Figures of a format that a heading above them names: the columns of YOLO's bars.

In: the cells of a line, the columns of the last heading. Out: values by name. Not here: tables that
are nothing but a heading and rows (`formats.grids`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from postmortem.extraction.formats.spelling import parse_value


def name_cells(
    raw: Mapping[str, Any], text: str, columns: Sequence[str]
) -> list[tuple[str, float]]:
    """Name the cells of a line by the columns behind one that the format names, or by default.

    Args:
        raw: what the format says of its cells: `behind` which column, and their names by `default`.
        text: the cells.
        columns: of the last heading; empty if there was none.
    """
    cells, lowered = text.split(), [column.lower() for column in columns]
    names: Sequence[str] = raw.get("default", ())
    if raw.get("behind") in lowered:
        start = lowered.index(raw["behind"]) + 1
        names = columns[start : start + len(cells)]
    values = zip(names, map(parse_value, cells), strict=False)
    return [(name, value) for name, value in values if name and value is not None]
