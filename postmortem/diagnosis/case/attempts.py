"""Tell the attempts of a job apart, in one file or over a launcher's folders.

In: what was read. Out: `Span`s, the part of the extract that belongs to one attempt. Not here:
where a start stands in a file (`case.run_starts`), what happened in it (`case.order`).
"""

import bisect
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from postmortem.core.errors import UsageError
from postmortem.core.names import EPOCH
from postmortem.diagnosis.case.ended_processes import find_next_processes
from postmortem.diagnosis.case.failures import is_consequence
from postmortem.diagnosis.case.run_starts import find_starts
from postmortem.extraction.extract import Extract
from postmortem.extraction.one_attempt import select_lines
from postmortem.reading.file_names import parse_attempts
from postmortem.rules.traits import Trait, has_trait

START: Final = "context.training-start"
COMMAND: Final = "context.command"
_ENDS: Final = frozenset({"cause", "consequence"})
_SIGNALS: Final = (Trait.SIGNAL_WITHOUT_REASON, Trait.NATIVE_CRASH)
_LOGS: Final = frozenset({"log", "notebook"})
"""Kinds of sources that tell attempts apart; files of metrics do where nothing else was given."""


class Span(NamedTuple):
    """The lines of an attempt in one source."""

    source: int
    number: int
    """Of the attempt, from 1."""
    first: int
    last: int
    is_of_folder: bool = False
    """The name of its folder tells which attempt it belongs to."""


def list_spans(extract: Extract) -> list[Span]:
    """List the attempts of each log, or of files of metrics alone, by sources and lines."""
    mirrored = {source for source, _ in extract.copies.mirrored}
    kinds = {source.kind for source in extract.sources}
    split = _LOGS if kinds & _LOGS else {"metrics"}
    logs = [
        index
        for index, source in enumerate(extract.sources)
        if source.kind in split and index not in mirrored and source.lines
    ]
    folders = _number_folders(extract)
    found = []
    for source in logs:
        last = extract.sources[source].lines
        if source in folders:
            found.append(Span(source, folders[source], 1, last, is_of_folder=True))
            continue
        ends, crashes = list_ends(extract, source), _list_crashes(extract, source)
        again = find_starts(extract, source, ends, crashes)
        starts = sorted({*again, *find_next_processes(extract, source, ends, again)})
        borders = zip(starts, [*(start - 1 for start in starts[1:]), last], strict=True)
        found += [Span(source, number, *border) for number, border in enumerate(borders, 1)]
    return found


def _number_folders(extract: Extract) -> dict[int, int]:
    """Number the attempts to which sources belong by the names of their folders, from 1."""
    paths = {
        source.path: index
        for index, source in enumerate(extract.sources)
        if source.kind != "ignored"
    }
    found = parse_attempts(paths)
    order = sorted(set(found.values()))
    return {paths[path]: order.index(number) + 1 for path, number in found.items()}


def list_ends(extract: Extract, source: int) -> list[int]:
    """List the raw lines of a source at which something ended, in order."""
    found = {
        line
        for traceback, _ in extract.tracebacks
        if traceback.source == source
        for line in (traceback.line, traceback.exception_line)
    }
    found |= {one.line for one in extract.findings_in(source) if one.role in _ENDS}
    return sorted(found)


def _list_crashes(extract: Extract, source: int) -> list[int]:
    """List the last lines of exceptions of the outermost frame, and of fatal signals."""
    raised = (
        traceback.end_line
        for traceback, _ in extract.tracebacks
        if traceback.source == source
        and (is_consequence(traceback) or not (traceback.aside or traceback.was_caught()))
    )
    signals = (
        finding.end_line
        for finding in extract.findings_in(source)
        if finding.role in _ENDS and any(has_trait(finding.signature, trait) for trait in _SIGNALS)
    )
    return sorted({*raised, *signals})


def count_attempts(spans: Sequence[Span]) -> int:
    """Count the attempts of a job."""
    return max((span.number for span in spans), default=1)


def list_last_epochs(extract: Extract, spans: Sequence[Span]) -> list[tuple[int, float]]:
    """List the last epoch that each attempt of a log printed as a figure of its records."""
    found = []
    for curve in extract.series.values() if len(spans) > 1 else ():
        for span in spans if curve.name == EPOCH else ():
            at = bisect.bisect_right(curve.lines, span.last)
            if span.source == curve.source and at and curve.lines[at - 1] >= span.first:
                found.append((span.number, curve.values[at - 1]))
    return found


def choose_attempt(spans: Sequence[Span], asked: int | None) -> int:
    """Give the number of the attempt to judge: the last, unless another one is asked for.

    Raises:
        UsageError: there is no such attempt.
    """
    count = count_attempts(spans)
    if asked is None:
        return count
    if not 1 <= asked <= count:
        held = "1 attempt" if count == 1 else f"{count} attempts"
        raise UsageError(f"no attempt {asked}: the log holds {held}", "", f"name 1 to {count}")
    return asked


def select_attempt(
    extract: Extract, spans: Sequence[Span], number: int
) -> tuple[Extract, dict[int, int]]:
    """Give the part of an extract that belongs to an attempt, and where that begins by source.

    A log with a single attempt belongs to each, unless its folder names it; of one with fewer than
    others the last is taken for the last.
    """
    chosen = _choose_lines(extract, spans, number)
    parts = {
        source: lines
        for source, lines in chosen.items()
        if lines != (1, extract.sources[source].lines)
    }
    begins = {source: first for source, (first, _) in parts.items() if first > 1}
    return select_lines(extract, parts), begins


def _nothing(extract: Extract, source: int) -> tuple[int, int]:
    """Give the lines behind the end of a source."""
    return extract.lines.get(source, 0) + 1, extract.lines.get(source, 0)


def _choose_lines(
    extract: Extract, spans: Sequence[Span], number: int
) -> dict[int, tuple[int, int]]:
    """Choose the lines of each log of several attempts that belong to one of them."""
    total, counts = count_attempts(spans), Counter(span.source for span in spans)
    chosen: dict[int, tuple[int, int]] = {}
    for span in spans:
        count = counts[span.source]
        if not span.is_of_folder and count == 1:
            continue
        chosen.setdefault(span.source, _nothing(extract, span.source))
        if span.number == (number if number < total or span.is_of_folder else count):
            chosen[span.source] = (span.first, span.last)
    return chosen
