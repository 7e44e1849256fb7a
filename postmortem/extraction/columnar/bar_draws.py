"""The rows of one shape as columns, and bars among them, of which the last draw counts.

In: the rows of one shape in one region that a cut has given; rows whose step hangs on those before
them. Out: `RowColumn`, their texts and figures by column; of bars the same records in the same
series as if each draw had been read in its turn. Not here: cutting (`row_cutter`), rows that stand
for themselves (`row_columns`).

The record of a bar is certain once the bar has left its position. So the first two positions of a
stretch are read in their turn, which tells what was waited for and what the bar is like; of all
others but the last the records are put there as columns; and the last one waits.
"""

import bisect
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.extraction.columnar.number_columns import parse_floats
from postmortem.extraction.columnar.row_cutter import ShapeRows
from postmortem.extraction.columnar.shaped_lines import ShapedLines
from postmortem.extraction.formats.layouts import Layout, LearntFigures
from postmortem.extraction.formats.records import POSITION, FormatReader
from postmortem.extraction.points import Columns, Part, Points
from postmortem.extraction.template_reader import build_draw, build_stream_key, select_step

if TYPE_CHECKING:
    import numpy as np


class RowColumn:
    """The rows of one shape in one region."""

    def __init__(self, rows: ShapeRows) -> None:
        """Read the figures of all rows."""
        self.rows, self.shape, self.path = rows, rows.shape, rows.shape.path
        self.begins: list[int] = rows.begins.tolist()
        self.lines: list[int] = rows.lines.tolist()
        self.at = 0
        """The first row that is not yet put into series."""
        taken = [rows.groups[group] for group in self.shape.taken]
        self.own = taken
        reader = self.path.reader
        self.is_serial = (
            reader.now is not None
            if isinstance(reader, Layout)
            else reader is not None and reader.redraws
        )
        self.is_idle = reader is None
        self.is_plain = not self.is_serial and not self.is_idle
        self.values = [parse_floats(column) for column in taken] if self.is_plain else []
        self.codes, self.wheres = self._number_processes()
        places = [index for index, _ in self.path.places]
        self.fresh = sum(
            tuple([groups[index] for index in places]) not in self.path.wheres
            for groups in self.wheres
        )
        """Processes that were not met before."""
        self._of_process: dict[ProcessId, list[int]] | None = None
        """The numbers of a process in `codes`."""

    def _number_processes(self) -> tuple[list[int] | None, list[tuple[bytes, ...]]]:
        """Number the process of each row; gives the groups of each one's first row as well."""
        places = [index for index, _ in self.path.places]
        if not places:
            return None, [tuple(column[0] for column in self.own)]
        known: dict[tuple[bytes, ...], int] = {}
        keys = list(zip(*(self.own[index] for index in places), strict=True))
        codes = [known.setdefault(key, len(known)) for key in keys]
        firsts: dict[int, int] = {}
        for number, code in enumerate(codes):
            if code not in firsts:
                firsts[code] = number
        return codes, [tuple(column[n] for column in self.own) for n in firsts.values()]

    def due(self, end: int) -> "list[Due]":
        """Give the rows that begin before an offset and are not yet put into series, if any."""
        start = self.at
        self.at = bisect.bisect_left(self.begins, end, start)
        return [(self, start, self.at)] if self.at > start else []

    def count(self, start: int, stop: int, where: ProcessId, points: Points) -> int:
        """Count the rows from one to another that are of a process or of none; of all for none."""
        if self._of_process is None:
            self._of_process = {}
            for code, groups in enumerate(self.wheres):
                self._of_process.setdefault(self.path.where(groups, points), []).append(code)
        known = self._of_process
        if where == NOWHERE or (
            self.codes is None and not known.keys().isdisjoint((where, NOWHERE))
        ):
            return stop - start
        codes = (self.codes or [])[start:stop]
        return sum(codes.count(code) for place in (where, NOWHERE) for code in known.get(place, ()))

    def next(self) -> int:
        """Give where the next row begins."""
        return self.begins[self.at] if self.at < len(self.begins) else 1 << 62

    def marks(self) -> list[list[bytes]]:
        """Give the columns with the position of a bar; none unless all rows belong to one bar."""
        reader, names = self.path.reader, self.path.template.names
        if self.codes is not None:
            return []
        if isinstance(reader, Layout):
            groups = [] if reader.now is None else [reader.now, reader.epoch]
            return [self.own[group] for group in groups if group is not None]
        return [figures for name, figures in zip(names, self.own, strict=True) if name in POSITION]

    def telling_rows(self) -> set[int]:
        """Give the first row, the last, and those with the least and the largest figures."""
        found = {0, len(self.begins) - 1}
        for values in self.values:
            found |= {int(values.argmin()), int(values.argmax())}
        return found

    def row(self, number: int) -> tuple[bytes, ...]:
        """Give the texts that the path takes of a row."""
        return tuple([column[number] for column in self.own])


