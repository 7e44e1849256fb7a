"""The result of a pass over the sources, as one mergeable value in bounded memory.

In: findings, tracebacks, series and facts, one by one. Out: `Extract`. Not here: finding them
(`extraction`), weighing them (`inference`).
"""

import bisect
import copy
import dataclasses
import math
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.findings import NOWHERE, Finding, ProcessId, RankDump, Source, Traceback
from postmortem.core.message import Message
from postmortem.extraction.copies import Copies
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.facts.series import ENVELOPE, Series
from postmortem.extraction.kept_lines import RecurringLine, TextSample
from postmortem.extraction.trailing_context import TEST
from postmortem.reading.sources import Origin

FIRST: Final = 20
LAST: Final = 5
CROWD: Final = ProcessId(node="")
"""Stands for the processes that are too many to be told apart; no line names it."""
_PROCESSES_OF_ONE, _PROCESSES_OF_ALL = 1024, 8192
"""Processes that are told apart, of one signature in a source and of all together."""
_MOST_OF_ONE, _MOST_OF_ALL = 3072, 16_384
"""Findings that are kept, as much; beyond, each process keeps its first and its last."""
_FEWEST_POINTS: Final = 200


class Sighting(NamedTuple):
    """A finding with what is known only while its source is read."""

    finding: Finding
    records_before: int
    """Metric records of its process before it."""
    context: tuple[int, str]
    """Raw line number of the first line of the surroundings, and the surroundings; (0, "") where
    none are kept."""


@dataclass(slots=True)
class FindingLimits:
    """How many more findings and processes of a signature may be kept in a source."""

    findings: int = _MOST_OF_ONE
    processes: int = _PROCESSES_OF_ONE
    total: "FindingLimits | None" = None

    def take_finding(self) -> bool:
        """Count one more finding unless the limit is reached; say whether it may be kept."""
        if self.findings <= 0 or (self.total is not None and not self.total.take_finding()):
            return False
        self.findings -= 1
        return True

    def take_process(self) -> bool:
        """Count one more process unless the limit is reached; say whether it may be kept."""
        if self.processes <= 0 or (self.total is not None and not self.total.take_process()):
            return False
        self.processes -= 1
        return True


@dataclass(slots=True)
class KeptFindings:
    """The first and last findings of one (signature, process), and how many there were."""

    first: list[Sighting] = field(default_factory=list)
    last: deque[Sighting | Callable[[], Sighting]] = field(
        default_factory=lambda: deque(maxlen=LAST)
    )
    """The last ones, or how to make them: of a line that comes a hundred thousand times, only five
    are made."""
    count: int = 0
    last_line: int = 0
    limits: FindingLimits = field(default_factory=FindingLimits, repr=False, compare=False)
    """Shared with the other processes; the first and the last finding are kept regardless."""

    def add(self, seen: Sighting) -> None:
        """Count a finding and keep it if it is among the first or last."""
        if self._is_first():
            self.count += 1
            self.last_line = seen.finding.line
            self.first.append(seen)
        else:
            self._add_last(seen, seen.finding.line)

    def add_later(self, make: Callable[[], Sighting], line: int) -> None:
        """Do the same with a finding that is made only if it is kept."""
        if self._is_first():
            self.count += 1
            self.last_line = line
            self.first.append(make())
        else:
            self._add_last(make, line)

    @property
    def is_late(self) -> bool:
        """Whether a further finding is one of the last, and no longer one of the first."""
        return self.count > 1 and len(self.last) > 0

    @property
    def is_full(self) -> bool:
        """Whether a further finding takes the place of one of the last."""
        return len(self.last) == LAST

    def _is_first(self) -> bool:
        return not self.first or (
            not self.last and len(self.first) < FIRST and self.limits.take_finding()
        )

    def _add_last(self, sighting: Sighting | Callable[[], Sighting], line: int) -> None:
        self.count += 1
        self.last_line = line
        if 0 < len(self.last) < LAST and not self.limits.take_finding():
            self.last.popleft()
        self.last.append(sighting)

    def take(self, later: "KeptFindings") -> None:
        """Take in what a later part holds of the same process."""
        found = later.all()
        if self.count:
            for seen in found:
                self.add(seen)
            self.count += later.count - len(found)
            return
        is_within_limit = [
            number in {0, len(found) - 1} or self.limits.take_finding()
            for number in range(len(found))
        ]
        border = (
            len(later.first)
            if found[len(later.first) :] or all(is_within_limit)
            else len(found) - 1
        )
        self.first = [
            sighting
            for sighting, is_kept in zip(found[:border], is_within_limit, strict=False)
            if is_kept
        ]
        self.last.extend(
            sighting
            for sighting, is_kept in zip(found[border:], is_within_limit[border:], strict=True)
            if is_kept
        )
        self.count, self.last_line = later.count, later.last_line

    def settle(self) -> None:
        """Make the last ones."""
        self.last = deque(self.all()[len(self.first) :], maxlen=LAST)

    def add_late_records(self, records: int, offset: int) -> None:
        """Count records that stand at an offset, and were told late, before those behind it."""
        every = [
            sighting._replace(records_before=sighting.records_before + records)
            if sighting.finding.offset > offset
            else sighting
            for sighting in self.all()
        ]
        border = len(self.first)
        self.first, self.last = every[:border], deque(every[border:], maxlen=LAST)

    def copy(self, limits: FindingLimits) -> "KeptFindings":
        """Copy this under other limits."""
        return dataclasses.replace(self, first=[*self.first], last=self.last.copy(), limits=limits)

    def all(self) -> list[Sighting]:
        """Give what is kept, in order."""
        return [
            *self.first,
            *(sighting if isinstance(sighting, Sighting) else sighting() for sighting in self.last),
        ]


