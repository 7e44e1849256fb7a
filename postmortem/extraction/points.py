"""Put the records of one source into series, counts and places.

In: records one by one, or rows of a learnt template, in the order of the log. Out: the series and
counts of an `Extract`, the same either way. Not here: reading lines (`formats`), templates
(`extraction.template_reader`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.names import IN_LISTS
from postmortem.extraction.extract import Extract, bound_series_points
from postmortem.extraction.facts.columns import Columns, Part, put_parts
from postmortem.extraction.facts.series import Series
from postmortem.extraction.formats.records import Record, RecordLists, RecordRows
from postmortem.extraction.process_registry import ProcessRegistry
from postmortem.extraction.waiting_rows import WaitingRows

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
