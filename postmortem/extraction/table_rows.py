"""The rows of tables that a source prints as text, one by one or many at once as columns.

In: the heading of a table, or the beginning of a source without one; the blocks behind it. Out:
records for `extraction.points`. Not here: what is a heading or a row (`formats.tables`).

Rows hold no literal by which a line is found, so from a heading on each line is looked at: by one
pattern, which knows how many cells a row has. A table ends where another begins, or once it has had
no row for many lines.

Rows that touch each other and are of one shape are read as columns, once some of them have been
read in their turn. The reader of a row is a black box, as that of a line is in `formats.layouts`.
"""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from postmortem.core.findings import NOWHERE
from postmortem.core.names import ASSUMED_LOOP
from postmortem.extraction.columnar.number_columns import OpenLine, parse_floats
from postmortem.extraction.formats import arrays, tables
from postmortem.extraction.formats.layouts import VALUE, NumberRoles, find_roles, find_spelling
from postmortem.extraction.formats.records import Record
from postmortem.extraction.formats.tables import Grid
from postmortem.extraction.formats.templates import MOST_NUMBERS, Span, find_numbers
from postmortem.extraction.points import Part, Points
from postmortem.reading.prefixes import clean
from postmortem.reading.sources import MARGIN, Block
from postmortem.reading.windows import View

if TYPE_CHECKING:
    import numpy as np

FIRST_TRY, NEXT_TRY = 16, 4
"""Rows read in their turn at which a shape is looked for, and how many times more the next time."""
_MOST_SHAPES: Final = 4
"""Shapes of one table."""
_MANY_ROWS: Final = 128
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
            self._shapes = [shape, *self._shapes][:_MOST_SHAPES]

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
        for column in run.values if len(run.begins) >= _MANY_ROWS else ():
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
    if answer is None or len(numbers) > MOST_NUMBERS:
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


TABLE_AHEAD: Final = 4
"""Lines of a heading and what may stand between it and its first row."""
_HEAD: Final = 2000
_MOST_BETWEEN: Final = 256 << 10
"""Bytes without a row behind which a table has ended."""
_LONGEST: Final = 1000
_RULES: Final = b"\r\n\t =-_*#"
"""What may stand between the rows of a bare column."""


