"""Put the records of one source into series, counts and places, one by one or many rows at once.

In: records, or rows (step, values, raw line) of a learnt template, in the order of the log. Out:
the series and counts of an `Extract`, the same either way. Not here: reading lines (`formats`),
templates (`extraction.template_reader`).
"""

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from postmortem.core.findings import NOWHERE, ProcessId, ProcessRegistry
from postmortem.core.names import IN_LISTS
from postmortem.extraction.extract import Extract, bound_series_points
from postmortem.extraction.facts.series import Series
from postmortem.extraction.formats.records import Record, RecordLists, RecordRows

if TYPE_CHECKING:
    import numpy as np


class Part(NamedTuple):
    """Rows of one process that go into its series at once."""

    columns: "Columns"
    keys: "np.ndarray[Any, Any]"
    """Offsets, by which rows of several kinds are put in order."""
    steps: "np.ndarray[Any, Any]"
    values: "list[np.ndarray[Any, Any]]"
    """By column."""
    lines: "np.ndarray[Any, Any]"

    def ends(self, base: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Give raw line and byte offset of the first row and the last; keys count from `base`."""
        first, last = ((int(self.lines[row]), int(self.keys[row]) + base) for row in (0, -1))
        return first, last


class Columns:
    """The waiting rows of one template; a column without a series is dropped."""

    __slots__ = (
        "_lines",
        "_steps",
        "_values",
        "first",
        "framework",
        "is_lost",
        "is_waiting",
        "last",
        "series",
        "unkept",
        "where",
    )

    def __init__(
        self, series: Sequence[Series | None], framework: str, where: ProcessId, unkept: int = 0
    ) -> None:
        """One series for each column.

        The framework and the process that print the rows, and how many columns had to be left out.
        """
        self.series, self.framework, self.where, self.unkept = series, framework, where, unkept
        self.is_lost = unkept > 0 and not any(curve is not None for curve in series)
        """Whether there is no series for any of the columns."""
        self.is_waiting = False
        """True from the first row until they are flushed."""
        self.first = self.last = (0, 0)
        """(raw line, byte offset) of the first and last waiting row."""
        self._steps, self._values, self._lines = array("d"), array("d"), array("q")

    def __len__(self) -> int:
        """Count the waiting rows."""
        return len(self._lines)

    def add(self, step: float, values: Sequence[float], line: int, offset: int) -> None:
        """Add a row."""
        self.last = (line, offset)
        if not self._lines:
            self.first = self.last
        self._steps.append(step)
        self._values.extend(values)
        self._lines.append(line)

    def flush(self) -> None:
        """Put the rows into their series."""
        self.is_waiting = False
        width = len(self.series)
        for column, series in enumerate(self.series):
            if series is not None:
                series.append_many(self._steps, self._values[column::width], self._lines)
        self._steps, self._values, self._lines = array("d"), array("d"), array("q")


def put_parts(parts: Sequence[Part]) -> None:
    """Put rows into their series, those of one series in the order of their keys."""
    import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

    of_series: dict[int, list[tuple[Series, Part, np.ndarray[Any, Any]]]] = {}
    for part in parts:
        for series, values in zip(part.columns.series, part.values, strict=True):
            if series is not None:
                of_series.setdefault(id(series), []).append((series, part, values))
    for parts_of_series in of_series.values():
        columns = [
            [part.keys for _, part, _ in parts_of_series],
            [part.steps for _, part, _ in parts_of_series],
            [values for _, _, values in parts_of_series],
            [part.lines for _, part, _ in parts_of_series],
        ]
        keys, steps, values, lines = (
            column[0] if len(parts_of_series) == 1 else np.concatenate(column) for column in columns
        )
        if len(parts_of_series) > 1:
            order = np.argsort(keys, kind="stable")
            steps, values, lines = steps[order], values[order], lines[order]
        parts_of_series[0][0].append_many(
            array("d", steps.tobytes()), array("d", values.tobytes()), array("q", lines.tobytes())
        )


def count_no_rows(_: ProcessId) -> int:
    """Count no rows."""
    return 0


class WaitingRows:
    """The columns of one source that have rows which wait."""

    def __init__(self, note: Callable[[Columns], None]) -> None:
        """Store the callback for rows that are about to go into their series."""
        self._note = note
        self._waiting: dict[ProcessId, dict[int, Columns]] = {}
        """By process."""
        self._writers: dict[int, Columns] = {}
        """The rows that wait for each series."""
        self.count = 0
        """How many rows wait; whoever adds one counts it."""
        self.ahead: Callable[[ProcessId], int] = count_no_rows
        """Counts rows of a process that are given after the line that is read but stand before."""

    def let_wait(self, rows: Columns) -> None:
        """Let rows wait; others that share a series with them go first, so that order is kept."""
        for series in rows.series:
            if series is not None:
                other = self._writers.get(id(series))
                if other is not None and other is not rows:
                    self._flush(other)
                self._writers[id(series)] = rows
        self._waiting.setdefault(rows.where, {})[id(rows)] = rows
        rows.is_waiting = True

    def flush(self) -> None:
        """Put all waiting rows into their series."""
        if self._waiting:
            for of_process in self._waiting.values():
                for rows in of_process.values():
                    self._flush(rows)
            self._waiting.clear()
            self._writers.clear()

    def count_records_of(self, where: ProcessId) -> int:
        """Count the waiting rows of a process: its own and unlabelled ones."""
        ahead = self.ahead(where)
        if where == NOWHERE:  # all of them do
            return ahead + self.count
        waiting = [self._waiting.get(place, {}).values() for place in (where, NOWHERE)]
        return ahead + sum(len(rows) for of_process in waiting for rows in of_process)

    def _flush(self, rows: Columns) -> None:
        if rows.is_waiting:
            self.count -= len(rows)
            self._note(rows)
            rows.flush()


MOST_SERIES: Final = 5000
MOST_POINTS: Final = 2_000_000
"""Kept points of all series together (24 bytes each); beyond, the longest are thinned before they
reach EXACT."""

Place = tuple[int, int]
"""Raw line and byte offset."""


class Points:
    """Puts what one source prints into its series."""

    def __init__(self, result: Extract, source: int, where: ProcessId) -> None:
        """Start empty; `where` is the process in the file's name, for lines without a label."""
        self.result, self.source = result, source
        result.records[source] = 0
        self.is_crowded = False
        """Whether the source names more processes or metrics than are kept."""
        self.lost = 0
        """Rows of which nothing is kept for their process, since somebody has set it to 0."""
        self.processes = ProcessRegistry(where)
        self.waiting = WaitingRows(self._note_rows)
        self.count = 0
        """Points of all series."""

    def process(self, where: ProcessId) -> ProcessId:
        """Give the process that a line counts for."""
        process = self.processes.process(where)
        if self.processes.strangers:
            self._meet_strangers()
        return process

    def stranger(self) -> ProcessId:
        """Give the process that stands for all those beyond the limit."""
        process = self.processes.stranger()
        self._meet_strangers()
        return process

    def columns(
        self,
        names: Sequence[str | None],
        producer: str,
        framework: str,
        where: ProcessId,
        units: Mapping[str, str],
    ) -> Columns:
        """Give columns for rows of these figures of a process; None is a figure of no series."""
        where = self.process(where)
        series = [
            None if name is None else self._get_series(name, producer, where, units)
            for name in names
        ]
        unkept = sum(
            name is not None and curve is None for name, curve in zip(names, series, strict=True)
        )
        return Columns(series, framework, where, unkept)

    def add(
        self, rows: Columns, step: float, values: Sequence[float], line: int, offset: int
    ) -> None:
        """Take a row; it goes into its series with others at once."""
        if not rows.is_waiting:
            self.waiting.let_wait(rows)
        rows.add(step, values, line, offset)
        if rows.is_lost:
            self.lost += 1
        self.waiting.count += 1
        self.count += len(values)
        if self.count > MOST_POINTS:
            self._thin()

    def add_parts(self, parts: Sequence[Part], base: int) -> None:
        """Take many rows of several kinds; their keys are offsets from `base`."""
        self.flush()
        put_parts(parts)
        for part in parts:
            columns, count = part.columns, len(part.keys)
            self._note(columns.framework, columns.where, count, *part.ends(base))
            self.result.unkept += columns.unkept * count
            self.count += count * len(part.values)

    def has_room(self, figures: int) -> bool:
        """Say whether so many figures may be added before the longest series are thinned."""
        return self.count + figures <= MOST_POINTS

    def record(
        self,
        record: Record,
        producer: str,
        framework: str,
        place: Place,
        bar_step: float,
        units: Mapping[str, str],
    ) -> None:
        """Store a record; its step may come from a bar."""
        step = bar_step if math.isnan(record.step) else record.step
        where = self.process(record.where)
        self.total(record.total)
        self.flush()
        for name, value in record.values:
            series = self._get_series(name, producer, where, units)
            if series is None:
                self.result.unkept += 1
            else:
                series.append(step, value, place[0])
        self.count += len(record.values)
        self._thin()
        self._note(framework, where, 1, place, place)

    def rename(
        self, name: str, other: str, producer: str, where: ProcessId, most: float = math.inf
    ) -> None:
        """Give the series of a name another one: its points were not what it was taken for.

        One of more than `most` points keeps its own.
        """
        self.flush()
        where = self.process(where)
        key, new = (name, producer, self.source, where), (other, producer, self.source, where)
        old = self.result.series.get(key)
        if old is not None and old.points <= most and new not in self.result.series:
            series = self.result.series[new] = self.result.series.pop(key)
            series.name = other

    def record_rows(self, rows: RecordRows, producer: str, framework: str) -> None:
        """Store records of a file that hold the same figures."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        if not self.has_room(len(rows.steps) * len(rows.names)):
            for record, line in rows.iter_records():
                self.record(record, producer, framework, (line, line), math.nan, {})
            return
        lines = np.arange(rows.first, rows.first + len(rows.steps))
        columns = self.columns(rows.names, producer, framework, NOWHERE, {})
        figures = [np.array(column) for column in rows.values]
        self.add_parts([Part(columns, lines, np.array(rows.steps), figures, lines)], 0)

    def record_lists(self, lists: RecordLists, framework: str) -> None:
        """Store records whose figures are held in lists."""
        where = self.process(lists.where)
        self.flush()
        for curve in lists.curves:
            series = self._get_series(curve.name, IN_LISTS, where, {})
            if series is not None:
                series.append_many(*curve.columns())
            self.result.unkept += (series is None) * len(curve.values)
            self.count += len(curve.values)
        self._thin()
        self._note(framework, where, lists.count_records(), *lists.find_ends())

    def total(self, steps: float) -> None:
        """Take note of the last step of the run, where it is printed."""
        if not math.isnan(steps):
            self.result.total_steps = steps

    def flush(self) -> None:
        """Put all waiting rows into their series."""
        self.waiting.flush()

    def count_records_of(self, where: ProcessId) -> int:
        """Count the records of a process, those that wait included."""
        return self.result.count_records_of(self.source, where) + self.waiting.count_records_of(
            where
        )

    def recognise(self, framework: str, count: int = 1) -> None:
        """Count lines of a framework; a tracker's file names none."""
        if not framework:
            return
        lines = self.result.facts.framework_lines
        lines[framework] = lines.get(framework, 0) + count

    def _meet_strangers(self) -> None:
        self.is_crowded = True
        self.lost += self.processes.strangers
        self.processes.strangers = 0

    def _note_rows(self, rows: Columns) -> None:
        self._note(rows.framework, rows.where, len(rows), rows.first, rows.last)
        self.result.unkept += rows.unkept * len(rows)

    def _note(
        self, framework: str, where: ProcessId, count: int, first: Place, last: Place
    ) -> None:
        source, result = self.source, self.result
        result.records[source] += count
        result.records_of[source, where] = result.records_of.get((source, where), 0) + count
        result.last_record[source] = max(result.last_record.get(source, (0, 0)), last)
        result.first_record[source] = min(result.first_record.get(source, first), first)
        self.recognise(framework, count)

    def _get_series(
        self, name: str, producer: str, where: ProcessId, units: Mapping[str, str]
    ) -> Series | None:
        key, unit = (name, producer, self.source, where), units.get(name, "")
        series = self.result.series.get(key)
        if series is not None:
            series.is_in(unit)
        elif len(self.result.series) < MOST_SERIES:
            series = self.result.series[key] = Series(name, producer, self.source, where, unit)
        else:
            self.is_crowded = True
        return series

    def _thin(self) -> None:
        """Thin the longest series if all of them together have become too long."""
        if self.count > MOST_POINTS:
            self.flush()
            self.count = bound_series_points(self.result.series.values(), MOST_POINTS)
