"""The rows of tables that a source prints as text.

In: the heading of a table, or the beginning of a source without one; the blocks behind it. Out:
records for `extraction.points`. Not here: what is a heading or a row (`formats.grids`).

Rows hold no literal by which a line is found, so from a heading on each line is looked at: by one
pattern, which knows how many cells a row has. A table ends where another begins, or once it has
had no row for many lines.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Final

from postmortem.core.lines import NOWHERE
from postmortem.core.names import ASSUMED_LOOP
from postmortem.extraction.columnar.table_columns import RowRun, TableColumns
from postmortem.extraction.facts.columns import Part
from postmortem.extraction.formats import bare_rows, grids
from postmortem.extraction.formats.grids import Grid
from postmortem.extraction.points import Points
from postmortem.reading.block_reader import MARGIN, Block
from postmortem.reading.prefixes import clean
from postmortem.reading.windows import View

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
        columns = grids.split_columns(text, _get_line_above(view) if "|" in text else "")
        if not columns:
            self._begin_bare(view, base)
            return ()
        has_prefix = len(text) < view.end - view.start or grids.is_labelled(text)
        behind = (view.following(count)[count - 1 :] for count in range(2, TABLE_AHEAD + 1))
        lines = itertools.chain.from_iterable(behind)
        found = grids.build_grid(columns, lines, has_prefix=has_prefix)
        if found is None:
            return columns[0]
        self._set(found, view, base)
        return ()

    def _begin_bare(self, view: View, base: int) -> None:
        """Begin a table of one column if a line holds its name and nothing else."""
        rest = view.data[view.end : view.end + _HEAD]
        behind = rest.split(b"\n", TABLE_AHEAD + 1)[1 : 1 + TABLE_AHEAD]
        found = bare_rows.build_headed_grid(view.data[view.start : view.end], behind)
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
            self._grid, self._line = grids.build_headless_grid(head, self._title), 1
            if self._grid is None:
                self._grid = bare_rows.build_bare_grid(head, block.data[:MARGIN], self._title)
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
        columns = self._points.columns(run.names, grids.PRODUCER, ASSUMED_LOOP, NOWHERE, {})
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
                record, grids.PRODUCER, ASSUMED_LOOP, (self._line, offset), math.nan, record.units
            )


def _get_line_above(view: View) -> str:
    """Give the line above another; nothing of one that is too long for a heading."""
    end = max(0, view.start - 1)
    if view.data[end - 1 : end] == b"\r":
        end -= 1  # of a line that ends as on Windows
    low = max(0, end - _LONGEST)
    start = max(view.data.rfind(b"\n", low, end), view.data.rfind(b"\r", low, end)) + 1
    return view.clean_at(start, end).text if low < start < end or low == 0 < end else ""