@dataclass(slots=True)
class Extract:
    """What one pass over one or more sources has found."""

    sources: list[Source[Message]] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    """Where each source comes from; bytes can be read again."""
    warnings: list[Message] = field(default_factory=list)
    input_names: list[str] = field(default_factory=list)
    """The paths that were asked for, and the names of streams."""
    findings: dict[tuple[str, int, ProcessId], KeptFindings] = field(default_factory=dict)
    """By (signature, source, process); the processes beyond those told apart are CROWD."""
    tracebacks: list[tuple[Traceback, int]] = field(default_factory=list)
    """With the number of metric records of its process before it."""
    traceback_count: int = 0
    series: dict[tuple[str, str, int, ProcessId], Series] = field(default_factory=dict)
    """By (name, producer, source, process)."""
    facts: FactStore = field(default_factory=FactStore)
    records: dict[int, int] = field(default_factory=dict)
    """Metric records by source."""
    records_of: dict[tuple[int, ProcessId], int] = field(default_factory=dict)
    """Metric records by source and process."""
    last_record: dict[int, tuple[int, int]] = field(default_factory=dict)
    """(raw line, byte offset) of the last metric record of a source."""
    first_record: dict[int, tuple[int, int]] = field(default_factory=dict)
    total_steps: float = math.nan
    unkept: int = 0
    """Values of metrics whose names were too many to keep."""
    timeouts: int = 0
    passed_over: int = 0
    """Looks at long lines and tracebacks for which the log holds too many of them."""
    crowded_out: int = 0
    """Looks at lines that a log with too many processes or names of metrics would have cost."""
    tails: dict[int, tuple[int, str]] = field(default_factory=dict)
    """The end of each source: raw line number of its first line, and the text."""
    heads: dict[int, str] = field(default_factory=dict)
    """The beginning of each source."""
    samples: dict[int, TextSample] = field(default_factory=dict)
    """The few lines of each source that tell most, whatever the rules know."""
    recurring: dict[int, tuple[RecurringLine, ...]] = field(default_factory=dict)
    """Lines of each source whose wording comes again, and its first ones."""
    lines: dict[int, int] = field(default_factory=dict)
    stamps: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    """Printed times beside what may be a failure, by source: (byte offset, time)."""
    error_files: set[int] = field(default_factory=set)
    """Sources that are a copy of an exception (`extraction.source_reader`)."""
    rank_dumps: list[RankDump] = field(default_factory=list)
    """What the flight recorder of each rank wrote."""
    copies: Copies = field(default_factory=Copies)
    """Series that stand in another file of the run too."""
    _total_limits: FindingLimits = field(
        default_factory=lambda: FindingLimits(_MOST_OF_ALL, _PROCESSES_OF_ALL), repr=False
    )
    _limits: dict[tuple[str, int], FindingLimits] = field(default_factory=dict, repr=False)

    def kept(self, signature: str, source: int, where: ProcessId) -> KeptFindings:
        """Give the place for the findings of a process, or of all that have none of their own."""
        found = self.findings.get((signature, source, where))
        if found is None:
            limits = self._limits.setdefault(
                (signature, source), FindingLimits(total=self._total_limits)
            )
            where = where if limits.take_process() else CROWD
            found = self.findings.setdefault(
                (signature, source, where), KeptFindings(limits=limits)
            )
        return found

    def count_of(self, finding: Finding) -> int:
        """Say how often a process has said the same.

        Of processes that are not told apart, how often all of them.
        """
        places = ((finding.signature, finding.source, where) for where in (finding.where, CROWD))
        return next((self.findings[place].count for place in places if place in self.findings), 1)

    def count_records_of(self, source: int, where: ProcessId) -> int:
        """Count the records of a source that show the progress of this process.

        Its own and unlabelled ones; all, for a line without a label.
        """
        if where == NOWHERE:
            return self.records.get(source, 0)
        return self.records_of.get((source, where), 0) + self.records_of.get((source, NOWHERE), 0)

    def step_at(self, source: int, line: int) -> float | None:
        """Give the step of the metric record in a line; None if it has none, or there is none.

        Nor where a list has all of them on one.
        """
        for series in self.series.values():
            if (
                series.source == source
                and (index := bisect.bisect_left(series.lines, line)) < len(series.lines)
                and series.lines[index] == line
                and not math.isnan(series.steps[index])
                and (series.producer != names.IN_LISTS or series.lines[-1] != series.lines[0])
            ):
                return series.steps[index]
        return None

    def add_late_records(self, source: int, records: int, offset: int) -> None:
        """Count records that stand at an offset, and were told late, before all behind it."""
        for (_, of, _), kept in self.findings.items():
            if of == source:
                kept.add_late_records(records, offset)
        self.tracebacks = [
            (found, before + records * (found.source == source and found.offset > offset))
            for found, before in self.tracebacks
        ]

    def merge(self, other: "Extract") -> None:
        """Take in another part: of other sources, or a later part of the same."""
        self.sources += other.sources
        self.origins += other.origins
        self.warnings += other.warnings
        self.input_names += other.input_names
        for key, kept in other.findings.items():
            self.kept(*key).take(kept)
        self.tracebacks += other.tracebacks
        self.traceback_count += other.traceback_count
        for name, series in other.series.items():
            if (known := self.series.setdefault(name, series)) is not series:
                known.extend(series)
        self.facts.merge(other.facts)
        self.timeouts += other.timeouts
        self.unkept += other.unkept
        self.passed_over += other.passed_over
        self.crowded_out += other.crowded_out
        self.total_steps = self.total_steps if math.isnan(other.total_steps) else other.total_steps
        _add_records(self, other)
        for source, stamps in other.stamps.items():
            self.stamps.setdefault(source, []).extend(stamps)
        self.heads = {**other.heads, **self.heads}
        self.tails.update(other.tails)
        for source, sample in other.samples.items():
            self.samples[source] = self.samples.get(source, TextSample()).joined(sample)
        for source, recurring in other.recurring.items():
            self.recurring[source] = self.recurring.get(source, ()) + recurring
        self.lines.update(other.lines)
        self.error_files |= other.error_files
        self.rank_dumps += other.rank_dumps

    def copy(self) -> "Extract":
        """Give a value of its own, which shares nothing that can change."""
        total = dataclasses.replace(self._total_limits)
        limits_of = {
            key: dataclasses.replace(limits, total=total) for key, limits in self._limits.items()
        }
        return dataclasses.replace(
            self,
            sources=[*self.sources],
            origins=[*self.origins],
            warnings=[*self.warnings],
            input_names=[*self.input_names],
            findings={
                key: kept.copy(limits_of.get(key[:2], FindingLimits()))
                for key, kept in self.findings.items()
            },
            tracebacks=[*self.tracebacks],
            series={key: series.copy() for key, series in self.series.items()},
            facts=copy.deepcopy(self.facts),
            records={**self.records},
            records_of={**self.records_of},
            last_record={**self.last_record},
            first_record={**self.first_record},
            tails={**self.tails},
            heads={**self.heads},
            samples={**self.samples},
            recurring={**self.recurring},
            lines={**self.lines},
            stamps={source: [*stamps] for source, stamps in self.stamps.items()},
            error_files={*self.error_files},
            rank_dumps=[*self.rank_dumps],
            _total_limits=total,
            _limits=limits_of,
        )

    def seen(self) -> list[Sighting]:
        """Give every kept finding by source, place and, on one line, by id.

        In which order the rules were asked of a line depends on the borders of blocks and on what
        was learnt before.
        """
        found = (sighting for kept in self.findings.values() for sighting in kept.all())
        return sorted(found, key=lambda sighting: _place_of(sighting.finding))

    def findings_in(self, source: int) -> list[Finding]:
        """Give every kept finding of a source, in no order."""
        return [
            sighting.finding
            for (_, of, _), kept in self.findings.items()
            if of == source
            for sighting in kept.all()
        ]


