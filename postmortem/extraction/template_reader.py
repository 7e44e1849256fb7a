"""Read lines that a learnt template matches, without decoding or searching them.

In: hits of literals in a block, and lines that were read slowly, to learn from. Out: rows for
`Points`, the same as the slow path would have put there. Not here: the templates themselves
(`extraction.learnt_paths`), the slow path (`extraction.metric_lines`).
"""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, NamedTuple

from postmortem.core.lines import ProcessId
from postmortem.core.names import ASSUMED_LOOP
from postmortem.extraction.facts.columns import Columns
from postmortem.extraction.formats.bars import Redraws, RunBar
from postmortem.extraction.formats.learnt_layouts import Layout, LearntFigures
from postmortem.extraction.formats.records import EPOCHS, MetricReader, Record
from postmortem.extraction.formats.templates import LONGEST, PLACES
from postmortem.extraction.formats.unknown import GenericReader
from postmortem.extraction.learnt_paths import LearntPaths, TemplatePath
from postmortem.extraction.points import Points
from postmortem.extraction.process_registry import MOST_PROCESSES
from postmortem.rules.engine import Budget

PYTORCH: Final = "pytorch"
_NO_SERIES: Final = frozenset({"step", "per_epoch", *EPOCHS, *PLACES})


class DrawnRecord(NamedTuple):
    """A record of a format that is drawn again at the same position."""

    reader: MetricReader
    where: ProcessId
    place: tuple[str | None, ...]
    """Epoch and step as printed."""
    line: int
    offset: int
    path: TemplatePath | None
    """Of a line that a template has matched, with its figures."""
    groups: tuple[bytes, ...] = ()
    record: Record | None = None
    """Of any other."""

    def names(self) -> set[str]:
        """Give the names of its figures."""
        if self.record is not None:
            return {name for name, _ in self.record.values}
        names = () if self.path is None else self.path.template.names
        return {name for name in names if name and name not in _NO_SERIES}


