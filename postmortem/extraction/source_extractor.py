"""Extract findings, tracebacks, series and facts from one source, in bounded memory.

In: `Block`s of one source. Out: `Extract`. `feed`, `snapshot` and `merge` make it a mergeable
state: a growing file, many files and block borders are all the same to it. `ReadSource`, what a
source holds; from its path and beginning whether it may be something else than a log. Not here:
reading files (`reading`), files that are no log (`extraction.run_files`, which most jobs need not
even import), weighing what was found (`inference`).

Only lines with a literal of some rule in them are looked at, by whoever takes lines of its kind.
The first and the last few kilobytes are kept as text.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message
from postmortem.extraction.columnar.cut_regions import CutRegions
from postmortem.extraction.columnar.line_shapes import LineShapes
from postmortem.extraction.columnar.shaped_lines import ShapedLines
from postmortem.extraction.columnar.trials import LineLiterals, RuleTrials, UnitReader
from postmortem.extraction.columnar.units import RecordUnits, UnitMaker
from postmortem.extraction.cursor import Cursor
from postmortem.extraction.extract import Extract, name_evaluations
from postmortem.extraction.finding_lines import FactLines, FindingLines, Searches
from postmortem.extraction.formats.records import Record, RecordLists, RecordRows
from postmortem.extraction.headings import PositionLines, fill_from_records, name_sections
from postmortem.extraction.kept_lines import RecurringLines, Sampler
from postmortem.extraction.literals import Matcher
from postmortem.extraction.metric_lines import MetricLines, add_rare_records
from postmortem.extraction.multiline import ArrayLines, TracebackLines
from postmortem.extraction.points import Points
from postmortem.extraction.table_rows import TableRows
from postmortem.reading.sources import Block, split_block
from postmortem.reading.windows import View
from postmortem.rules.engine import A_SOURCE, Budget

_END_BYTES: Final = 6000
"""Bytes of either end."""


class Ends:
    """Head and tail of one source."""

    def __init__(self, line_break: bytes) -> None:
        """Start before the first byte."""
        self._break = line_break
        self._head = self._tail = b""
        self._ends_with_break = True

    def feed(self, block: Block) -> None:
        """Keep what the fresh region adds to head and tail."""
        data, lo, hi = block.data, block.lo, block.hi
        if len(self._head) < _END_BYTES:
            self._head += data[lo : min(hi, lo + _END_BYTES)]
        self._tail = (self._tail + data[max(lo, hi - _END_BYTES) : hi])[-_END_BYTES:]
        if hi > lo:
            self._ends_with_break = data[hi - 1 : hi] == self._break

    def put(self, result: Extract, source: int, line: int) -> None:
        """Write down both ends and the number of lines.

        Args:
            result: where to.
            source: its index.
            line: raw number of the line that the source ends in, or of the one behind its last
                break.
        """
        result.lines[source] = line - (1 if self._ends_with_break else 0)
        result.heads[source] = self._head[:_END_BYTES].decode("utf-8", "replace")
        begin = line - self._tail.count(self._break)
        result.tails[source] = (begin, self._tail.decode("utf-8", "replace"))


_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json", ".py"})
_STORES: Final = frozenset({"params", "metrics"})
"""Folders of MLflow's file store."""
_BINARY_NAMES: Final = (".tfevents.", "trace_rank", "comm_traces/rank_", "_dump_")
_FOLDED: Final = (".json", ".jsonl")
_JSON_LOG_KEYS: Final = ('"message"', '"msg"', '"level"')
"""Keys of lines that a logger wrote as JSON."""
_COLUMN_NAMES: Final = compile_lazily(
    r"[\w ./()%:@#-]{0,80}(?:[,;\t][\w ./()%:@#-]{0,80}){1,9}(?:[,;\t].*|\s{0,9})$"
)
"""The heading of a table of comma-separated values."""
_MAPPINGS: Final = compile_lazily(r"\s{0,200}(?:\[\s{0,200})?\{")
"""How a mapping begins, or a list of them."""
_LOOKED_AT: Final = 20


class ReadSource(NamedTuple):
    """A source that was read."""

    part: Extract
    notes: list[Message]
    kind: str = ""
    """As `core.findings.Source` names it; empty where what was found tells it."""


def may_be_no_log(path: str, head: str) -> bool:
    """Say whether a text may be metrics or a configuration: JSON, a table, a name of theirs."""
    file = PurePath(path)
    first = head.split("\n", 1)[0].lower()
    return (
        file.suffix in _SUFFIXES
        or not _STORES.isdisjoint(file.parts)
        or is_mapping(head)
        or _COLUMN_NAMES.match(first) is not None
    )


def is_mapping(head: str) -> bool:
    """Say whether a text begins as a mapping, or a list of them."""
    return _MAPPINGS.match(head) is not None


def may_be_figures(path: str) -> bool:
    """Say whether a file may be one of figures that is no text."""
    tail = "/".join(PurePath(path).parts[-2:])
    return any(name in tail for name in _BINARY_NAMES)


def is_record_lines(head: str, path: str) -> bool:
    """Say whether a file holds a JSON record on each line and nothing that a logger words."""
    lines = [line for line in head.split("\n", _LOOKED_AT)[:_LOOKED_AT] if line.strip()]
    return PurePath(path).suffix in _FOLDED and all(
        line.startswith("{")
        and line.rstrip().endswith("}")
        and not any(word in line for word in _JSON_LOG_KEYS)
        for line in lines[: max(1, len(lines) - 1)]
    )


class SourceExtractor:
    """Gathers from one source."""

    def __init__(
        self,
        matcher: Matcher,
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
            matcher: what is looked for.
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
        self._matcher, self._source = matcher, source
        self._points = Points(self.result, source, where)
        self._cursor = Cursor(matcher, self._points, line_break, srun=srun)
        self._rows = TableRows(self._points, line_break, title)
        self._arrays = ArrayLines(self._points, matcher.knowledge.metrics)
        self._metrics = MetricLines(
            matcher.metrics, self._points, self._cursor, self._rows, self._arrays, own
        )
        self._positions = PositionLines(line_break)
        self._ends = Ends(line_break)
        self._sampler = Sampler(line_break)
        self._recurring = RecurringLines(line_break)
        self._takers = self._map_consumers_by_kind(Searches(own), line_break, own)
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
        for kind, index in self._matcher.consumers[number]:
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

    def _map_consumers_by_kind(
        self, searches: Searches, line_break: bytes, budget: Budget
    ) -> Mapping[str, Callable[[int, View, int], None]]:
        """Give who takes lines of each kind."""
        matcher, points, cursor = self._matcher, self._points, self._cursor
        tracebacks = self._tracebacks = TracebackLines(points, cursor, line_break)
        findings = FindingLines(matcher.signatures, points, searches, cursor.sight, line_break)
        facts = FactLines(matcher.facts, points, searches)
        literals = LineLiterals(matcher, cursor.learnt)
        trials = RuleTrials(matcher, literals, budget, facts.is_enough, srun=cursor.sight.srun)
        shapes = LineShapes(trials, self._metrics.quick.paths, srun=cursor.sight.srun)
        shaped = ShapedLines(shapes, self._metrics.quick, findings, points)
        reader = UnitReader(matcher, literals, budget, srun=cursor.sight.srun)
        units = RecordUnits(UnitMaker(reader, trials, srun=cursor.sight.srun))
        cursor.shaped = CutRegions(matcher, cursor.learnt, shaped, units, points, cursor.sieve)
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