def _place_of(finding: Finding) -> tuple[int, int, int, str]:
    """Give what findings are ordered by."""
    return finding.source, finding.offset, finding.line, finding.signature


def _add_records(extract: Extract, other: Extract) -> None:
    """Count the metric records of another part as well."""
    for source, count in other.records.items():
        extract.records[source] = extract.records.get(source, 0) + count
        if count:
            extract.last_record[source] = other.last_record[source]
            extract.first_record.setdefault(source, other.first_record[source])
    for process, count in other.records_of.items():
        extract.records_of[process] = extract.records_of.get(process, 0) + count


def name_evaluations(extract: Extract) -> Extract:
    """Name the figures of evaluations, now that it is known what else is printed.

    Those of batches are the result where no other is printed; the split is put before a name that
    the training prints, too.
    """
    printed = {(name, source, where) for name, _, source, where in extract.series}
    for key in list(extract.series):
        name, producer, source, where = key
        whole = name.removesuffix(names.OF_BATCH)
        bare, _, split = whole.partition(names.OF_SPLIT)
        called = f"{split}_{bare}" if split and (bare, source, where) in printed else bare
        if whole != name and (whole, source, where) in printed:
            called += names.OF_BATCH
        if called != name and (called, producer, source, where) not in extract.series:
            extract.series[key].name = called
            extract.series[called, producer, source, where] = extract.series.pop(key)
    return extract