class TemplateReader:
    """Reads the lines of one source that are like others before them."""

    def __init__(self, points: Points, generic: GenericReader, bar: RunBar, budget: Budget) -> None:
        """Know no template."""
        self._points, self.generic, self._bar = points, generic, bar
        self.redrawn: Callable[[DrawnRecord], None] = lambda _: None
        """Takes draws of bars of known formats."""
        self.redraws: Redraws[DrawnRecord] = Redraws()
        self.paths = LearntPaths(budget)
        self._late: dict[tuple[int, ProcessId, int], tuple[Layout, Columns | None]] = {}
        """Rows of a layout and a process, as long as the names of the process stay."""
        self._waiting: tuple[Layout, ProcessId, tuple[bytes, ...], int, int] | None = None
        """A line of unknown layout that a template has matched: its process, figures, raw line and
        offset."""
        self.read_until = 0
        """Offset up to which records of several lines have been read."""

    def take(self, opening: int, data: bytes, start: int, base: int, line: int) -> int:
        """Take the line around a literal with a template.

        Gives where it ends, or 0 if there is none for it.
        """
        paths = self.paths
        if not paths.by_literal.get(opening):
            return 0
        low = max(0, start - LONGEST)
        begin = max(data.rfind(b"\n", low, start), data.rfind(b"\r", low, start)) + 1
        if (begin == 0 and low > 0) or paths.takes_none(opening, data, begin):
            return 0
        path = paths.latest.get(opening)  # its template finds the end of the line by itself
        match = path.template.pattern.match(data, begin) if path is not None else None
        if path is None or match is None:
            found = paths.find(opening, data, begin, end_of_line(data, start), path)
            if found is None:
                return 0
            path, match = found
        end = match.end()
        return end if self.taken(path, match.groups(), data, end, (line, begin + base)) else 0

    def taken(
        self,
        path: TemplatePath,
        groups: tuple[bytes, ...],
        data: bytes,
        end: int,
        place: tuple[int, int],
    ) -> bool:
        """Take the figures of a line that a template matches, if it is a metric line."""
        where = path.where(groups, self._points)
        if isinstance(path.reader, MetricReader) and path.reader.redraws:
            self.redraw(path, path.reader, groups, place)
            return True
        if isinstance(path.reader, MetricReader):
            self._add(
                path,
                path.reader,
                where,
                list(map(float, groups)),
                self.bar_step(path, data, end) if path.needs_bar else math.nan,
                place,
            )
            return True
        if path.reader is None or not self.generic.is_known(path.reader, where):
            return False
        self._waiting = (path.reader, where, groups, *place)
        return True

    def settle(self) -> None:
        """Read the line of unknown layout that waits, unless it is part of a longer record."""
        if self._waiting is None:
            return
        (layout, where, groups, line, offset), self._waiting = self._waiting, None
        if offset >= self.read_until:
            for record in self.generic.read_learnt(layout, where, groups, line):
                self.put(record, offset)

    def put(self, found: "tuple[Record, int] | LearntFigures", offset: int) -> None:
        """Put what the generic reader gives into the series."""
        if isinstance(found, LearntFigures):
            rows = self.late_rows(found)
            if rows is not None:
                self._points.total(found.layout.looked.found.record.total)
                self._points.add(rows, found.step, found.values, found.line, offset)
                return
            found = self.generic.settled(found)
        record, line = found
        self._points.record(record, PYTORCH, ASSUMED_LOOP, (line, offset), math.nan, record.units)

    def _add(
        self,
        path: TemplatePath,
        reader: MetricReader,
        where: ProcessId,
        values: list[float],
        bar_step: float,
        place: tuple[int, int],
    ) -> None:
        """Put the figures of a line of a known format into its rows."""
        rows = self.rows_of(path, reader, where)
        self._points.add(rows, select_step(path, values, bar_step), values, *place)

    def redraw(
        self,
        path: TemplatePath,
        reader: MetricReader,
        groups: tuple[bytes, ...],
        place: tuple[int, int],
    ) -> None:
        """Take a draw of a bar of a known format."""
        where = path.where(groups, self._points)
        self.redrawn(build_draw(path, reader, where, groups, place))

    def put_drawn(self, drawn: DrawnRecord, path: TemplatePath) -> None:
        """Put the last draw at a position into its series."""
        values, place = list(map(float, drawn.groups)), (drawn.line, drawn.offset)
        self._add(path, drawn.reader, drawn.where, values, math.nan, place)

    def rows_of(self, path: TemplatePath, reader: MetricReader, where: ProcessId) -> Columns:
        """Give the rows of a process for lines of a known format."""
        rows = path.rows.get(where)
        if rows is None:
            names = [None if name in _NO_SERIES else name for name in path.template.names]
            rows = self._points.columns(
                names, reader.producer, reader.framework or reader.producer, where, reader.units
            )
            path.rows[where] = rows
        return rows

    def bar_step(self, path: TemplatePath, data: bytes, end: int) -> float:
        """Give the step of the bar behind a line."""
        return self._bar.step(
            data, end, self._points.result.total_steps, is_training=path.is_training
        )

    def late_rows(self, late: LearntFigures) -> Columns | None:
        """Give the rows for a line of a layout; None if two of its values have one name."""
        key = (id(late.layout), late.where, self.generic.owners)
        known = self._late.get(key)
        if known is None:
            names = self.generic.names(late.layout, late.where)
            is_apart = len(set(names)) == len(names)
            known = (
                late.layout,
                (
                    self._points.columns(
                        names,
                        PYTORCH,
                        ASSUMED_LOOP,
                        late.where,
                        late.layout.looked.found.record.units,
                    )
                    if is_apart
                    else None
                ),
            )
            if len(self._late) >= MOST_PROCESSES:
                self._late.clear()
            self._late[id(late.layout), late.where, self.generic.owners] = known
        return known[1]


def select_step(path: TemplatePath, values: Sequence[Any], bar_step: Any) -> Any:
    """Give the step of a line of a known format, or those of many from columns of figures."""
    step = values[path.step] if path.step is not None else bar_step
    if path.epochs is not None:
        epoch, length, first = path.epochs
        step = step + (values[epoch] - first) * values[length]
    return step


def build_stream_key(reader: MetricReader, where: ProcessId, points: Points) -> Hashable:
    """Build the key that identifies a bar of a known format."""
    return reader.format.id, points.process(where)


def build_draw(
    path: TemplatePath,
    reader: MetricReader,
    where: ProcessId,
    groups: tuple[bytes, ...],
    place: tuple[int, int],
) -> DrawnRecord:
    """Give a draw of a bar of a known format: its raw line and offset are its place."""
    printed = tuple([None if at is None else groups[at].decode() for at in path.position])
    return DrawnRecord(reader, where, printed, *place, path, groups)


def end_of_line(data: bytes, start: int) -> int:
    """Find where a line or a frame of it ends that is no longer than one with a template."""
    high = start + LONGEST
    end = data.find(b"\n", start, high)
    returned = data.find(b"\r", start, end if end >= 0 else high)
    return returned if returned >= 0 else end if end >= 0 else min(high, len(data))
