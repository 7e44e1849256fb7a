"""The rows of a region as columns of figures, put into series in the order of the log.

In: the rows of each shape of a region. Out: the same series, counts, findings and facts as if each
line had been read alone, up to any place in the region. Not here: cutting (`row_cutter`).

`reach` puts everything there that stands before a place. It is called before any line of a gap is
looked at, so that such a line meets what it would have met. Of the rows whose step hangs on those
before it, as that of a bar does, each is read in its turn; a draw of a bar that the next one
replaces is passed over.
"""

import bisect
import itertools
import math
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from postmortem.facts.columns import Part
from postmortem.facts.fact_store import COURSES
from postmortem.formats.records import POSITION, MetricReader
from postmortem.formats.unknown import Layout
from postmortem.gathering.columnar.row_cutter import ShapeRows
from postmortem.gathering.columnar.shaped_lines import ShapedLines
from postmortem.gathering.gathered import LAST
from postmortem.gathering.points import Points
from postmortem.reading.block_reader import Block

if TYPE_CHECKING:
    import numpy as np

MOST_WHERES: Final = 64
"""Processes of rows that are findings; of more, each line is read alone."""
_FEW: Final = 8
"""Rows that are read one by one, since columns are not worth their while."""
_NEAR: Final = 400
"""Bytes behind a record in which its bar may stand."""


class _Rows(NamedTuple):
    """Rows of one shape on their way into series."""

    keys: "np.ndarray[Any, Any]"
    steps: "np.ndarray[Any, Any]"
    values: "list[np.ndarray[Any, Any]]"
    lines: "np.ndarray[Any, Any]"


