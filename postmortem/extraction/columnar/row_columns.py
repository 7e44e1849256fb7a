"""Put the rows of a region into series, as columns, in the order of the log.

In: the rows of each shape of a region. Out: the same series, counts, findings and facts as if each
line had been read alone, up to any place in the region. Not here: cutting (`row_cutter`).

`reach` puts everything there that stands before a place. It is called before any line of a gap is
looked at, so that such a line meets what it would have met. Rows whose step hangs on those before
it, as that of a bar does, go to `bar_draws`.
"""

import bisect
import functools
import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from postmortem.core.findings import ProcessId
from postmortem.extraction.columnar.bar_draws import BarDraws, Due, RowColumn
from postmortem.extraction.columnar.line_shapes import LineShape
from postmortem.extraction.columnar.shaped_lines import ShapedLines
from postmortem.extraction.extract import LAST
from postmortem.extraction.facts.fact_store import COURSES, PHASE
from postmortem.extraction.finding_lines import KnownLine
from postmortem.extraction.formats.layouts import Layout
from postmortem.extraction.formats.records import FormatReader
from postmortem.extraction.points import Part, Points, count_no_rows
from postmortem.extraction.template_reader import select_step
from postmortem.reading.sources import Block

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


def _split_into_runs(due: list[Due]) -> list[list[Due]]:
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
        found.append(
            [(due[number][0], rows_[0], rows_[-1] + 1) for number, rows_ in of_column.items()]
        )
    return found


def _mark_shared_counters(columns: Sequence[RowColumn]) -> None:
    """Read rows of several shapes in their turn whose steps are counted together, in each epoch."""
    counted: dict[str, list[RowColumn]] = {}
    for column in columns:
        reader = column.path.reader
        if isinstance(reader, Layout) and reader.counted is not None and reader.step is not None:
            counted.setdefault(reader.looked.found.layout, []).append(column)
    for sharing in counted.values():
        if len(sharing) > 1:
            for column in sharing:
                column.is_serial = True


def _get_phase(shape: LineShape) -> str:
    """Give the phase of the run that lines of a shape state, if they state nothing else."""
    figures = [(figure.name, figure.before, figure.span) for figure in shape.verdict.figures]
    ((name, phase, span),) = figures if len(figures) == 1 else [("", "", 0)]
    return phase if name.partition("_")[2] == PHASE and span < 0 else ""


