"""Extract findings, tracebacks, series and facts from one source, in bounded memory.

In: `Block`s of one source. Out: `Extract`. `feed`, `snapshot` and `merge` make it a mergeable
state: a growing file, many files and block borders are all the same to it. Not here: reading files
(`reading`), weighing what was found (`inference`).

Only lines with a literal of some rule in them are looked at, by whoever takes lines of its kind.
"""

import math
from collections.abc import Callable, Iterable, Mapping

from postmortem.core import names
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.extraction.array_lines import ArrayLines
from postmortem.extraction.columnar.cut_regions import CutRegions
from postmortem.extraction.columnar.line_literals import LineLiterals
from postmortem.extraction.columnar.line_shapes import LineShapes
from postmortem.extraction.columnar.record_units import RecordUnits
from postmortem.extraction.columnar.rule_trials import RuleTrials
from postmortem.extraction.columnar.shaped_lines import ShapedLines
from postmortem.extraction.columnar.unit_making import UnitMaker
from postmortem.extraction.columnar.unit_reading import UnitReader
from postmortem.extraction.cursor import Cursor
from postmortem.extraction.ends import Ends
from postmortem.extraction.extract import Extract, name_evaluations
from postmortem.extraction.fact_lines import FactLines
from postmortem.extraction.finding_lines import FindingLines
from postmortem.extraction.formats.records import Record, RecordLists, RecordRows
from postmortem.extraction.headed_sections import name_sections
from postmortem.extraction.literals import Matcher
from postmortem.extraction.metric_lines import MetricLines
from postmortem.extraction.points import Points
from postmortem.extraction.position_lines import PositionLines, fill_from_records
from postmortem.extraction.rare_records import add_rare_records
from postmortem.extraction.recurring_lines import RecurringLines
from postmortem.extraction.searches import Searches
from postmortem.extraction.table_rows import TableRows
from postmortem.extraction.text_sample import Sampler
from postmortem.extraction.traceback_lines import TracebackLines
from postmortem.reading.block_reader import Block, split_block
from postmortem.reading.windows import View
from postmortem.rules.engine import A_SOURCE, Budget


