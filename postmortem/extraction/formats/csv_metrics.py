"""Tables of metrics in CSV files.

Lightning's `metrics.csv`, YOLO's `results.csv`, the logs of Keras and timm.

In: the lines of the file. Out: a record for each row, with its raw line. A row ends with its line,
whatever quotes are open. Not here: tables in notebooks (`formats.tables`).
"""

import csv
import itertools
import math
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core.findings import NOWHERE
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, say
from postmortem.core.names import LOSS
from postmortem.extraction.formats.figures import parse_value
from postmortem.extraction.formats.record_parts import (
    STEP_COLUMN,
    TIME_COLUMNS,
    TOTAL_LOSS,
    find_step_column,
    normalise_metric_name,
)
from postmortem.extraction.formats.records import Record, RecordRows

PRODUCER: Final = "pytorch"
_SEPARATORS: Final = ",;\t"
_COLUMN: Final = compile_lazily(r"[\w ./()%:@-]{0,80}\s*$")
_AT_ONCE: Final = 2048
"""Rows that are read together."""
_ENDS_WITH_TAB: Final = operator.methodcaller("endswith", "\t")
_FIGURES: Final = compile_lazily(r"[\s\d.,eE+naif-]+$", re.IGNORECASE)
_WORD: Final = compile_lazily(r"[^\W\d_]{2}")
_PLACE: Final = compile_lazily(
    rf"(?:{STEP_COLUMN.pattern}|(?:[\w ]{{1,20}}/)?(?:epochs?|episodes?))"
)
"""A column that says where in the run a row stands."""
_GAIN: Final = compile_lazily(r"(?:^|[\W_])(?:rewards?|returns?|acc(?:uracy)?|scores?)(?:$|[\W_])")
"""A column that tells beside a place in the run how well it goes."""
_FEWEST_COLUMNS: Final = 3
"""Of a table that names neither a loss nor a gain."""
_FEWEST_ROWS: Final = 3
"""Of a table without a place."""
_FIRST_ROWS: Final = 10
"""Rows at which one looks."""
_MOST_COLUMNS: Final = 400
_WIDEST: Final = 500_000
"""Characters of a heading."""


def is_metrics_table(head: str) -> bool:
    """Say whether a file that begins like this is a table of metrics, whatever parts its cells.

    A heading that names a loss, or a place in the run and a gain or more, then a row as wide, and
    rows alone: a program that prints such rows prints other lines too, and its log is a log.
    """
    lines = head.split("\n")
    if len(lines) < 2 or len(lines[0]) > _WIDEST or (sign := _find_separator(lines[0])) is None:
        return False
    columns = [column.strip().lower() for column in _split_cells(lines[0], sign)]
    if not all(_COLUMN.match(column) for column in columns[:_MOST_COLUMNS]):
        return False
    rows = [_split_cells(line, sign) for line in lines[1:_FIRST_ROWS]]
    return _are_rows_below(columns, rows) and not any(
        line.count(sign) < len(columns) - 1 and _WORD.search(line) is not None
        for line in lines[2:-1]
    )