class RowColumn:
    """The rows of one shape in one region."""

    def __init__(self, rows: ShapeRows) -> None:
        """Read the figures of all rows."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        self.rows, self.shape, self.path = rows, rows.shape, rows.shape.path
        self.begins: list[int] = rows.begins.tolist()
        self.lines: list[int] = rows.lines.tolist()
        self.at = 0
        """The first row that is not yet put into series."""
        taken = [rows.groups[group] for group in self.shape.taken]
        self.own = taken
        reader = self.path.reader
        self.is_serial = (
            reader.now is not None or reader.counted is not None
            if isinstance(reader, Layout)
            else reader is not None and reader.redraws
        )
        self.is_idle = reader is None
        self.is_plain = not self.is_serial and not self.is_idle
        self.values = (
            []
            if not self.is_plain
            else [np.frombuffer(array("d", map(float, column))) for column in taken]
        )
        self.codes, self.wheres = self._processes()
        places = [index for index, _ in self.path.places]
        self.fresh = sum(
            tuple([groups[index] for index in places]) not in self.path.wheres
            for groups in self.wheres
        )
        """Processes that were not met before."""

    def _processes(self) -> tuple[list[int] | None, list[tuple[bytes, ...]]]:
        """Tell rows by their process: a number for each, and the groups of the first of each."""
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

    def next(self) -> int:
        """Give where the next row begins."""
        return self.begins[self.at] if self.at < len(self.begins) else 1 << 62

    def marks(self) -> list[list[bytes]]:
        """Give the columns that tell where a bar stands; none if not all rows are of one bar."""
        reader, names = self.path.reader, self.path.template.names
        if self.codes is not None:
            return []
        if isinstance(reader, Layout):
            groups = [] if reader.now is None else [reader.now, reader.epoch]
            return [self.own[group] for group in groups if group is not None]
        return [one for name, one in zip(names, self.own, strict=True) if name in POSITION]

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


def _runs(due: list[Due]) -> list[list[Due]]:
    """Part rows so that in each part all are read in the same way, in the order of the log."""
    if len({column.is_serial for column, _, _ in due}) < 2:
        return [due] if due else []
    rows = sorted(
        (column.begins[row], number, row)
        for number, (column, start, stop) in enumerate(due)
        for row in range(start, stop)
    )
    found = []
    for _, run in itertools.groupby(rows, key=lambda row: due[row[1]][0].is_serial):
        of_column: dict[int, list[int]] = {}
        for _, number, row in run:
            of_column.setdefault(number, []).append(row)
        found.append([(due[one][0], rows_[0], rows_[-1] + 1) for one, rows_ in of_column.items()])
    return found


class SeriesRows:
    """Puts rows into series, as columns or each in its turn."""

    def __init__(self, lines: ShapedLines, points: Points, block: Block) -> None:
        """Take who knows the series, and where the rows stand."""
        self._lines, self._points = lines, points
        self._data, self._base = block.data, block.offset

    def put_few(self, due: list[Due]) -> None:
        """Read a few rows one by one, which costs less than columns do."""
        rows = [
            (
                column.begins[row],
                column.path,
                column.row(row),
                int(column.rows.ends[row]),
                column.lines[row],
            )
            for column, start, stop in due
            for row in range(start, stop)
        ]
        if len(due) > 1:
            rows.sort(key=lambda row: row[0])
        self._lines.read_rows(rows, self._data, self._base)

    def put_plain(self, due: list[Due]) -> None:
        """Put rows into series, all those of a series at once."""
        if not due:
            return
        steps = self._bar_steps(due)
        parts = [
            part
            for (column, start, stop), of_bar in zip(due, steps, strict=True)
            for part in self._parts(column, start, stop, of_bar)
        ]
        self._points.add_parts(parts, self._base)

    def _parts(
        self, column: RowColumn, start: int, stop: int, of_bar: "np.ndarray[Any, Any]"
    ) -> list[Part]:
        """Give the rows of each process."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        path, reader = column.path, column.path.reader
        if isinstance(reader, Layout):
            until = self._lines.read_until() - self._base
            start = max(start, bisect.bisect_left(column.begins, until))
            values = [column.values[group][start:stop] for _, group in reader.columns]
            steps: Any = np.full(len(values[0]), math.nan)
            if reader.step is not None:
                steps = column.values[reader.step][start:stop]
        else:
            values = [one[start:stop] for one in column.values]
            steps = of_bar if path.step is None else values[path.step]
            if path.epochs is not None:
                epoch, length, first = path.epochs
                steps = steps + (values[epoch] - first) * values[length]
        keys, lines = column.rows.begins[start:stop], column.rows.lines[start:stop]
        whole = _Rows(keys, steps, values, lines)
        return self._by_process(column, start, whole) if len(keys) else []

    def _by_process(self, column: RowColumn, start: int, whole: "_Rows") -> list[Part]:
        """Give the rows of each process; `start` is the first of them."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        codes = column.codes and np.array(column.codes[start : start + len(whole.keys)])
        if codes is None:
            every = [np.arange(len(whole.keys))]
        else:
            order = np.argsort(codes, kind="stable")
            every = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
        found = []
        for chosen in every:
            groups = column.wheres[0 if codes is None else codes[chosen[0]]]
            columns, steps = self._lines.columns(column.path, groups, whole.steps[chosen])
            if columns is None:  # two of its figures have got one name
                self.put_few([(column, start + row, start + row + 1) for row in chosen.tolist()])
                continue
            values = [one[chosen] for one in whole.values]
            part = Part(columns, whole.keys[chosen], steps, values, whole.lines[chosen])
            found.append((int(chosen[0]), part))
        found.sort(key=lambda one: one[0])  # series are kept in the order of the log
        return [part for _, part in found]

    def _bar_steps(self, due: list[Due]) -> "list[np.ndarray[Any, Any]]":
        """Give the steps that bars tell, of the rows of shapes that print none."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        steps = [np.full(stop - start, math.nan) for _, start, stop in due]
        rows = [
            (int(end), number, row)
            for number, (column, start, stop) in enumerate(due)
            if column.path.needs_bar
            for row, end in enumerate(column.rows.ends[start:stop])
        ]
        if not rows:
            return steps
        rows.sort()
        if self._data.find(b"|", rows[0][0], rows[-1][0] + _NEAR) < 0:
            return steps
        bar_step = self._lines.quick.bar_step
        for end, number, row in rows:
            steps[number][row] = bar_step(due[number][0].path, self._data, end)
        return steps

    def put_serial(self, due: list[Due]) -> None:
        """Read rows one by one, but for draws of a bar that are replaced."""
        if not due:
            return
        if len(due) == 1:
            self._put_run(*due[0])
            return
        rows = sorted(
            (column.begins[row], number, row)
            for number, (column, start, stop) in enumerate(due)
            for row in range(start, stop)
        )
        at = 0
        while at < len(rows):
            end = at
            while end + 1 < len(rows) and rows[end + 1][1] == rows[at][1]:
                end += 1
            self._put_run(due[rows[at][1]][0], rows[at][2], rows[end][2] + 1)
            at = end + 1

    def _put_run(self, column: RowColumn, start: int, stop: int) -> None:
        """Read rows one by one; of draws at one position the last."""
        path, base, lines = column.path, self._base, column.lines
        marks = column.marks()
        if isinstance(path.reader, Layout):
            start = max(start, bisect.bisect_left(column.begins, self._lines.read_until() - base))
        keys = list(zip(*(one[start:stop] for one in marks), strict=True))
        ends = [
            row
            for row, (key, behind) in enumerate(itertools.pairwise([*keys, None]), start)
            if key != behind
        ]
        row = start
        for last in ends if marks else range(start, stop):
            offsets = (column.begins[row] + base, column.begins[last] + base)
            self._lines.read_serial(path, column.row(last), lines[last], offsets)
            row = last + 1


