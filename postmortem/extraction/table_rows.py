"""The rows of tables that a source prints as text.

In: the heading of a table, or the beginning of a source without one; the blocks behind it. Out:
records for `extraction.points`. Not here: what is a heading or a row (`formats.grids`).

Rows hold no literal by which a line is found, so from a heading on each line is looked at: by one
pattern, which knows how many cells a row has. A table ends where another begins, or once it has
had no row for many lines.
"""

import math
from collections.abc import Sequence
from typing import Final

from postmortem.core.lines import NOWHERE
from postmortem.core.names import ASSUMED_LOOP
from postmortem.extraction.formats import grids
from postmortem.extraction.formats.grids import Grid
from postmortem.extraction.points import Points
from postmortem.reading.block_reader import Block
from postmortem.reading.prefixes import clean
from postmortem.reading.windows import View

_AHEAD: Final = 4
"""Lines of a heading and what may stand between it and its first row."""
_HEAD: Final = 2000
_MOST_BETWEEN: Final = 256 << 10
"""Bytes without a row behind which a table has ended."""
_LONGEST: Final = 1000


class TableRows:
    """Takes the rows of one source's tables."""

    def __init__(self, points: Points, line_break: bytes) -> None:
        """Know no table."""
        self._points, self._break = points, line_break
        self._grid: Grid | None = None
        self._place = self._line = 0
        """The offset up to which rows have been read, and the raw line there."""
        self._row = 0
        """The offset of the last row."""

    def begin(self, view: View, base: int) -> Sequence[str]:
        """Begin a table if a line is the heading of one; else gives the columns that it names."""
        text = view.cleaned.text
        columns = grids.split_columns(text, _get_line_above(view) if "|" in text else "")
        if not columns:
            return ()
        has_prefix = len(text) < view.end - view.start or grids.is_labelled(text)
        found = grids.build_grid(columns, view.following(_AHEAD)[1:], has_prefix=has_prefix)
        if found is None:
            return columns[0]
        self._read(view.data, base, view.start)
        self._grid, self._line = found, view.number
        self._place = self._row = base + view.start
        return ()

    def reach(self, view: View, base: int) -> None:
        """Read the rows above a line, which is to know how many records stand before it."""
        self._read(view.data, base, view.start)

    def feed(self, block: Block) -> None:
        """Read the rows in the fresh region of a block."""
        if block.offset == 0 and block.lo == 0 and self._grid is None:
            head = block.data[:_HEAD].decode("utf-8", "replace").split("\n")
            self._grid, self._line = grids.build_headless_grid(head[:-1]), 1
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
        for found in self._grid.row.finditer(data, max(0, position), end):
            start = found.start()
            if base + start - self._row > _MOST_BETWEEN:
                break
            self._line += data.count(self._break, position, start)
            position = start
            self._take(self._grid, found[0], base + start)
        self._line += data.count(self._break, position, end)
        self._place = base + end
        if self._place - self._row > _MOST_BETWEEN:
            self._grid = None

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
            self._row = offset
            self._points.record(
                record, grids.PRODUCER, ASSUMED_LOOP, (self._line, offset), math.nan, record.units
            )


def _get_line_above(view: View) -> str:
    """Give the line above another."""
    end = view.start - 1
    start = view.data.rfind(b"\n", max(0, end - _LONGEST), max(0, end)) + 1
    return view.clean_at(start, end).text if end > 0 else ""