def _are_rows_below(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Say whether columns name metrics, and rows of figures stand below them."""
    is_shown_by_one = _has_place(columns) and _is_wide(columns)
    return (
        _names_metrics(columns)
        and _is_row(columns, rows[0])
        and (is_shown_by_one or _are_all_rows(columns, rows[:-1]))
    )


def _find_separator(heading: str) -> str | None:
    """Find what stands between the cells of a table; None if nothing does."""
    sign = max(_SEPARATORS, key=heading.count)
    return sign if sign in heading else None


def _has_place(columns: Sequence[str]) -> bool:
    """Say whether one of the columns tells where in the run a row stands."""
    return not columns[0] or any(_PLACE.fullmatch(column) for column in columns)


def _names_metrics(columns: Sequence[str]) -> bool:
    """Say whether columns name a loss, or a place in the run and a gain or enough others."""
    if _names_loss(columns):
        return True
    return _has_place(columns) and (_is_wide(columns) or any(map(_GAIN.search, columns)))


def _is_wide(columns: Sequence[str]) -> bool:
    """Say whether columns name a loss, or are enough beside a place: one row then shows a table."""
    return _names_loss(columns) or (len(columns) >= _FEWEST_COLUMNS and bool(columns[0]))


def _names_loss(columns: Sequence[str]) -> bool:
    return any("loss" in column for column in columns)


def _is_row(columns: Sequence[str], row: Sequence[str]) -> bool:
    """Say whether cells are a row below these columns: figures, but for a few times and words."""
    cells = [(column, cell.strip()) for column, cell in zip(columns, row, strict=False)]
    figures = [column for column, cell in cells if not cell or _parse_figure(cell) is not None]
    return (
        len(row) == len(columns)
        and 2 * len(figures) >= len(cells)
        and all(column in figures for column, _ in cells if "loss" in column)
        and any(cell for _, cell in cells)
    )


def _are_all_rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Say whether there are several rows, and nothing else."""
    return len(rows) >= _FEWEST_ROWS and all(_is_row(columns, row) for row in rows)


def _parse_figure(cell: str) -> float | None:
    """Read a cell that holds a figure and nothing else; None of any other."""
    return parse_value(cell) if _FIGURES.match(cell) else None


def describe_excess_columns(head: str) -> Message | None:
    """Say how many columns of a table are not read; None if all are."""
    heading = head.split("\n", 1)[0]
    count = len(_split_cells(heading, _find_separator(heading) or ","))
    if count <= _MOST_COLUMNS:
        return None
    return say(
        "of {count:,} columns the first {most} were read",
        count=count,
        most=_MOST_COLUMNS,
    )


def iter_records(lines: Iterable[str]) -> Iterator[tuple[Record, int] | RecordRows]:
    """Yield every row with a figure in it; a column that is empty in a row says nothing there.

    Rows in which each column that is a metric has a figure come many at once.
    """
    lines = iter(lines)
    heading = next(lines, "")
    sign = _find_separator(heading) or ","
    columns = _split_cells(heading, sign)
    names = list_metric_names([column.strip() for column in columns[:_MOST_COLUMNS]])
    line = 2
    while texts := list(itertools.islice(lines, _AT_ONCE)):
        rows = _read_rows(names, texts, sign, len(columns))
        if rows is not None:
            yield RecordRows(*rows, line)
        else:
            yield from _iter_single_records(names, texts, sign, line)
        line += len(texts)


def _iter_single_records(
    names: list[str], texts: Sequence[str], sign: str, first: int
) -> Iterator[tuple[Record, int]]:
    """Yield the rows one by one, of which the first stands on a line."""
    for line, text in enumerate(texts, start=first):
        values = _parse_values(names, _split_cells(text, sign))
        step = values.pop("step", math.nan)
        if any(name != "epoch" for name in values):
            yield Record(step, list(values.items()), NOWHERE), line


def _read_rows(
    names: Sequence[str], texts: Sequence[str], sign: str, width: int
) -> tuple[list[str], list[float], list[list[float]]] | None:
    """Read rows of cells that all hold figures; gives the names, the steps and the columns.

    None if any is to be read by itself.
    """
    whole = sign.join(texts).replace("\r", "")
    if any(other in whole for other in '"\0\t' if other != sign) or (
        {text.count(sign) for text in texts} != {width - 1} or any(map(_ENDS_WITH_TAB, texts))
    ):
        return None
    cells, columns = whole.split(sign), dict[str, list[float]]()
    for index, name in enumerate(names):
        column = cells[index::width]
        if not name or name in columns:
            continue
        if not _FIGURES.match(" ".join(column)):
            return None
        try:
            columns[name] = list(map(float, column))
        except ValueError:
            return None
    steps = columns.pop("step", [math.nan] * len(texts))
    return (list(columns), steps, list(columns.values())) if set(columns) - {"epoch"} else None


def list_metric_names(columns: list[str]) -> list[str]:
    """Name the columns; one that is no metric has no name."""
    heads = [column.lower() for column in columns]
    step_column = find_step_column(heads)
    if step_column is None and heads[:1] == [""]:  # the numbered rows of a data frame
        step_column = 0
    names = [
        "step"
        if index == step_column
        else ""
        if column.lower() in TIME_COLUMNS
        else normalise_metric_name(column)
        for index, column in enumerate(columns)
    ]
    wholes = [index for index, name in enumerate(names) if TOTAL_LOSS.fullmatch(name)]
    if LOSS not in names and len(wholes) == 1:
        names[wholes[0]] = LOSS
    return names


def _parse_values(names: list[str], row: list[str]) -> dict[str, float]:
    """Give the figures of a row; of several columns for the training loss the first."""
    values = dict[str, float]()
    for name, cell in zip(names, row, strict=False):
        value = _parse_figure(cell.strip()) if name and name not in values else None
        if value is not None:
            values[name] = value
    return values


def _split_cells(line: str, sign: str) -> list[str]:
    line = line.replace("\0", "").replace("\r", "").rstrip("\t")
    if '"' not in line:
        return line.split(sign)
    try:
        return next(csv.reader([line], delimiter=sign), [])
    except csv.Error:  # a cell beyond the reader's limit
        return []