Due = tuple[RowColumn, int, int]
"""Rows of a shape that are to be put into series: the first, and the one behind the last."""


_FEW_POSITIONS: Final = 12
"""Positions that are read each in its turn, since columns are not worth their while."""
_LARGEST_POSITION: Final = 2**53
"""Below it a float tells neighbouring positions apart."""


class _Draws(NamedTuple):
    """Draws of one bar, by position: the rows of the first and of the last at each."""

    column: RowColumn
    firsts: "np.ndarray[Any, Any]"
    lasts: "np.ndarray[Any, Any]"

    def texts(self, group: int) -> list[bytes]:
        """Give the texts of a group in the last draws."""
        own = self.column.own[group]
        return [own[row] for row in self.lasts.tolist()]

    def joined(self, starts: "np.ndarray[Any, Any]", ends: "np.ndarray[Any, Any]") -> "_Draws":
        """Give stretches of these, which are one position each."""
        return _Draws(self.column, self.firsts[starts], self.lasts[ends])


class _Rest(NamedTuple):
    """What is left of draws once the first position has been read in its turn."""

    draws: _Draws
    """The second position, which has been read too and waits, and those behind it."""
    at: "np.ndarray[Any, Any]"
    """Which of the draws before they are."""


class BarDraws:
    """Puts the draws of bars of one region into series."""

    def __init__(self, lines: ShapedLines, points: Points, base: int) -> None:
        """Take who reads draws in their turn, and the offset of the block."""
        self._lines, self._points, self._base = lines, points, base

    def put(self, column: RowColumn, start: int, stop: int) -> None:
        """Take rows of a shape from `start` up to `stop`."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        reader = column.path.reader
        if isinstance(reader, Layout):
            until = self._lines.quick.read_until - self._base
            start = max(start, bisect.bisect_left(column.begins, until))
        if start >= stop:
            return
        marks = column.marks()
        is_new = (
            _mark_changes([mark[start:stop] for mark in marks]) if marks else np.ones(stop - start)
        )
        firsts = np.flatnonzero(is_new) + start
        draws = _Draws(column, firsts, np.append(firsts[1:], stop) - 1)
        if not marks or len(firsts) < _FEW_POSITIONS or reader is None:
            self._put_each(draws)
        elif isinstance(reader, Layout):
            self._put_unknown(draws, reader)
        else:
            self._put_known(draws, reader)

    def _put_each(self, draws: _Draws, start: int = 0, stop: int | None = None) -> None:
        """Read draws in their turn."""
        column, base = draws.column, self._base
        for first, last in zip(
            draws.firsts[start:stop].tolist(), draws.lasts[start:stop].tolist(), strict=True
        ):
            offsets = (column.begins[first] + base, column.begins[last] + base)
            self._lines.read_serial(column.path, column.row(last), column.lines[last], offsets)

    def _read_first_positions(
        self,
        draws: _Draws,
        kept: "np.ndarray[Any, Any]",
        marks: Sequence[Sequence[object]],
        is_held: Callable[[], bool],
    ) -> _Rest | None:
        """Read the first two positions; gives what is left, or None if all has been read.

        Args:
            draws: of a bar.
            kept: which of them count.
            marks: what tells the positions of those that count.
            is_held: says whether a record waits for the bar to leave its position.
        """
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        starts = np.flatnonzero(_mark_changes(marks)) if len(kept) else kept
        if len(starts) < _FEW_POSITIONS:
            self._put_each(draws)
            return None
        ends = np.append(starts[1:], len(kept)) - 1
        second = int(kept[ends[1]]) + 1
        self._put_each(draws, 0, second)
        if not is_held():
            self._put_each(draws, second)
            return None
        return _Rest(draws.joined(kept[starts[1:]], kept[ends[1:]]), kept[ends[1:]])

    def _put_unknown(self, draws: _Draws, layout: Layout) -> None:
        """Take draws of a bar of unknown layout."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        quick, column = self._lines.quick, draws.column
        bars, where = quick.generic.bars, column.path.where(column.wheres[0], self._points)
        columns = quick.late_rows(LearntFigures(layout, where, math.nan, [], 0))
        printed = np.zeros(1) if layout.now is None else parse_floats(draws.texts(layout.now))
        if columns is None or layout.now is None or printed.max() >= _LARGEST_POSITION:
            self._put_each(draws)
            return
        positions = bars.positions(layout, where, printed.astype(np.int64))
        kept = np.flatnonzero(positions)
        marks: list[Sequence[object]] = [positions[kept].tolist()]
        if layout.epoch is not None:
            marks.append(draws.joined(kept, kept).texts(layout.epoch))
        rest = self._read_first_positions(draws, kept, marks, lambda: bars.holds(layout, where))
        if rest is None:
            return
        steps = self._steps(rest, layout, where, positions[rest.at])
        values = [parse_floats(rest.draws.texts(group)) for _, group in layout.columns]
        self._points.total(layout.looked.found.record.total)
        self._put_rows(columns, rest.draws, rest.draws.firsts[1:], steps, values)
        row = int(rest.draws.lasts[-1])
        last = [float(column[-1]) for column in values]
        late = LearntFigures(layout, where, float(steps[-1]), last, column.lines[row])
        bars.hold(
            late,
            (
                layout.looked.epoch
                if layout.epoch is None
                else column.row(row)[layout.epoch].decode()
            ),
            int(positions[rest.at[-1]]),
        )

    def _steps(
        self, rest: _Rest, layout: Layout, where: ProcessId, positions: "np.ndarray[Any, Any]"
    ) -> "np.ndarray[Any, Any]":
        """Give the steps of the run of draws of unknown layout."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        if layout.looked.found.has_step:
            if layout.step is None:
                return np.full(len(positions), math.nan)
            return parse_floats(rest.draws.texts(layout.step)) * layout.scale
        if layout.epoch is not None:
            epochs = parse_floats(rest.draws.texts(layout.epoch))
        else:
            label = layout.looked.epoch
            epochs = np.full(len(positions), float(label) if label else math.nan)
        return self._lines.quick.generic.bars.steps(layout, where, positions, epochs)

    def _put_known(self, draws: _Draws, reader: FormatReader) -> None:
        """Take draws of a bar of a known format."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        quick, column = self._lines.quick, draws.column
        path, where = column.path, column.path.where(column.wheres[0], self._points)
        groups = [group for group in path.position if group is not None]
        kept = np.arange(len(draws.lasts))
        if path.position[-1] is not None:  # a bar at 0 still shows what came before it
            kept = np.flatnonzero([text != b"0" for text in draws.texts(path.position[-1])])
        own = draws.joined(kept, kept)
        stream = build_stream_key(reader, where, self._points)
        marks = [own.texts(group) for group in groups]
        rest = self._read_first_positions(draws, kept, marks, lambda: quick.redraws.holds(stream))
        if rest is None:
            return
        values = [parse_floats(rest.draws.texts(group)) for group in range(len(column.own))]
        columns, steps = quick.rows_of(path, reader, where), select_step(path, values, math.nan)
        self._put_rows(columns, rest.draws, rest.draws.lasts[:-1], steps, values)
        row = int(rest.draws.lasts[-1])
        place = (column.lines[row], column.begins[row] + self._base)
        last = build_draw(path, reader, where, column.row(row), place)
        quick.redraws.hold(stream, last.place, last)

    def _put_rows(
        self,
        columns: Columns,
        draws: _Draws,
        places: "np.ndarray[Any, Any]",
        steps: "np.ndarray[Any, Any]",
        values: "Sequence[np.ndarray[Any, Any]]",
    ) -> None:
        """Put the records of all but the last into series; `places` are where they are sure."""
        rows = draws.column.rows
        fit = [column[:-1] for column in values]
        part = Part(columns, rows.begins[places], steps[:-1], fit, rows.lines[draws.lasts[:-1]])
        self._points.add_parts([part], self._base)


def _mark_changes(marks: Sequence[Sequence[object]]) -> "np.ndarray[Any, Any]":
    """Say of each row whether what marks it is not that of the row before."""
    import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

    is_new = np.zeros(len(marks[0]), dtype=bool)
    is_new[0] = True
    for mark in marks:
        behind = map(operator.ne, mark, itertools.islice(mark, 1, None))
        is_new[1:] |= np.fromiter(behind, dtype=bool, count=len(mark) - 1)
    return is_new