class SourceExtractor:
    """Gathers from one source."""

    def __init__(
        self,
        machine: Matcher,
        source: int,
        where: ProcessId = NOWHERE,
        *,
        srun: bool = False,
        breaks_by_return: bool = False,
        title: str = "",
        budget: Budget | None = None,
    ) -> None:
        """Start at the first line.

        Args:
            machine: what is looked for.
            source: index of the source in its job.
            where: the process that the file's name tells, for lines that say nothing.
            srun: the source carries `srun --label` task numbers.
            breaks_by_return: its only line breaks are carriage returns.
            title: what the name of the source says of figures without a name.
            budget: of the whole job, for searches that are slow.
        """
        self.result = Extract()
        """What was gathered so far; it goes on to change."""
        line_break = b"\r" if breaks_by_return else b"\n"
        own = Budget(A_SOURCE, budget)
        self._machine, self._source = machine, source
        self._points = Points(self.result, source, where)
        self._cursor = Cursor(machine, self._points, line_break, srun=srun)
        self._rows = TableRows(self._points, line_break, title)
        self._arrays = ArrayLines(self._points, machine.knowledge.metrics)
        self._metrics = MetricLines(
            machine.metrics, self._points, self._cursor, self._rows, self._arrays, own
        )
        self._positions = PositionLines(line_break)
        self._ends = Ends(line_break)
        self._sampler = Sampler(line_break)
        self._recurring = RecurringLines(line_break)
        self._takers = self._map_readers_by_kind(Searches(own), line_break, own)
        self.result.stamps[source] = self._cursor.sight.stamps

    @property
    def line(self) -> int:
        """The raw number of the line that is read."""
        return self._cursor.line

    def feed(self, block: Block) -> None:
        """Look at the fresh region of a block."""
        metrics, first = self._metrics, self._cursor.line
        self._arrays.feed(block)
        if self._cursor.learnt.learn(block):
            self._cursor.shaped.forget()
        for part in split_block(block):
            looks = self._cursor.looks(part, metrics.quick.take, metrics.end_line)
            for number, view, base in looks:
                self._look(number, view, base)
        self._rows.feed(block)
        self._points.flush()
        self._positions.fill(self.result.series, block, first)
        self._ends.feed(block)
        self._sampler.feed(block)
        self._recurring.feed(block)

    def take_state(
        self,
        records: Iterable[tuple[Record, int] | RecordRows | RecordLists],
        producer: str,
        framework: str,
    ) -> None:
        """Take the records of a metrics file that has been read by a reader of its own."""
        for found in records:
            if isinstance(found, RecordLists):
                self._points.record_lists(found, framework)
                continue
            if isinstance(found, RecordRows):
                self._points.record_rows(found, producer, framework)
                continue
            record, line = found
            self._points.record(record, producer, framework, (line, line), math.nan, record.units)

    def snapshot(self) -> Extract:
        """Give what was gathered so far, as a value of its own: feeding on leaves it as it is."""
        return _complete(self._settle().copy())

    def finished(self) -> Extract:
        """Give what was gathered from the whole source, behind whose end nothing is fed."""
        self._arrays.close()
        return _complete(self._settle())

    def _settle(self) -> Extract:
        """Bring the result up to date."""
        self._metrics.settle()
        self._tracebacks.settle()
        for kept in self.result.findings.values():
            kept.settle()
        self._arrays.settle()
        for series in self.result.series.values():
            series.settle()
        self._ends.put(self.result, self._source, self.line)
        self.result.samples[self._source] = self._sampler.sample(self.line)
        self.result.recurring[self._source] = self._recurring.lines()
        return self.result

    def _look(self, number: int, view: View, base: int) -> None:
        """Let all who want lines with a literal look at this one, each once."""
        cursor, claimed = self._cursor, view.claimed
        if not cursor.admission.is_wanted(number, cursor.opening, view, base):
            return
        self._rows.reach(view, base)
        for kind, index in self._machine.consumers[number]:
            key = hash((kind, index))
            if key in claimed:
                continue
            claimed.add(key)
            if cursor.sieve.is_in_vain((kind, index), view):
                continue
            cursor.sieve.count((kind, index))
            if not cursor.admission.may_look(kind, view, base):
                if view.is_spent:
                    return
                continue
            try:
                self._takers[kind](index, view, base)
            except TimeoutError:
                self.result.timeouts += 1

    def _map_readers_by_kind(
        self, searches: Searches, line_break: bytes, budget: Budget
    ) -> Mapping[str, Callable[[int, View, int], None]]:
        """Give who takes lines of each kind."""
        machine, points, cursor = self._machine, self._points, self._cursor
        tracebacks = self._tracebacks = TracebackLines(points, cursor, line_break)
        findings = FindingLines(machine.signatures, points, searches, cursor.sight, line_break)
        facts = FactLines(machine.facts, points, searches)
        literals = LineLiterals(machine, cursor.learnt)
        trials = RuleTrials(machine, literals, budget, facts.is_enough, srun=cursor.sight.srun)
        shapes = LineShapes(trials, self._metrics.quick.paths, srun=cursor.sight.srun)
        shaped = ShapedLines(shapes, self._metrics.quick, findings, points)
        reader = UnitReader(machine, literals, budget, srun=cursor.sight.srun)
        units = RecordUnits(UnitMaker(reader, trials, srun=cursor.sight.srun))
        cursor.shaped = CutRegions(machine, cursor.learnt, shaped, units, points, cursor.sieve)
        return {
            "signature": findings.take,
            "metric": self._metrics.take,
            "fact": facts.take,
            "traceback": tracebacks.take,
            "frame": tracebacks.take_frame,
            "table": self._metrics.take_row,
            "generic": self._metrics.let_wait,
        }


def _complete(extract: Extract) -> Extract:
    """Give what is told only by all that was gathered from a source."""
    fill_from_records(extract.series)
    add_rare_records(extract)
    _name_lone_loss(extract)
    return name_evaluations(name_sections(extract))


def _name_lone_loss(extract: Extract) -> None:
    """Name the mean loss of epochs `loss` where the process prints none for its steps."""
    known = {(series.name, series.source, series.where) for series in extract.series.values()}
    for key, series in [*extract.series.items()]:
        own = (names.LOSS, *key[1:])
        is_alone = (names.LOSS, series.source, series.where) not in known
        if series.name == f"{names.OF_EPOCH}{names.LOSS}" and is_alone:
            del extract.series[key]
            series.name = names.LOSS
            extract.series[own] = series
