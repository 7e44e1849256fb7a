"""Read lines with figures: records of known and unknown formats, table rows, bars, rare records.

In: lines with a literal of a metric; once the source has been read, its lines that recur and its
series. Out: records and rows for `extraction.points`; what is learnt from them goes to
`extraction.template_reader`; series of names that come too seldom to be learnt while the source is
read. Not here: formats (`formats`), names that repeat often (`extraction.literals`).

The scores of an evaluation stand on a few lines of a long log, under names that no list holds; such
lines are kept since they recur (`extraction.kept_lines`).
"""

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.names import LOSS
from postmortem.extraction.cursor import CLAIMED, Cursor
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.series import Series
from postmortem.extraction.formats import tables
from postmortem.extraction.formats.bars import FRAMEWORK, RunBar, UnfinishedBars, is_training
from postmortem.extraction.formats.blocks import FigureEntry, parse_entry, read_block
from postmortem.extraction.formats.generic_reader import GenericReader
from postmortem.extraction.formats.layouts import LearntFigures
from postmortem.extraction.formats.losses import is_plain_loss
from postmortem.extraction.formats.metric_line_parser import parse_metric_line
from postmortem.extraction.formats.records import FormatReader, Record
from postmortem.extraction.kept_lines import MOST_TEXT, RecurringLine, get_wording
from postmortem.extraction.multiline import ArrayLines
from postmortem.extraction.points import MOST_SERIES, Points
from postmortem.extraction.table_rows import TableRows
from postmortem.extraction.template_reader import (
    PYTORCH,
    DrawnRecord,
    TemplateReader,
    build_stream_key,
)
from postmortem.reading.prefixes import clean
from postmortem.reading.windows import View
from postmortem.rules.engine import Budget

_FEW_RECORDS: Final = 2
"""Records of a whole loss before the first bar that carries another one has come to its end."""
_TRAINER: Final = "transformers-trainer"
"""Its records name no step; the bar behind them does."""


