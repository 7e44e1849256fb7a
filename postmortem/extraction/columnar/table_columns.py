"""Read the rows of a printed table that touch each other and are of one shape as columns.

In: the rows of a table, of which some are read in their turn. Out: the same figures, many rows at
once. Not here: what is a row (`formats.grids`), series (`extraction.points`).

The reader of a row is a black box, as that of a line is in `formats.layouts`.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from postmortem.core.lines import NOWHERE
from postmortem.extraction.columnar.decimal_columns import parse_floats
from postmortem.extraction.columnar.number_variants import OpenLine
from postmortem.extraction.formats.grids import Grid
from postmortem.extraction.formats.layouts import VALUE, NumberRoles, find_roles, find_spelling
from postmortem.extraction.formats.printed_numbers import MOST, find_numbers
from postmortem.extraction.formats.records import Record
from postmortem.extraction.formats.templates import Span

if TYPE_CHECKING:
    import numpy as np

FIRST_TRY, NEXT_TRY = 16, 4
"""Rows read in their turn at which a shape is looked for, and how many times more the next time."""
_MOST: Final = 4
"""Shapes of one table."""
_MANY: Final = 128
FEWEST: Final = 16
"""Rows that are worth it."""


class RowShape(NamedTuple):
    """A row with its numbers left open."""

    run: re.Pattern[bytes]
    """Several of them."""
    row: re.Pattern[bytes]
    columns: tuple[tuple[str, int], ...]
    """Each value's name and group."""
    step: int | None


class RowRun(NamedTuple):
    """Rows that touch each other."""

    end: int
    """Where the line break behind the last one ends."""
    names: tuple[str, ...]
    begins: "np.ndarray[Any, Any]"
    """Offsets in the data."""
    steps: "np.ndarray[Any, Any]"
    values: "list[np.ndarray[Any, Any]]"

    def lines(self, first: int) -> "np.ndarray[Any, Any]":
        """Give the raw numbers of the rows, of which the first stands on this line."""
        import numpy as np  # noqa: PLC0415 -- only long tables pay for its import

        return np.arange(first, first + len(self.begins))


class TableColumns:
    """Reads the rows of one table."""

    def __init__(self, grid: Grid) -> None:
        """Know no shape."""
        self._grid = grid
        self._shapes: list[RowShape] = []
        self._count, self._tried = 0, FIRST_TRY

    def learn(self, text: str) -> None:
        """Learn from a row that was read in its turn."""
        self._count += 1
        if self._count < self._tried:
            return
        self._tried *= NEXT_TRY
        shape = _build_shape(self._grid, text) if text.isascii() else None
        if shape is not None:
            self._shapes = [shape, *self._shapes][:_MOST]

    def read(self, data: bytes, start: int, end: int) -> RowRun | None:
        """Read the rows of one shape that begin at an offset; None if they are few."""
        for index, shape in enumerate(self._shapes):
            run = shape.run.match(data, start, end)
            if run is not None:
                if index:
                    self._shapes.insert(0, self._shapes.pop(index))
                return self._read_columns(shape, data, start, run.end())
        return None

    def _read_columns(self, shape: RowShape, data: bytes, start: int, end: int) -> RowRun | None:
        import numpy as np  # noqa: PLC0415 -- only long tables pay for its import

        chunk = data[start:end]
        rows = shape.row.findall(chunk)
        groups = [[row] for row in rows] if shape.row.groups == 1 else rows
        own = [parse_floats(list(column)) for column in zip(*groups, strict=True)]
        begins = np.flatnonzero(np.frombuffer(b"\n" + chunk[:-1], dtype=np.uint8) == 10) + start
        if len(begins) != len(rows):
            return None
        steps = np.full(len(rows), math.nan) if shape.step is None else own[shape.step]
        values = [own[group] for _, group in shape.columns]
        names = tuple(name for name, _ in shape.columns)
        found = RowRun(end, names, begins, steps, values)
        return found if self._is_so(found, data) else None

    def _is_so(self, run: RowRun, data: bytes) -> bool:
        """Ask the reader about the first row, the last, and of many those with extreme figures."""
        rows = {0, len(run.begins) - 1}
        for column in run.values if len(run.begins) >= _MANY else ():
            rows |= {int(column.argmin()), int(column.argmax())}
        for row in rows:
            begin = int(run.begins[row])
            text = data[begin : data.find(b"\n", begin)].decode("utf-8", "replace")
            record = self._grid.record(text, NOWHERE)
            values = [
                (name, float(column[row]))
                for name, column in zip(run.names, run.values, strict=True)
            ]
            if record is None or repr((float(run.steps[row]), values)) != _show(record):
                self._shapes.clear()
                return False
        return True


def _show(record: Record) -> str:
    return repr((float(record.step), [(name, float(value)) for name, value in record.values]))


def _collect_values(record: Record | None) -> dict[str, str] | None:
    """Give all that a row says, figures under a name that begins with @."""
    if record is None:
        return None
    names = [name for name, _ in record.values]
    values = {VALUE + name: repr(float(value)) for name, value in record.values}
    return {"@step": repr(float(record.step)), "names": repr(names), **values}


def _build_shape(grid: Grid, text: str) -> RowShape | None:
    """Make the shape of a row; None if its numbers do not keep apart."""

    def read(other: str) -> Mapping[str, str] | None:
        return _collect_values(grid.record(other, NOWHERE))

    answer, numbers = read(text), list(find_numbers(text))
    if answer is None or len(numbers) > MOST:
        return None
    spelled = find_spelling(text, answer, find_roles(text, answer, numbers, read), read)
    if spelled is None:
        return None
    own = {
        role: group
        for group, number in enumerate(number for number in spelled[0] if number.roles)
        for role in number.roles or ()
    }
    pattern, bare = (
        OpenLine(text, 0, _open_spans(*spelled, group=group)).pattern() for group in (b"(", b"(?:")
    )
    columns = tuple(
        (name.removeprefix(VALUE), own[name]) for name in answer if name.startswith(VALUE)
    )
    return RowShape(
        re.compile(rb"(?:%b\r?\n){%d,}+" % (bare, FEWEST)),
        re.compile(pattern),
        columns,
        own.get("@step"),
    )


def _open_spans(
    numbers: Sequence[NumberRoles],
    is_plain: bool,  # noqa: FBT001
    *,
    group: bytes,
) -> tuple[Span, ...]:
    """Give what is left open of a row, what is read of it within such groups."""
    return tuple(
        Span(
            number.start,
            number.end,
            "",
            (group if roles else b"(?:") + number.pattern(is_plain=is_plain) + b")",
        )
        for number, roles in numbers
        if roles is not None
    )
