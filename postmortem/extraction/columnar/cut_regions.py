"""Choose the regions of a source that are read as columns.

In: the fresh region of a block. Out: `Cut`: the literals that are still to be looked at, and what
puts the rows between them into series in time. Not here: lines of other shapes
(`extraction.cursor`).
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from postmortem.core.findings import MOST_PROCESSES
from postmortem.extraction.columnar.bar_draws import RowColumn
from postmortem.extraction.columnar.line_shapes import LineShape
from postmortem.extraction.columnar.row_columns import MOST_WHERES, RowColumns
from postmortem.extraction.columnar.row_cutter import RowCutter, RowGaps, RowPlace, UnitRows
from postmortem.extraction.columnar.shaped_lines import OpenLiterals, ShapedLines
from postmortem.extraction.columnar.units import RecordUnits, UnitShape
from postmortem.extraction.formats.layouts import Layout, LearntFigures
from postmortem.extraction.literals import LearntLiterals, Matcher
from postmortem.extraction.points import MOST_SERIES, Points
from postmortem.extraction.rule_sieve import RuleSieve
from postmortem.extraction.scanning import Hit
from postmortem.reading.sources import Block

LONG: Final = 256 << 10
"""Bytes of a source, as far as it is at hand, below which all of it is read line by line."""
LONG_UNITS: Final = 32 << 10
"""The same where units come again, each line of which is costly."""
OFTEN: Final = 16
"""Lines of a shape in a region that make it worth cutting the next ones at."""
SPARSE: Final = 8 << 10
"""Bytes of a region of which such a line is worth it."""
SPARSE_ALL: Final = 2 << 10
"""Bytes of which a line of any such shape is: cutting costs what a line in so many does."""
TELLING: Final = 64 << 10
"""Bytes of a source that tell which shapes come often: the end of a block holds too little."""
_MOST_ASKED: Final = 8
"""Of so many units of a region one may be read again, to see whether it is so."""
_MOST_SHAPES: Final = 12
_WORTH_CUTTING: Final = 128
"""Lines between the rows of a region after which its rest may be cut anew."""
_AGAIN: Final = 4
"""How many times more of them after each time."""
_MOST_PROCESSES: Final = 3000
"""Processes of one shape beyond which its lines are read one by one."""


class Cut:
    """A region of which rows are read as columns."""

    def __init__(self, between: RowGaps, columns: RowColumns) -> None:
        """Take the rows, and what lies between them."""
        self._columns = columns
        self._hits = between.hits()
        self._is_of_others = between.is_of_others
        self.inside: dict[int, RowPlace] = between.inside
        """Rows in which a literal stands that is looked at, by where it begins."""
        self.reach = columns.reach
        self.may_end = not any(rows.shape.verdict.found for rows in between.rows)
        """Whether the rows behind a place may still be read otherwise: no finding of them has been
        counted."""
        self.until = 0
        """Where the next literal is wanted."""

    def look_at(self, place: RowPlace) -> None:
        """Put all rows there that stand before one that is looked at, or count them.

        Signatures ask no more than how many records stand before a line.
        """
        end = place.begin + place.is_counted_first
        if place.begin in self._is_of_others or not self._columns.count_until(end):
            self.reach(end)

    def __iter__(self) -> Iterator[Hit]:
        """Yield the literals that are to be looked at."""
        return self._hits


def _subtract(
    shapes: Sequence[LineShape | UnitShape], others: Sequence[LineShape | UnitShape]
) -> list[LineShape | UnitShape]:
    """Give those of some shapes that are not among others."""
    known = {id(shape) for shape in others}
    return [shape for shape in shapes if id(shape) not in known]


class CutRegions:
    """Cuts the regions of one source."""

    def __init__(
        self,
        matcher: Matcher,
        learnt: LearntLiterals,
        lines: ShapedLines,
        units: RecordUnits,
        points: Points,
        sieve: RuleSieve,
    ) -> None:
        """Start without shapes."""
        self.lines, self.units = lines, units
        """Take one line, and know those that come again as a whole."""
        self._learnt, self._sieve = learnt, sieve
        self._matcher, self._points, self._open = matcher, points, OpenLiterals(matcher)
        self._cutter: RowCutter | None = None
        self._region = self._missed = self._most_missed = 0
        """Where the region ends, how many lines between its rows were read, and how many may be."""
        self._since = 0
        """Where shapes were chosen last."""

    def forget(self) -> None:
        """Drop all shapes: lines hold literals that were none before."""
        self.lines.shapes.clear()
        self.units.clear()
        self._cutter = None

    def cut(self, block: Block, line: int, line_break: bytes) -> Cut | None:
        """Cut the fresh region of a block, which begins in this raw line; None if in vain."""
        least = LONG_UNITS if self.units.used else LONG
        if block.offset + len(block.data) < least:
            return None
        at = block.offset + block.lo
        if self._cutter is None or at - self._since >= TELLING:
            self._choose(at)
        if self._cutter is None:
            return None
        columns = [
            column
            for found in self._cutter.cut(block, line, line_break)
            for column in self._build_columns(found, block.data)
        ]
        if not columns or not self._has_room(columns):
            return None
        cut = [column.rows for column in columns]
        between = RowGaps(
            self._matcher,
            self._learnt,
            block,
            cut,
            self._open,
            self._sieve,
            self.lines.shapes.is_vain,
        )
        return Cut(between, RowColumns(columns, self.lines, self._points, block))

    def _build_columns(self, found: UnitRows, data: bytes) -> list[RowColumn]:
        """Give the rows of a shape, or of all lines of a unit, as columns if they may be such."""
        count = len(found.rows[0].begins)
        if found.unit is None:
            shape = found.rows[0].shape
            self.lines.shapes.used[id(shape)] = (shape, count)
        else:
            self.units.used[id(found.unit)] = (found.unit, count)
        if not count:
            return []
        columns = list(map(RowColumn, found.rows))
        is_fit = all(self._is_fit(column) for column in columns)
        return columns if is_fit and self._is_so(found, columns, data) else []

    def is_outgrown(self, block: Block, start: int) -> bool:
        """Say whether a region is better cut anew from a place; asked at each line between rows.

        True once many of them are of shapes that were learnt behind its beginning.
        """
        end = block.offset + block.hi
        if self._region != end:
            self._region, self._missed, self._most_missed = end, 0, _WORTH_CUTTING
        self._missed += 1
        if self._missed < self._most_missed or self._cutter is None:
            return False
        self._missed, self._most_missed = 0, _AGAIN * self._most_missed
        often = self._list_frequent_shapes(block.offset + start)
        return bool(_subtract(often, self._cutter.every))

    def _list_frequent_shapes(self, at: int) -> list[LineShape | UnitShape]:
        """Give the shapes that were frequent since the last choice, up to a place."""
        length = at - self._since
        used: list[tuple[LineShape | UnitShape, int]] = [
            *self.lines.shapes.used.values(),
            *self.units.used.values(),
        ]
        often = [(shape, count) for shape, count in used if count >= max(OFTEN, length // SPARSE)]
        is_worth_it = sum(count for _, count in often) >= length // SPARSE_ALL
        return [shape for shape, _ in often] if is_worth_it else []

    def _choose(self, at: int) -> None:
        """Choose the shapes that were most frequent lately, for the region at a place."""
        often = self._list_frequent_shapes(at)
        self.lines.shapes.used.clear()
        self.units.used.clear()
        self._since = at
        if not often:
            self._cutter = None
            return
        before = self._cutter.every if self._cutter is not None else []
        fresh = _subtract(often, before)
        if fresh:
            kept = _subtract(before, _subtract(before, often))
            self._cutter = RowCutter([*kept, *fresh][-_MOST_SHAPES:])

    def _is_fit(self, column: RowColumn) -> bool:
        """Say whether rows of a shape may be read as columns."""
        shape, path = column.shape, column.path
        if column.fresh + len(path.wheres) > _MOST_PROCESSES:
            return False
        return self._is_read(column) and (not shape.verdict.found or self._is_counted(column))

    def _is_read(self, column: RowColumn) -> bool:
        """Say whether rows of no known format are known to be metric lines."""
        path = column.path
        if not isinstance(path.reader, Layout):
            return True
        wheres = [path.where(groups, self._points) for groups in column.wheres]
        quick = self.lines.quick
        return all(
            quick.generic.is_known(path.reader, where)
            and quick.late_rows(LearntFigures(path.reader, where, math.nan, [], 0)) is not None
            for where in wheres
        )

    def _is_counted(self, column: RowColumn) -> bool:
        """Say whether the findings of rows are so many already that they are only counted."""
        lines, findings = column.rows.lines, self.lines.findings
        wheres = [column.shape.reader.where(groups, self._points) for groups in column.wheres]
        is_apart = bool((lines[1:] > lines[:-1]).all())
        return (
            is_apart
            and len(wheres) <= MOST_WHERES
            and all(
                findings.may_count(index, where)
                for index in column.shape.verdict.found
                for where in wheres
            )
        )

    def _is_so(self, found: UnitRows, columns: list[RowColumn], data: bytes) -> bool:
        """Ask the rules about a few rows: the first, the last and those with extreme figures."""
        shapes, unit = self.lines.shapes, found.unit
        for column in columns:
            for row in column.telling_rows():
                raw = data[column.begins[row] : int(column.rows.ends[row])]
                if not shapes.is_so(column.shape, raw):
                    shapes.forget(column.shape)
                    self._cutter = None
        telling = {row for column in columns for row in column.telling_rows()} if unit else ()
        count = len(found.borders)
        rows = sorted(telling, key=lambda row: row not in {0, count - 1})
        for row in rows[: max(2, count // _MOST_ASKED)]:
            before, begin, stop, end = found.borders[row].tolist()
            parts = (data[before:begin], data[begin:stop], data[stop : end + 1])
            if unit is not None and not self.units.is_so(unit, *parts):
                self._cutter = None
        if self._cutter is None and unit is not None:
            self.units.forget(unit)
        return self._cutter is not None

    def _has_room(self, columns: list[RowColumn]) -> bool:
        """Say whether no bound is met within these rows."""
        points = self._points
        figures = sum(len(column.begins) * max(1, len(column.own)) for column in columns)
        series = sum(column.fresh * len(column.own) for column in columns)
        return (
            not points.is_crowded
            and points.has_room(figures)
            and points.processes.count + sum(column.fresh for column in columns) < MOST_PROCESSES
            and len(points.result.series) + series < MOST_SERIES
        )