def bound_series_points(every: Collection[Series], most: int) -> int:
    """Thin the longest series until all together hold well under `most` points, if they hold more.

    Gives how many they hold.
    """
    held = sum(len(series.values) for series in every)
    if held > most:
        keep = max(_FEWEST_POINTS, min(ENVELOPE, most // (2 * len(every))))
        for series in sorted(every, key=lambda series: -len(series.values)):
            if held <= most - most // 8 or len(series.values) <= keep:
                break
            held -= len(series.values)
            series.thin(keep)
            held += len(series.values)
    return held


def count_records_after(extract: Extract, item: Finding | Traceback, before: int) -> int:
    """Count the records of a process after an event that has `before` records before it.

    Behind a failed test stand those that it had printed before.
    """
    if isinstance(item, Traceback) and item.aside == TEST:
        return 0
    return extract.count_records_of(item.source, item.where) - before


def process_of(extract: Extract, source: int) -> ProcessId:
    """Give the process that the name of a source states; `NOWHERE` if it states none."""
    return extract.sources[source].where if source < len(extract.sources) else NOWHERE


def select_sources_by_type(extract: Extract, *kinds: str) -> frozenset[int]:
    """Name the sources of some kinds."""
    return frozenset(index for index, source in enumerate(extract.sources) if source.kind in kinds)