class MetricLines:
    """Takes the figures of one source."""

    def __init__(
        self,
        readers: list[FormatReader],
        points: Points,
        cursor: Cursor,
        rows: TableRows,
        arrays: ArrayLines,
        budget: Budget,
    ) -> None:
        """Take the readers of known formats, where points go, and whose lines these are."""
        self._readers, self._points, self._cursor = readers, points, cursor
        self._budget, self._rows, self._arrays = budget, rows, arrays
        self._generic, self._table = GenericReader(self._rename_loss), tables.TableReader()
        self._bar, self._unfinished = RunBar(), UnfinishedBars()
        self.quick = TemplateReader(points, self._generic, self._bar, budget)
        """The templates that have been learnt."""
        self.quick.redrawn = self._take_redrawn
        self._waiting: tuple[View, int, int] | None = None
        """The last line with a metric word that no format has claimed, the offset of its block and
        its first literal."""
        self._ends: dict[Hashable, tuple[int, DrawnRecord]] = {}
        """The last draw of each bar that prints no position, and the line of its first."""
        self._columns: Sequence[str] = ()
        """Of the last line that names some and is the heading of no table."""

    def take(self, index: int, view: View, base: int) -> None:
        """Take what the reader of this index reads on a line."""
        if CLAIMED in view.claimed or self._is_of_array(view, base):
            return
        reader = self._readers[index]
        record = reader.read(view, self._budget, self._columns)
        if record is None:
            return
        view.claimed.add(CLAIMED)
        self.quick.read_until = max(self.quick.read_until, base + _end_of(view, record.lines))
        drawn = DrawnRecord(
            reader, record.where, record.place, view.number, base + view.start, None, (), record
        )
        if reader.framework == FRAMEWORK:
            self._unfinished.end(self._points.process(record.where))
        if reader.redraws:
            self._take_redrawn(drawn)
            self.quick.paths.learn(self._cursor.opening, view, reader)
            return
        needs_bar = math.isnan(record.step) and reader.framework == _TRAINER
        self._record(drawn, self._find_bar_step(record, view) if needs_bar else math.nan)
        self.quick.paths.learn(self._cursor.opening, view, reader, needs_bar=needs_bar)

    def take_row(self, _: int, view: View, base: int) -> None:
        """Take the rows of an HTML table that end on a line."""
        place = (view.number, base + view.start)
        for record in self._table.read(view.cleaned.text, view.cleaned.where):
            self._points.record(
                record,
                tables.TRAINER_PRODUCER,
                tables.TRAINER_PRODUCER,
                place,
                math.nan,
                record.units,
            )

    def let_wait(self, _: int, view: View, base: int) -> None:
        """Take a line with a metric word; it is read once every format has had its chance."""
        if CLAIMED not in view.claimed:
            self._waiting = (view, base, self._cursor.opening)

    def end_line(self) -> None:
        """Read the line that waits, now that every format has had its chance to claim it."""
        self.quick.settle()
        if self._waiting is None:
            return
        (view, base, opening), self._waiting = self._waiting, None
        place = base + view.start
        if CLAIMED in view.claimed or place < self.quick.read_until:
            return
        if self._is_of_array(view, base):
            return
        if self._generic.is_crowded and not self._cursor.admission.may_read(opening, place):
            return
        own = parse_entry(view.cleaned.text)
        for found in self._take_unknown(view, base, own):
            self.quick.put(found, place)
        if own is not None:  # of a longer record, maybe: it has no meaning of its own
            end = max(view.end, self.quick.read_until - base)
            is_record = self._generic.has_read
            self._cursor.shaped.units.note(view.data, base, end, is_record=is_record)
            return
        if self._generic.has_read:
            self.quick.paths.learn(opening, view, None)
        else:
            self._columns = self._rows.begin(view, base) or self._columns
            where = self._points.process(view.cleaned.where)
            self._unfinished.take(view.cleaned.text, where, view.number, place)

    def _is_of_array(self, view: View, base: int) -> bool:
        """Say whether a line belongs to a printed list, which is read as a whole."""
        if self._arrays.takes(view, base):
            view.claimed.add(CLAIMED)
            return True
        return False

    def _take_unknown(
        self, view: View, base: int, own: FigureEntry | None
    ) -> Sequence[tuple[Record, int] | LearntFigures]:
        """Read a line of unknown layout, or the record of several lines that it is a part of."""
        where = self._points.process(view.cleaned.where)
        whole = read_block(view, own, self.quick.read_until - base) if own is not None else None
        if whole is None:
            return self._generic.read(view.cleaned.text, where, view.number)
        self.quick.read_until = max(self.quick.read_until, base + whole.end)
        return self._generic.read_block(whole.text, whole.kind, where, view.number)

    def _rename_loss(self, name: str, where: ProcessId) -> None:
        """Give what was taken for the loss of a process the name that it has beside the loss.

        A whole loss of many records keeps it: the bars of its first epochs would have come before.
        """
        most = _FEW_RECORDS if is_plain_loss(name) else math.inf
        self._points.rename(LOSS, name, PYTORCH, where, most)

    def settle(self) -> None:
        """Take what bars still show; later draws at these positions are passed over."""
        for drawn in self.quick.redraws.rest():
            self._record(drawn)
        self._points.flush()
        alone = not self._points.result.records[self._points.source]
        for record, line, place in self._unfinished.rest(alone=alone):
            self._points.record(record, FRAMEWORK, FRAMEWORK, (line, place), math.nan, record.units)
        offset = self._points.result.last_record.get(self._points.source, (0, 0))[1]
        for found in self._generic.rest():
            self.quick.put(found, offset)

    def _take_redrawn(self, drawn: DrawnRecord) -> None:
        """Take a draw; the record of the position before is certain once the bar has left it."""
        if drawn.place[-1] == "0":  # a bar at 0 still shows what came before it
            return
        stream = build_stream_key(drawn.reader, drawn.where, self._points)
        position = drawn.place if any(drawn.place) else self._find_position(stream, drawn)
        before = self.quick.redraws.take(stream, position, drawn)
        if before is not None:
            self._record(before)

    def _find_position(self, stream: Hashable, drawn: DrawnRecord) -> int:
        """Give the line of a bar at its end that prints no position of the run.

        It is drawn there again, or once more on the next line, with further figures.
        """
        before = self._ends.get(stream)
        is_again = before is not None and _is_drawn_again(before[1], drawn)
        position = before[0] if before is not None and is_again else drawn.line
        self._ends[stream] = (position, drawn)
        return position

    def _find_bar_step(self, record: Record, view: View) -> float:
        return self._bar.step(
            view.data,
            view.end,
            self._points.result.total_steps,
            is_training=is_training(dict(record.values)),
        )

    def _record(self, drawn: DrawnRecord, bar_step: float = math.nan) -> None:
        reader = drawn.reader
        if drawn.record is None:
            if drawn.path is not None:
                self.quick.put_drawn(drawn, drawn.path)
            return
        self._points.record(
            drawn.record,
            reader.producer,
            reader.framework or reader.producer,
            (drawn.line, drawn.offset),
            bar_step,
            reader.units,
        )