class TableRows:
    """Takes the rows of one source's tables."""

    def __init__(self, points: Points, line_break: bytes, title: str = "") -> None:
        """Know no table; `title` is what the name of the source says of its figures."""
        self._points, self._break, self._title = points, line_break, title
        self._grid: Grid | None = None
        self._columns: TableColumns | None = None
        """Reads many rows of it at once, if nothing stands before them."""
        self._place = self._line = 0
        """The offset up to which rows have been read, and the raw line there."""
        self._row = 0
        """The offset of the last row."""
        self._row_end = 0
        """The offset behind it."""

    def begin(self, view: View, base: int) -> Sequence[str]:
        """Begin a table if a line is the heading of one; else gives the columns that it names."""
        text = view.cleaned.text
        columns = tables.split_columns(text, _get_line_above(view) if "|" in text else "")
        if not columns:
            self._begin_bare(view, base)
            return ()
        has_prefix = len(text) < view.end - view.start or tables.is_labelled(text)
        behind = (view.following(count)[count - 1 :] for count in range(2, TABLE_AHEAD + 1))
        lines = itertools.chain.from_iterable(behind)
        found = tables.build_grid(columns, lines, has_prefix=has_prefix)
        if found is None:
            return columns[0]
        self._set(found, view, base)
        return ()

    def _begin_bare(self, view: View, base: int) -> None:
        """Begin a table of one column if a line holds its name and nothing else."""
        rest = view.data[view.end : view.end + _HEAD]
        behind = rest.split(b"\n", TABLE_AHEAD + 1)[1 : 1 + TABLE_AHEAD]
        found = arrays.build_headed_grid(view.data[view.start : view.end], behind)
        if found is not None:
            self._set(found, view, base)
            self._row_end = base + view.end

    def _set(self, grid: Grid, view: View, base: int) -> None:
        """Read the rows of the table before, and begin another one on a line."""
        self._read(view.data, base, view.start)
        if grid != self._grid:
            self._columns = None if grid.has_prefix else TableColumns(grid)
        self._grid, self._line = grid, view.number
        self._place = self._row = base + view.start

    def reach(self, view: View, base: int) -> None:
        """Read the rows above a line, which is to know how many records stand before it."""
        self._read(view.data, base, view.start)

    def feed(self, block: Block) -> None:
        """Read the rows in the fresh region of a block."""
        if block.offset == 0 and block.lo == 0 and self._grid is None:
            *head, _ = block.data[:_HEAD].decode("utf-8", "replace").split("\n")
            self._grid, self._line = tables.build_headless_grid(head, self._title), 1
            if self._grid is None:
                self._grid = arrays.build_bare_grid(head, block.data[:MARGIN], self._title)
            self._columns = None if self._grid is None else TableColumns(self._grid)
        # A line that the region cuts is read with the next.
        end = block.hi
        if end < len(block.data):
            end = block.data.rfind(b"\n", 0, end) + 1
        self._read(block.data, block.offset, end)

    def _read(self, data: bytes, base: int, end: int) -> None:
        """Read the rows of the table up to an offset in the data."""
        position = self._place - base
        if self._grid is None or end <= position:
            return
        position, begin = max(0, position), max(0, position)
        while found := self._grid.row.search(data, begin, end):
            start = found.start()
            if base + start - self._row > _MOST_BETWEEN or self._is_ended(data, base, start):
                break
            self._line += data.count(self._break, position, start)
            position, begin = start, found.end()
            self._take(self._grid, found[0], base + start)
            if self._row == base + start and (run := self._read_run(data, begin + 1, end)):
                self._take_run(run, base)
                position = begin = run.end
        self._line += data.count(self._break, position, end)
        self._place = base + end
        if self._place - self._row > _MOST_BETWEEN:
            self._grid = None

    def _is_ended(self, data: bytes, base: int, start: int) -> bool:
        """Say whether another line than a row stands before one: it ends a bare column."""
        if self._grid is None or not self._grid.is_bare:
            return False
        is_ended = bool(data[max(0, self._row_end - base) : start].strip(_RULES))
        if is_ended:
            self._row = -_MOST_BETWEEN
        return is_ended

    def _read_run(self, data: bytes, start: int, end: int) -> RowRun | None:
        """Read the rows of one shape behind one that was read in its turn."""
        if self._columns is None or self._break != b"\n" or self._points.is_crowded:
            return None
        run = self._columns.read(data, start, end)
        if run is None or not self._points.has_room(len(run.begins) * len(run.values)):
            return None
        return run

    def _take_run(self, run: RowRun, base: int) -> None:
        """Take rows that begin on the next line."""
        columns = self._points.columns(run.names, tables.TABLE_PRODUCER, ASSUMED_LOOP, NOWHERE, {})
        lines = run.lines(self._line + 1)
        self._points.add_parts([Part(columns, run.begins, run.steps, run.values, lines)], base)
        self._line = int(lines[-1]) + 1
        self._row, self._row_end = base + int(run.begins[-1]), base + run.end

    def _take(self, grid: Grid, row: bytes, offset: int) -> None:
        """Take a line that may be a row."""
        if len(row) > _LONGEST:
            return
        text, where = row.decode("utf-8", "replace"), NOWHERE
        if grid.has_prefix:
            cleaned = clean(text, srun=False)
            text, where = cleaned.text, cleaned.where
        record = grid.record(text, where)
        if record is not None:
            self._row, self._row_end = offset, offset + len(row)
            if self._columns is not None:
                self._columns.learn(text)
            self._points.record(
                record,
                tables.TABLE_PRODUCER,
                ASSUMED_LOOP,
                (self._line, offset),
                math.nan,
                record.units,
            )


def _get_line_above(view: View) -> str:
    """Give the line above another; nothing of one that is too long for a heading."""
    end = max(0, view.start - 1)
    if view.data[end - 1 : end] == b"\r":
        end -= 1  # of a line that ends as on Windows
    low = max(0, end - _LONGEST)
    start = max(view.data.rfind(b"\n", low, end), view.data.rfind(b"\r", low, end)) + 1
    return view.clean_at(start, end).text if low < start < end or low == 0 < end else ""
