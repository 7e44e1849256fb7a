"""What a pass over the sources has found, as one mergeable value in bounded memory.

In: findings, tracebacks, series and facts, one by one. Out: `Gathered`. Not here: finding them (`gather`), weighing them (`inference`).
"""

import bisect
import math
from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from postmortem.facts.environment import FactStore
from postmortem.facts.series import ENVELOPE, Series
from postmortem.model.findings import Finding, Traceback
from postmortem.model.lines import NOWHERE, Where

FIRST: Final = 20
LAST: Final = 5
_FEWEST_POINTS: Final = 200


class Seen(NamedTuple):
    """A finding with what only the gathering knows about it."""

    finding: Finding
    records_before: int
    """Metric records of its process before it."""
    context: tuple[int, str]
    """Raw line number of the first line of the surroundings, and the surroundings; (0, "") where none are kept."""


@dataclass(slots=True)
class Kept:
    """The first and last findings of one (signature, process), and how many there were."""

    first: list[Seen] = field(default_factory=list)
    last: deque[Seen | Callable[[], Seen]] = field(default_factory=lambda: deque(maxlen=LAST))
    """The last ones, or how to make them: of a line that comes a hundred thousand times, only five are made."""
    count: int = 0
    last_line: int = 0

    def add(self, seen: Seen) -> None:
        """Count a finding and keep it if it is among the first or last."""
        self.count += 1
        self.last_line = seen.finding.line
        (self.first if len(self.first) < FIRST else self.last).append(seen)

    def add_later(self, make: Callable[[], Seen], line: int) -> None:
        """Do the same with a finding that is made only if it is kept."""
        if len(self.first) < FIRST:
            self.add(make())
            return
        self.count += 1
        self.last_line = line
        self.last.append(make)

    def settle(self) -> None:
        """Make the last ones."""
        self.last = deque(self.all()[len(self.first):], maxlen=LAST)

    def all(self) -> list[Seen]:
        """Give what is kept, in order."""
        return [*self.first, *(one if isinstance(one, Seen) else one() for one in self.last)]


@dataclass(slots=True)
class Gathered:
    """What one pass over one or more sources has found."""

    findings: dict[tuple[str, int, Where], Kept] = field(default_factory=dict)
    """By (signature, source, process)."""
    tracebacks: list[tuple[Traceback, int]] = field(default_factory=list)
    """With the number of metric records of its process before it."""
    traceback_count: int = 0
    series: dict[tuple[str, str, int, Where], Series] = field(default_factory=dict)
    """By (name, producer, source, process)."""
    facts: FactStore = field(default_factory=FactStore)
    records: dict[int, int] = field(default_factory=dict)
    """Metric records by source."""
    records_of: dict[tuple[int, Where], int] = field(default_factory=dict)
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
    lines: dict[int, int] = field(default_factory=dict)
    stamps: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    """Printed times beside what may be a failure, by source: (byte offset, time)."""
    error_files: set[int] = field(default_factory=set)
    """Sources that are a copy of an exception (`formats.error_file`)."""

    def records_beside(self, source: int, where: Where) -> int:
        """Count the records of a source that tell how this process fares: its own and unlabelled ones; all, for a line without a label."""
        if where == NOWHERE:
            return self.records.get(source, 0)
        return self.records_of.get((source, where), 0) + self.records_of.get((source, NOWHERE), 0)

    def step_at(self, source: int, line: int) -> float | None:
        """Give the step of the metric record in a line; None if there is none, or it has no step."""
        for series in self.series.values():
            if series.source == source and (index := bisect.bisect_left(series.lines, line)) < len(series.lines) and series.lines[index] == line and not math.isnan(series.steps[index]):
                return series.steps[index]
        return None

    def merge(self, other: "Gathered") -> None:
        """Take in another part: of other sources, or a later part of the same."""
        for key, kept in other.findings.items():
            mine = self.findings.setdefault(key, Kept())
            extra = kept.count - len(kept.all())
            for seen in kept.all():
                mine.add(seen)
            mine.count += extra
        self.tracebacks += other.tracebacks
        self.traceback_count += other.traceback_count
        for name, series in other.series.items():
            if name in self.series:
                self.series[name].extend(series)
            else:
                self.series[name] = series
        self.facts.merge(other.facts)
        self.timeouts += other.timeouts
        self.unkept += other.unkept
        self.passed_over += other.passed_over
        self.crowded_out += other.crowded_out
        self.total_steps = self.total_steps if math.isnan(other.total_steps) else other.total_steps
        for source, count in other.records.items():
            self.records[source] = self.records.get(source, 0) + count
            if count:
                self.last_record[source] = other.last_record[source]
                self.first_record.setdefault(source, other.first_record[source])
        for key_of, count in other.records_of.items():
            self.records_of[key_of] = self.records_of.get(key_of, 0) + count
        for source, stamps in other.stamps.items():
            self.stamps.setdefault(source, []).extend(stamps)
        self.heads = {**other.heads, **self.heads}
        self.tails.update(other.tails)
        self.lines.update(other.lines)
        self.error_files |= other.error_files

    def seen(self) -> Iterator[Seen]:
        """Yield every kept finding."""
        for kept in self.findings.values():
            yield from kept.all()


def bounded(series: Collection[Series], most: int) -> int:
    """Thin the longest series until all together hold well under `most` points, if they hold more; gives how many they hold."""
    held = sum(len(one.values) for one in series)
    if held > most:
        keep = max(_FEWEST_POINTS, min(ENVELOPE, most // (2 * len(series))))
        for one in sorted(series, key=lambda one: -len(one.values)):
            if held <= most - most // 8 or len(one.values) <= keep:
                break
            held -= len(one.values)
            one.thin(keep)
            held += len(one.values)
    return held
