"""One pass over the blocks of a source: what is printed becomes findings, tracebacks, series and facts, in bounded memory.

In: `Block`s of one source. Out: `Gathered`. `feed`, `snapshot` and `merge` make it a mergeable state: a growing file, many files and block
borders are all the same to it.
Not here: reading files (`reading`), weighing what was found (`inference`).

Only lines with a literal of some rule in them are looked at. Of each (signature, process) the first FIRST and last LAST findings are kept.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from postmortem.facts.columns import Columns
from postmortem.facts.series import Series
from postmortem.formats import table
from postmortem.formats.bars import Redraws, RunBar, is_training
from postmortem.formats.generic import GenericReader
from postmortem.formats.records import EPOCHS, MetricReader, Record, Template
from postmortem.gathered import FIRST, LAST, Gathered, Kept, Seen
from postmortem.knowledge.base import Format, Signature
from postmortem.knowledge.engine import A_SOURCE, Budget, Match
from postmortem.literals import Machine
from postmortem.model.findings import Finding, Traceback
from postmortem.model.lines import NOWHERE, Where
from postmortem.model.said import cut
from postmortem.reading.blocks import Block
from postmortem.reading.prefixes import Cleaned
from postmortem.reading.windows import View
from postmortem.signatures import traceback

_MOST_PROCESSES: Final = 4096
_MOST_SERIES: Final = 5000
_MOST_POINTS: Final = 2_000_000
"""Kept points of all series together (24 bytes each); beyond, the longest is thinned before it reaches EXACT."""
_MOST_TEMPLATES: Final = 6
_MOST_STAMPS: Final = 100
_MOST_TEXT: Final = 1000
_CONTEXT: Final = 3000


class _FastPath(NamedTuple):
    template: Template
    rows: Columns
    """A column for each group; none for the step."""
    step_group: int | None
    epochs: tuple[int, int, float] | None
    """Groups of the epoch and of its length, and the number of the first epoch, where the step is counted anew in each."""
    framework: str
    where: Where
    needs_bar: bool
    is_training: bool


class _Drawn(NamedTuple):
    """A record of a format that is drawn again at the same position."""

    record: Record
    reader: MetricReader
    line: int
    offset: int


class Gathering:
    """Gathers from one source."""

    def __init__(self, machine: Machine, source: int, where: Where = NOWHERE, *, srun: bool = False, breaks_by_return: bool = False, budget: Budget | None = None) -> None:
        """Start at the first line. `where` is the process that the file's name tells, for lines that say nothing; `budget` is the whole job's."""
        self.machine, self.source, self.where, self.srun = machine, source, where, srun
        self.result = Gathered()
        self.result.records[source] = 0
        self._break = b"\r" if breaks_by_return else b"\n"
        self._budget = Budget(A_SOURCE, budget)
        self.line = 1
        self._generic = GenericReader()
        self._table = table.TableReader()
        self._redraws: Redraws[_Drawn] = Redraws()
        self._bar = RunBar()
        self._waiting: tuple[View, int] | None = None
        self._open: tuple[View | None, int] = (None, 0)
        """The last window that was looked at, and the offset of its block."""
        self._covered = -1
        """Offset up to which it reaches."""
        self._read_until = 0
        """Offset up to which records of several lines have been read."""
        self._framed_until = 0
        """Offset up to which frames belong to a traceback that has been read."""
        self._opening = -1
        """The first literal of the line being looked at: what a fast path is found by."""
        self._fast: dict[int, list[_FastPath]] = {}
        self._waiting_rows: list[_FastPath] = []
        self._processes: set[Where] = set()
        self._takers: dict[str, Callable[[int, View, int], None]] = {
            "signature": lambda index, view, base: self._signature(machine.signatures[index], view, base),
            "metric": lambda index, view, base: self._metric(machine.metrics[index], view, base),
            "fact": lambda index, view, _: self._fact(machine.facts[index], view),
            "traceback": lambda _, view, base: self._traceback(view, base),
            "frame": lambda _, view, base: self._frame(view, base),
            "table": lambda _, view, base: self._table_line(view, base),
            "generic": lambda _, view, base: self._keep_waiting(view, base),
        }
        self._head = self._tail = b""
        self._points = 0
        self._ends_with_break = True

    def feed(self, block: Block) -> None:
        """Look at the fresh region of a block."""
        data, position, base = block.data, block.lo, block.offset
        count, consumers, fast_paths = data.count, self.machine.consumers, self._fast
        (view, view_base), covered = self._open, self._covered - base     # a line may go on behind a block's border
        for number, start in self.machine.filter.hits(data, block.lo, block.hi):
            if start < covered:
                if view is None and self.machine.is_more_than_metric[number]:
                    view, view_base = self._claimed_view(data, start), base
                if view is not None:
                    self._dispatch(consumers[number], view, view_base)
                continue
            self.line += count(self._break, position, start)
            position = max(position, start)
            if number in fast_paths and (end := self._take_fast(fast_paths[number], data, start, base)):
                self._generic_line()
                covered, view_base = end, base
                view = self._claimed_view(data, start) if self.machine.is_more_than_metric[number] else None
                if view is not None:
                    self._dispatch(consumers[number], view, base)
                continue
            self._generic_line()
            view, view_base, self._opening = View(data, start, self.line, srun=self.srun), base, number
            covered = max(view.end, start + 1)
            self._dispatch(consumers[number], view, base)
        self._open, self._covered = (view, view_base), covered + base
        if covered <= block.hi:
            self._generic_line()
        self._flush_rows()
        self.line += count(self._break, position, block.hi)
        if len(self._head) < _CONTEXT * 2:
            self._head += data[block.lo:min(block.hi, block.lo + _CONTEXT * 2)]
        self._tail = (self._tail + data[max(block.lo, block.hi - _CONTEXT * 2):block.hi])[-_CONTEXT * 2:]
        if block.hi > block.lo:
            self._ends_with_break = data[block.hi - 1:block.hi] == self._break

    def take_state(self, records: Iterable[tuple[Record, int]], producer: str = "transformers-trainer") -> None:
        """Take the records of a metrics file that has been read by a reader of its own."""
        for record, line in records:
            self._record(record, producer, line, line, math.nan, None)

    def snapshot(self) -> Gathered:
        """Give what was gathered so far."""
        result = self.result
        for drawn in self._redraws.rest():
            self._record(drawn.record, drawn.reader.producer, drawn.line, drawn.offset, math.nan, drawn.reader)
        for record, line in self._generic.rest():
            self._record(record, "pytorch", line, result.last_record.get(self.source, (0, 0))[1], math.nan, None)
        for series in result.series.values():
            series.settle()
        for kept in result.findings.values():
            kept.settle()
        result.lines[self.source] = self.line - (1 if self._ends_with_break else 0)
        tail = self._tail
        result.heads[self.source] = self._head[:_CONTEXT * 2].decode("utf-8", "replace")
        result.tails[self.source] = (self.line - tail.count(self._break), tail.decode("utf-8", "replace"))
        return result

    def _claimed_view(self, data: bytes, start: int) -> View:
        """Look at a line whose figures are read already."""
        view = View(data, start, self.line, srun=self.srun)
        view.claimed.add(_CLAIMED)
        return view

    # -- one line ---------------------------------------------------------------------------------------------------

    def _dispatch(self, wanted: list[tuple[str, int]], view: View, base: int) -> None:
        for kind, index in wanted:
            key = hash((kind, index))
            if key in view.claimed:
                continue
            view.claimed.add(key)
            try:
                self._takers[kind](index, view, base)
            except TimeoutError:
                self.result.timeouts += 1

    def _keep_waiting(self, view: View, base: int) -> None:
        if _CLAIMED not in view.claimed:
            self._waiting = (view, base)

    def _process(self, where: Where) -> Where:
        """Fill in what the file's name tells; bound the number of processes that a hostile log can invent."""
        if self.where != NOWHERE:
            where = where.filled(self.where)
        if where not in self._processes:
            if len(self._processes) >= _MOST_PROCESSES:
                return self.where
            self._processes.add(where)
        return where

    def _signature(self, rule: Signature, view: View, base: int) -> None:
        cleaned = view.cleaned
        text = cleaned.text if rule.lines == 1 else "\n".join(view.following(rule.lines))
        match = rule.search(text, self._budget)
        if match is None:
            return
        self._flush_rows()
        where = self._process(cleaned.where)
        kept = self.result.findings.setdefault((rule.id, self.source, where), Kept())
        if len(kept.first) >= FIRST and kept.count > FIRST + LAST and kept.last_line == view.number:
            kept.count += 1
            return
        is_new = rule.fatal and len(kept.first) < 2
        context = view.around(_CONTEXT, self._break) if is_new else (0, "")
        if is_new:
            self._stamp(view, base)
        before = self.result.records_beside(self.source, where)
        kept.add_later(functools.partial(_seen, rule, self.source, where, view.number, base + view.start, text, match, cleaned, before, context), view.number)

    def _stamp(self, view: View, base: int) -> None:
        """Keep the printed time nearest to a failure: over files, failures are ordered by it."""
        if len(kept := self.result.stamps.setdefault(self.source, [])) < _MOST_STAMPS and (found := view.stamp()):
            kept.append((base + found[0], found[1]))

    def _traceback(self, view: View, base: int) -> None:
        found = traceback.read(view, self.source, base)
        if found is not None:
            self._framed_until = max(self._framed_until, found.end_offset)
            self._keep(found, view, base)

    def _frame(self, view: View, base: int) -> None:
        """Read the traceback of a paste that begins below its first line."""
        if base + view.start < self._framed_until:
            return
        found, self._framed_until = traceback.read_headless(view, self.source, base)
        if found is not None:
            self._keep(found, view, base)

    def _keep(self, found: Traceback, view: View, base: int) -> None:
        self._flush_rows()
        self._stamp(view, base)
        self.result.traceback_count += 1
        if len(self.result.tracebacks) >= 10 * (FIRST + LAST):
            del self.result.tracebacks[5 * FIRST]
        where = self._process(found.where)
        if where != found.where:
            found = dataclasses.replace(found, where=where)
        self.result.tracebacks.append((found, self.result.records_beside(self.source, where)))

    def _fact(self, rule: Format, view: View) -> None:
        text = "\n".join(view.following(int(rule.raw.get("lines", 1))))
        matches = rule.finditer(text, self._budget) if rule.raw.get("each") else filter(None, [rule.search(text, self._budget)])
        strength = int(rule.raw.get("strength", 1))
        for match in matches:
            groups = {name: value for name, value in match.groupdict().items() if value is not None}
            if "package" in groups and "version" in groups:
                groups[f"package_{groups.pop('package').lower().replace('-', '_')}"] = groups.pop("version")
            for name, value in (*groups.items(), *(rule.raw.get("set") or {}).items()):
                if name == "total_steps" and value.replace(",", "").isdigit():
                    self.result.total_steps = float(value.replace(",", ""))
                self.result.facts.add(name, value, strength, self.source, view.number, view.cleaned.time)
            if rule.framework:
                self._recognise(rule.framework)

    def _recognise(self, framework: str, count: int = 1) -> None:
        lines = self.result.facts.framework_lines
        lines[framework] = lines.get(framework, 0) + count

    # -- metrics ----------------------------------------------------------------------------------------------------

    def _metric(self, reader: MetricReader, view: View, base: int) -> None:
        if _CLAIMED in view.claimed:
            return
        record = reader.read(view, self._budget)
        if record is None:
            return
        view.claimed.add(_CLAIMED)
        self._read_until = max(self._read_until, base + _end_of(view, record.lines))
        offset = base + view.start
        if reader.redraws:
            drawn = None if record.place[-1] == "0" else self._redraws.take((reader.format.id, record.where), record.place, _Drawn(record, reader, view.number, offset))
            if drawn is not None:     # a bar at 0 still shows what came before it
                self._record(drawn.record, reader.producer, drawn.line, drawn.offset, math.nan, reader)
            return
        needs_bar = math.isnan(record.step) and reader.framework == "transformers-trainer"
        step = self._bar.step(view.data, view.end, self.result.total_steps, is_training=is_training(dict(record.values))) if needs_bar else math.nan
        self._record(record, reader.producer, view.number, offset, step, reader)
        if len(self._fast.setdefault(self._opening, [])) < _MOST_TEMPLATES:
            self._learn(reader, view, needs_bar=needs_bar)

    def _learn(self, reader: MetricReader, view: View, *, needs_bar: bool) -> None:
        template, known = reader.learn(view, self._budget), self._fast[self._opening]
        if template is None or any(path.template.pattern.pattern == template.pattern.pattern for path in known):
            return
        producer, where = reader.producer, self._process(template.where)
        names = template.names
        columns = tuple(None if name in _NO_SERIES else self._series(name, producer, where, reader.units) for name in names)
        step_group = names.index("step") if "step" in names else None
        epochs = next(((names.index(name), names.index("per_epoch"), first) for name, first in EPOCHS.items() if name in names and "per_epoch" in names), None)
        known.append(_FastPath(template, Columns(columns), step_group, epochs, reader.framework or producer, where, needs_bar, is_training(names)))

    def _take_fast(self, paths: list[_FastPath], data: bytes, start: int, base: int) -> int:
        """Take the line with a learnt template; gives where it ends, or 0."""
        begin = data.rfind(b"\n", max(0, start - 1000), start) + 1
        for path in paths:
            match = path.template.pattern.match(data, begin)
            if match is None or match.end() <= start:
                continue
            values = list(map(float, match.groups()))
            step = values[path.step_group] if path.step_group is not None else math.nan
            if path.needs_bar:
                step = self._bar.step(data, match.end(), self.result.total_steps, is_training=path.is_training)
            if path.epochs is not None:
                epoch, length, first = path.epochs
                step += (values[epoch] - first) * values[length]
            if not path.rows.is_waiting:
                self._let_wait(path)
            path.rows.add(step, values, self.line, start + base)
            self._points += len(values)
            if self._points > _MOST_POINTS:
                self._bound_points()
            return match.end()
        return 0

    def _let_wait(self, path: _FastPath) -> None:
        """Let the rows of a template wait; those of others that share a series with it go first, so that order is kept."""
        for other in [other for other in self._waiting_rows if other.rows.shares_with(path.rows)]:
            self._waiting_rows.remove(other)
            self._flush(other)
        self._waiting_rows.append(path)
        path.rows.is_waiting = True

    def _flush_rows(self) -> None:
        for path in self._waiting_rows:
            self._flush(path)
        self._waiting_rows.clear()

    def _flush(self, path: _FastPath) -> None:
        rows = path.rows
        self._count_records(path.framework, path.where, len(rows), rows.first, rows.last)
        rows.flush()

    def _generic_line(self) -> None:
        """Read the last line with a metric word, now that every format has had its chance to claim it."""
        (view, base), self._waiting = self._waiting or (None, 0), None
        if view is None or _CLAIMED in view.claimed or base + view.start < self._read_until:
            return
        for record, line in self._generic.read(view.cleaned.text, view.cleaned.where, view.number):
            self._record(record, "pytorch", line, base + view.start, math.nan, None)

    def _table_line(self, view: View, base: int) -> None:
        for record in self._table.read(view.cleaned.text, view.cleaned.where):
            self._record(record, table.PRODUCER, view.number, base + view.start, math.nan, None)

    def _record(self, record: Record, producer: str, line: int, offset: int, bar_step: float, reader: MetricReader | None) -> None:
        step = bar_step if math.isnan(record.step) else record.step
        where = self._process(record.where)
        if not math.isnan(record.total):
            self.result.total_steps = record.total
        if self._waiting_rows:
            self._flush_rows()
        units = reader.units if reader is not None else record.units
        for name, value in record.values:
            series = self._series(name, producer, where, units)
            if series is not None:
                series.append(step, value, line)
                series.is_in(units.get(name, ""))
        self._points += len(record.values)
        if self._points > _MOST_POINTS:
            self._bound_points()
        self._count_records((reader.framework if reader is not None else "") or producer, where, 1, (line, offset), (line, offset))

    def _count_records(self, framework: str, where: Where, count: int, first: tuple[int, int], last: tuple[int, int]) -> None:
        source, result = self.source, self.result
        result.records[source] += count
        result.records_of[source, where] = result.records_of.get((source, where), 0) + count
        result.last_record[source] = max(result.last_record.get(source, (0, 0)), last)
        result.first_record[source] = min(result.first_record.get(source, first), first)
        self._recognise(framework, count)

    def _series(self, name: str, producer: str, where: Where, units: Mapping[str, str]) -> Series | None:
        key = (name, producer, self.source, where)
        series = self.result.series.get(key)
        if series is None and len(self.result.series) < _MOST_SERIES:
            series = self.result.series[key] = Series(name, producer, self.source, where, units.get(name, ""))
        return series

    def _bound_points(self) -> None:
        """Thin the longest series when all of them together have become too long."""
        self._flush_rows()
        self._points = sum(len(series.values) for series in self.result.series.values())
        if self._points > _MOST_POINTS:
            longest = max(self.result.series.values(), key=lambda series: len(series.values))
            self._points -= len(longest.values)
            longest.thin()
            self._points += len(longest.values)


_NO_SERIES: Final = frozenset({"step", "per_epoch", *EPOCHS})


def _end_of(view: View, lines: int) -> int:
    """Find where a record of several lines ends."""
    end = view.end
    for _ in range(lines - 1):
        end = view.data.find(b"\n", end + 1)
        if end < 0:
            return len(view.data)
    return end


_CLAIMED: Final = hash(("claimed",))


def _seen(
    rule: Signature, source: int, where: Where, line: int, offset: int, text: str, match: Match, cleaned: Cleaned, before: int, context: tuple[int, str],
) -> Seen:
    """Make the finding of a match; holds no part of a block."""
    end_line = line + text.count("\n", 0, match.end()) if rule.lines > 1 else line
    captures = tuple((name, value) for name, value in match.groupdict().items() if value is not None)
    shown = cut(text if len(text) <= _MOST_TEXT else text[max(0, match.start() - 200):], _MOST_TEXT)
    return Seen(Finding(rule.id, rule.role, source, where, line, end_line, offset, shown.strip(), captures, cleaned.time, level=cleaned.level), before, context)
