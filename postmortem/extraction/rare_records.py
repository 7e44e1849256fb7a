"""Read the records that come too seldom for their names to be learnt while the source is read.

In: the lines of a source that recur, and its series. Out: series of the names that it has none of.
Not here: names that repeat often (`extraction.learnt_literals`), what a line holds
(`formats.generic`).

The scores of an evaluation stand on a few lines of a long log, under names that no list holds; such
lines are kept since they recur (`extraction.recurring_lines`).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.series import Series
from postmortem.extraction.formats.generic import parse_metric_line
from postmortem.extraction.formats.learnt_layouts import LearntFigures
from postmortem.extraction.formats.records import Record
from postmortem.extraction.formats.unknown import GenericReader
from postmortem.extraction.points import MOST_SERIES
from postmortem.extraction.recurring_lines import MOST_TEXT, RecurringLine, get_wording
from postmortem.extraction.template_reader import PYTORCH
from postmortem.reading.prefixes import clean

_FEWEST: Final = 3
"""Records of a wording."""
_MOST_WORDINGS: Final = 400
"""Wordings of a source that are looked at, those that come first."""
_MOST_LINES: Final = 4000


def add_rare_records(extract: Extract) -> None:
    """Add series of names that a source with records has none of so far."""
    for source, lines in extract.recurring.items():
        every = [curve for curve in extract.series.values() if curve.source == source]
        if every:
            _add(extract, source, every, lines)


def _add(
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
        if len(points) >= _FEWEST and len(extract.series) < MOST_SERIES:
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
    return [group for group in groups.values() if len(group) >= _FEWEST]


def _has_new_name(line: RecurringLine, known: set[str]) -> bool:
    """Say whether a line holds a figure of a name that is not known; a bar's have been read."""
    looked = parse_metric_line(clean(line.text).text)
    if looked is None or looked.bar is not None:
        return False
    return any(name not in known for name, _ in looked.found.record.values)
