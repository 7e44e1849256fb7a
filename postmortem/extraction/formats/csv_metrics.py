"""Tables of metrics in CSV files.

Lightning's `metrics.csv`, YOLO's `results.csv`, the logs of Keras and timm.

In: the lines of the file. Out: a record for each row, with its raw line. A row ends with its line,
whatever quotes are open. Not here: tables in notebooks (`formats.table`).
"""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.message import Message, say
from postmortem.extraction.formats.metric_names import (
    STEPS,
    TIMES,
    find_step_column,
    normalise_metric_name,
)
from postmortem.extraction.formats.records import Record
from postmortem.extraction.formats.spelling import parse_value

PRODUCER: Final = "pytorch"
_COLUMN: Final = compile_lazily(r"[\w ./()%:@-]{0,80}\s*$")
_FIGURES: Final = compile_lazily(r"[\s\d.,eE+naif-]+$", re.IGNORECASE)
_WORD: Final = compile_lazily(r"[^\W\d_]{2}")
_PLACE: Final = compile_lazily(rf"(?:{STEPS.pattern}|(?:[\w ]{{1,20}}/)?(?:epochs?|episodes?))")
"""A column that says where in the run a row stands."""
_FEWEST_COLUMNS: Final = 3
"""Of a table that names no loss."""
_MOST_COLUMNS: Final = 400
_WIDEST: Final = 500_000
"""Characters of a heading."""


def is_metrics_table(head: str) -> bool:
    """Say whether a file that begins like this is a table of metrics.

    A heading that names a place in the run and something else, then a row as wide, and rows alone:
    a program that prints such rows prints other lines too, and its log is a log.
    """
    lines = head.split("\n")
    if len(lines) < 2 or len(lines[0]) > _WIDEST or "," not in lines[0]:
        return False
    columns = [column.strip().lower() for column in lines[0].split(",")]
    if not all(_COLUMN.match(column) for column in columns[:_MOST_COLUMNS]):
        return False
    return (
        _has_place_and_metric(columns)
        and _is_row(lines[1], len(columns))
        and not any(_is_prose_line(line, len(columns)) for line in lines[2:-1])
    )


def _has_place_and_metric(columns: Sequence[str]) -> bool:
    """Say whether columns tell where a row stands, and something else."""
    has_metric = any("loss" in column for column in columns) or len(columns) >= _FEWEST_COLUMNS
    return has_metric and any(_PLACE.fullmatch(column) for column in columns)


def _is_row(line: str, columns: int) -> bool:
    """Say whether a line is a row of so many figures."""
    figures = _FIGURES.match(line)
    return line.count(",") == columns - 1 and figures is not None


def _is_prose_line(line: str, columns: int) -> bool:
    """Say whether a line is prose: words, and fewer commas than a row has."""
    return line.count(",") < columns - 1 and _WORD.search(line) is not None


def describe_excess_columns(head: str) -> Message | None:
    """Say how many columns of a table are not read; None if all are."""
    count = head.split("\n", 1)[0].count(",") + 1
    if count <= _MOST_COLUMNS:
        return None
    return say(
        "of {count:,} columns the first {most} were read",
        "共 {count:,} 列，只读取了前 {most} 列",
        count=count,
        most=_MOST_COLUMNS,
    )


def iter_records(lines: Iterable[str]) -> Iterator[tuple[Record, int]]:
    """Yield every row with a figure in it; a column that is empty in a row says nothing there."""
    rows = map(_split_cells, lines)
    names = list_metric_names([column.strip() for column in next(rows, [])[:_MOST_COLUMNS]])
    for line, row in enumerate(rows, start=2):
        values = _parse_values(names, row)
        step = values.pop("step", math.nan)
        if any(name != "epoch" for name in values):
            yield Record(step, list(values.items()), NOWHERE), line


def list_metric_names(columns: list[str]) -> list[str]:
    """Name the columns; one that is no metric has no name."""
    heads = [column.lower() for column in columns]
    step_column = find_step_column(heads)
    return [
        "step"
        if index == step_column
        else ""
        if column.lower() in TIMES
        else normalise_metric_name(column)
        for index, column in enumerate(columns)
    ]


def _parse_values(names: list[str], row: list[str]) -> dict[str, float]:
    """Give the figures of a row; of several columns for the training loss the first."""
    values = dict[str, float]()
    for name, cell in zip(names, row, strict=False):
        value = parse_value(cell.strip()) if name and name not in values and cell.strip() else None
        if value is not None:
            values[name] = value
    return values


def _split_cells(line: str) -> list[str]:
    line = line.replace("\0", "").replace("\r", "")
    if '"' not in line:
        return line.split(",")
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a cell beyond the reader's limit
        return []