class RowColumns(SeriesRows):
    """The rows of one region."""

    def __init__(
        self, columns: Sequence[RowColumn], lines: ShapedLines, points: Points, block: Block
    ) -> None:
        """Take the rows of each shape."""
        super().__init__(lines, points, block)
        self._columns = columns
        self._next = min(column.begins[0] for column in self._columns)
        self._stops: list[tuple[int, RowColumn, int]] = []
        """Rows that are among the last findings: where they begin, and which they are."""
        for column in self._columns:
            if column.shape.verdict.found:
                self._stops += self._late_rows(column)
        self._stops.sort(key=lambda stop: stop[0])

    def reach(self, end: int) -> None:
        """Put everything there that begins before an offset."""
        if end <= self._next:
            return
        while self._stops and self._stops[0][0] < end:
            begin, column, number = self._stops.pop(0)
            is_counted_first = isinstance(column.path.reader, MetricReader)
            self._put(begin + 1 if is_counted_first else begin)
            self._find(column, number, begin)
        self._put(end)

    def _put(self, end: int) -> None:
        due = [one for column in self._columns for one in column.due(end)]
        self._next = min(column.next() for column in self._columns)
        if not due:
            return
        self._state(due)
        if sum(stop - start for _, start, stop in due) <= _FEW:
            self.put_few([one for one in due if not one[0].is_idle])
            return
        for run in _runs([one for one in due if not one[0].is_idle]):
            (self.put_serial if run[0][0].is_serial else self.put_plain)(run)

    def _state(self, due: list[Due]) -> None:
        """Take the figures of the machine that rows state."""
        stating = [one for one in due if one[0].shape.verdict.figures]
        if len(stating) == 1 and self._state_course(*stating[0]):
            return
        rows = sorted(
            (column.begins[row], number, row)
            for number, (column, start, stop) in enumerate(stating)
            for row in range(start, stop)
        )
        for _, number, row in rows:
            column = stating[number][0]
            groups = tuple([one[row] for one in column.rows.groups])
            self._lines.state(column.shape, groups, column.lines[row])

    def _state_course(self, column: RowColumn, start: int, stop: int) -> bool:
        """Take one figure of a course from all rows; says whether that is what they state."""
        (figure, *others), (group, *_) = column.shape.verdict.figures, column.shape.groups
        what = figure.name.partition("_")[2]
        if others or what not in COURSES or group < 0 or figure.before or figure.behind:
            return False
        texts = [text.decode() for text in column.rows.groups[group][start:stop]]
        lines = column.lines[start:stop]
        self._points.result.facts.add_course(what, texts, self._points.source, lines)
        return True

    def _late_rows(self, column: RowColumn) -> list[tuple[int, RowColumn, int]]:
        """Count the findings of rows; gives those that may be among the last of their process."""
        found, counts = [], [0] * len(column.wheres)
        codes = column.codes or [0] * len(column.begins)
        for row in range(len(column.begins) - 1, -1, -1):
            counts[codes[row]] += 1
            if counts[codes[row]] <= LAST:
                found.append((column.begins[row], column, row))
        for groups, count in zip(column.wheres, counts, strict=True):
            where = column.shape.teller.where(groups, self._points)
            for index in column.shape.verdict.found:
                self._lines.findings.count_unseen(index, where, count - min(count, LAST))
        return found

    def _find(self, column: RowColumn, number: int, begin: int) -> None:
        where = column.shape.teller.where(column.row(number), self._points)
        raw = self._data[begin : int(column.rows.ends[number])]
        place = (column.lines[number], begin + self._base)
        for index in column.shape.verdict.found:
            self._lines.findings.count(index, raw, where, place)