def _is_drawn_again(before: DrawnRecord, drawn: DrawnRecord) -> bool:
    """Say whether a bar at its end is that of the draw before."""
    if drawn.line == before.line:
        return True
    return drawn.line == before.line + 1 and drawn.names() > before.names()


def _end_of(view: View, lines: int) -> int:
    """Find where a record of several lines ends."""
    end = view.end
    for _ in range(lines - 1):
        end = view.data.find(b"\n", end + 1)
        if end < 0:
            return len(view.data)
    return end


_FEWEST_RECORDS: Final = 3
"""Records of a wording."""
_MOST_WORDINGS: Final = 400
"""Wordings of a source that are looked at, those that come first."""
_MOST_LINES: Final = 4000


def add_rare_records(extract: Extract) -> None:
    """Add series of names that a source with records has none of so far."""
    for source, lines in extract.recurring.items():
        every = [curve for curve in extract.series.values() if curve.source == source]
        if every:
            _add_rare_record(extract, source, every, lines)


def _add_rare_record(
    extract: Extract, source: int, every: Sequence[Series], lines: Iterable[RecurringLine]
) -> None:
    """Add what is found on the unread lines of one source."""
    known, processes = {curve.name for curve in every}, {curve.where for curve in every}
    found = defaultdict[tuple[str, ProcessId], list[tuple[float, float, int]]](list)
    for record, where, line in _iter_records(_list_unread(lines, every, known), processes):
        for name, value in record.values:
            if name not in known and name != names.EPOCH:
                found[name, where].append((record.step, value, line))
    for (name, where), points in found.items():
        if len(points) >= _FEWEST_RECORDS and len(extract.series) < MOST_SERIES:
            series = Series(name, PYTORCH, source, where)
            for point in points:
                series.append(*point)
            series.settle()
            extract.series[name, PYTORCH, source, where] = series


def _iter_records(
    lines: Iterable[RecurringLine], processes: Collection[ProcessId]
) -> Iterator[tuple[Record, ProcessId, int]]:
    """Yield the records on some lines with their processes, known ones, and raw lines.

    A line that names no process is of the only one.
    """
    reader = GenericReader()
    only = next(iter(processes)) if len(processes) == 1 else NOWHERE
    for line in lines:
        cleaned = clean(line.text)
        where = only if cleaned.where == NOWHERE else cleaned.where
        for settled in reader.read(cleaned.text, cleaned.where, line.line):
            if where in processes and not isinstance(settled, LearntFigures):
                yield settled[0], where, settled[1]


def _list_unread(
    lines: Iterable[RecurringLine], every: Iterable[Series], known: set[str]
) -> list[RecurringLine]:
    """List the lines of wordings none of which has been read and whose first holds a new name."""
    groups = _group_by_wording(lines)
    kept = {line.line for group in groups for line in group}
    read = {line for curve in every for line in kept.intersection(curve.lines)}
    seldom = [group for group in groups if read.isdisjoint(line.line for line in group)]
    chosen = [
        line
        for group in seldom[:_MOST_WORDINGS]
        if _has_new_name(group[0], known)
        for line in group
    ]
    return sorted(chosen)[:_MOST_LINES]


def _group_by_wording(lines: Iterable[RecurringLine]) -> list[list[RecurringLine]]:
    """Group the lines that are kept whole by their wordings, those that come often enough."""
    groups: dict[bytes, list[RecurringLine]] = defaultdict(list)
    for line in lines:
        if not line.is_frequent and len(line.text) < MOST_TEXT:
            groups[get_wording(line.text)].append(line)
    return [group for group in groups.values() if len(group) >= _FEWEST_RECORDS]


def _has_new_name(line: RecurringLine, known: set[str]) -> bool:
    """Say whether a line holds a figure of a name that is not known; a bar's have been read."""
    looked = parse_metric_line(clean(line.text).text)
    if looked is None or looked.bar is not None:
        return False
    return any(name not in known for name, _ in looked.found.record.values)