class SeriesRows:
    """Puts rows into series, as columns or each in its turn."""

    def __init__(self, lines: ShapedLines, points: Points, block: Block) -> None:
        """Take who knows the series, and where the rows stand."""
        self._lines, self._points = lines, points
        self._data, self._base = block.data, block.offset
        self._draws = BarDraws(lines, points, block.offset)

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
        steps = self._infer_bar_steps(due)
        parts = [
            part
            for (column, start, stop), of_bar in zip(due, steps, strict=True)
            for part in self._make_parts(column, start, stop, of_bar)
        ]
        self._points.add_parts(parts, self._base)

    def _make_parts(
        self, column: RowColumn, start: int, stop: int, of_bar: "np.ndarray[Any, Any]"
    ) -> list[Part]:
        """Give the rows of each process."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        path, reader = column.path, column.path.reader
        if isinstance(reader, Layout):
            until = self._lines.quick.read_until - self._base
            start = max(start, bisect.bisect_left(column.begins, until))
            values = [column.values[group][start:stop] for _, group in reader.columns]
            steps: Any = np.full(len(values[0]), math.nan)
            if reader.step is not None:
                steps = column.values[reader.step][start:stop] * reader.scale
        else:
            values = [figures[start:stop] for figures in column.values]
            steps = select_step(path, values, of_bar)
        keys, lines = column.rows.begins[start:stop], column.rows.lines[start:stop]
        whole = _Rows(keys, steps, values, lines)
        return self._group_by_process(column, start, whole) if len(keys) else []

    def _group_by_process(self, column: RowColumn, start: int, whole: "_Rows") -> list[Part]:
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
            values = [figures[chosen] for figures in whole.values]
            columns, steps = self._lines.columns(column.path, groups, whole.steps[chosen], values)
            if columns is None:  # two of its figures have got one name
                self.put_few([(column, start + row, start + row + 1) for row in chosen.tolist()])
                continue
            part = Part(columns, whole.keys[chosen], steps, values, whole.lines[chosen])
            found.append((int(chosen[0]), part))
        found.sort(key=lambda part: part[0])  # series are kept in the order of the log
        return [part for _, part in found]

    def _infer_bar_steps(self, due: list[Due]) -> "list[np.ndarray[Any, Any]]":
        """Give the steps of rows that print none, as bars give them."""
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
        """Take rows whose step hangs on those before them, as long as they are of one shape."""
        if not due:
            return
        if len(due) == 1:
            self._draws.put(*due[0])
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
            self._draws.put(due[rows[at][1]][0], rows[at][2], rows[end][2] + 1)
            at = end + 1


class RowColumns(SeriesRows):
    """The rows of one region."""

    def __init__(
        self, columns: Sequence[RowColumn], lines: ShapedLines, points: Points, block: Block
    ) -> None:
        """Take the rows of each shape."""
        super().__init__(lines, points, block)
        self._columns = columns
        _mark_shared_counters(columns)
        self._next = min(column.begins[0] for column in self._columns)
        self._is_countable = not any(column.is_serial or column.fresh for column in self._columns)
        self._stops: list[tuple[int, RowColumn, int]] = []
        """Rows that are among the last findings: where they begin, and which they are."""
        for column in self._columns:
            if column.shape.verdict.found:
                self._stops += self._collect_late_rows(column)
        self._stops.sort(key=lambda stop: stop[0])

    def reach(self, end: int) -> None:
        """Put everything there that begins before an offset."""
        self._points.waiting.ahead = count_no_rows
        if end <= self._next:
            return
        while self._stops and self._stops[0][0] < end:
            begin, column, number = self._stops.pop(0)
            is_counted_first = isinstance(column.path.reader, FormatReader)
            self._put(begin + 1 if is_counted_first else begin)
            self._find(column, number, begin)
        self._put(end)

    def count_until(self, end: int) -> bool:
        """Let what begins before an offset be counted instead; says whether that is the same.

        It is not where rows hang on those before them, or are the first of their process, and where
        findings of rows are to be kept.
        """
        has_stops = bool(self._stops) and self._stops[0][0] < end
        if has_stops or self._points.is_crowded or not self._is_countable:
            return False
        self._points.waiting.ahead = functools.partial(self._count, end)
        return True

    def _count(self, end: int, where: ProcessId) -> int:
        """Count the records of a process, and those without one, that are not yet put."""
        until, count = self._lines.quick.read_until - self._base, 0
        for column in self._columns:
            start = column.at
            if isinstance(column.path.reader, Layout):
                start = max(start, bisect.bisect_left(column.begins, until))
            stop = bisect.bisect_left(column.begins, end)
            if not column.is_idle and start < stop:
                count += column.count(start, stop, where, self._points)
        return count

    def _put(self, end: int) -> None:
        due = [piece for column in self._columns for piece in column.due(end)]
        self._next = min(column.next() for column in self._columns)
        if not due:
            return
        self._state(due)
        read = [piece for piece in due if not piece[0].is_idle]
        if sum(stop - start for _, start, stop in due) <= _FEW:
            self.put_few(read)
        else:
            for run in _split_into_runs(read):
                (self.put_serial if run[0][0].is_serial else self.put_plain)(run)
        self._advance(read)

    def _advance(self, due: list[Due]) -> None:
        """Note where the last of these rows end that are records of several lines."""
        quick = self._lines.quick
        for column, _, stop in due:
            if column.rows.until is not None:
                end = int(column.rows.until[stop - 1]) + self._base
                quick.read_until = max(quick.read_until, end)

    def _state(self, due: list[Due]) -> None:
        """Take the figures of the machine that rows state."""
        stating = [piece for piece in due if piece[0].shape.verdict.figures]
        phases = {_get_phase(column.shape) for column, _, _ in stating}
        if len(phases) == 1 and "" not in phases:  # the last place of each is kept
            stating = [max(stating, key=lambda piece: piece[0].begins[piece[2] - 1])]
            stating = [(column, stop - 1, stop) for column, _, stop in stating]
        if len(stating) == 1 and self._state_course(*stating[0]):
            return
        rows = sorted(
            (column.begins[row], number, row)
            for number, (column, start, stop) in enumerate(stating)
            for row in range(start, stop)
        )
        for _, number, row in rows:
            column = stating[number][0]
            groups = tuple([group[row] for group in column.rows.groups])
            self._lines.state(column.shape, groups, column.lines[row])

    def _state_course(self, column: RowColumn, start: int, stop: int) -> bool:
        """Take one figure of a course from all rows; says whether that is what they state."""
        (figure, *others), (group, *_) = column.shape.verdict.figures, column.shape.groups
        what = figure.name.partition("_")[2]
        is_course = figure.name == f"machine_{what}" and what in COURSES
        if others or not is_course or group < 0 or figure.before or figure.behind:
            return False
        texts = [text.decode() for text in column.rows.groups[group][start:stop]]
        lines = column.lines[start:stop]
        self._points.result.facts.add_course(what, texts, self._points.source, lines)
        return True

    def _collect_late_rows(self, column: RowColumn) -> list[tuple[int, RowColumn, int]]:
        """Count the findings of rows; gives those that may be among the last of their process."""
        found, counts = [], [0] * len(column.wheres)
        codes = column.codes or [0] * len(column.begins)
        for row in range(len(column.begins) - 1, -1, -1):
            counts[codes[row]] += 1
            if counts[codes[row]] <= LAST:
                found.append((column.begins[row], column, row))
        for groups, count in zip(column.wheres, counts, strict=True):
            where = column.shape.reader.where(groups, self._points)
            for index in column.shape.verdict.found:
                self._lines.findings.count_unseen(index, where, count - min(count, LAST))
        return found

    def _find(self, column: RowColumn, number: int, begin: int) -> None:
        where = column.shape.reader.where(column.row(number), self._points)
        end, line = int(column.rows.ends[number]), column.lines[number]
        row = KnownLine(self._data, begin, end, line, self._base)
        for index in column.shape.verdict.found:
            self._lines.findings.count(index, row, where)
