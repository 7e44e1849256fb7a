"""The places of a job that a report shows: findings, curves, the user's own frame, quoted lines.

In: the case, the extract, the first failure; an `Analysis`. Out: values of `core.answer`; the first
failure with the frame that its traceback ends in, of those that are no library's; the same analysis
with `quotes`, in the order of sources and lines. Files that can be read again are, in one pass
each. Not here: where the job failed first (`story.first_failure`), causes (`inference`), the order
of events (`story.timeline`), how far the run came (`story.progress`), whose code a file is
(`extraction.frames`), hiding what lines give away, cutting them to a width.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

from postmortem.core.answer import Cause, Excerpt, FirstFailure, OwnFrame, SeriesView, SignatureHit
from postmortem.core.diagnosis import Analysis
from postmortem.core.findings import Frame, Traceback, iter_chained
from postmortem.core.log_text import compile_lazily, normalise_step
from postmortem.core.message import Message
from postmortem.diagnosis.case.values import Case
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.series import Point, Series
from postmortem.extraction.frames import is_library
from postmortem.reading.excerpt import RawLine, read_lines_again, read_lines_around
from postmortem.reading.prefixes import get_time_basis
from postmortem.reading.sources import Origin
from postmortem.rules.base import KnowledgeBase

_MOST_EXCERPT_LINES: Final = 120
_MOST_LAST: Final = 60
"""Lines of the end of a log in which nothing failed."""
_MOST_SAMPLES: Final = 400
"""Points of a series that the report shows."""
_ALL_SAMPLES: Final = 200_000
"""The same of all series together: of thousands of processes each shows fewer."""


def list_signature_hits(
    case: Case, extract: Extract, knowledge: KnowledgeBase
) -> tuple[SignatureHit[Message], ...]:
    """List every kept finding with its role in this run."""
    hits = []
    for event in case.events:
        finding = event.finding
        rule = knowledge.by_id[finding.signature]
        hits.append(
            SignatureHit(
                finding.signature,
                event.role,
                event.because,
                finding.source,
                finding.where,
                finding.line,
                finding.end_line,
                finding.time,
                get_time_basis(finding.time),
                extract.count_of(finding),
                finding.text,
                finding.captures,
                rule.title,
                max(map(len, rule.anchors), default=0),
            )
        )
    return tuple(hits)


def build_series_view(
    series: Series,
    failure: FirstFailure[Message] | None = None,
    series_count: int = 1,
    attempt: int = 1,
) -> SeriesView:
    """Give a series of an attempt as the report shows it, one of so many.

    All that is kept around the failure is among its samples.
    """
    line = failure.line if failure is not None and failure.source == series.source else None
    first, last = (
        series.first or Point(math.nan, math.nan, 0),
        series.last or Point(math.nan, math.nan, 0),
    )
    bad = series.first_nonfinite
    has_finite = series.nonfinite < series.points
    return SeriesView(
        series.name,
        series.producer,
        series.source,
        series.where,
        series.unit,
        series.points,
        series.nonfinite,
        (normalise_step(first.step), first.value),
        (normalise_step(last.step), last.value),
        series.min if has_finite else None,
        series.max if has_finite else None,
        (normalise_step(bad.step), bad.line) if bad else None,
        series.interleaved,
        tuple(
            [
                (normalise_step(step), value, at)
                for step, value, at in series.samples(
                    min(_MOST_SAMPLES, _ALL_SAMPLES // series_count), line
                )
            ]
        ),
        attempt,
    )


def build_excerpt(case: Case, failure: FirstFailure[Message] | None) -> Excerpt | None:
    """Give the raw lines around the first failure: kept ones, or read again.

    Without a failure, the end of the log.
    """
    extract = case.extract
    around = None
    if failure is not None:
        around = _get_kept_lines(extract, failure) or _read_around(extract, failure)
    if failure is None or around is None:
        return _end(extract)
    begin, lines = around
    marked = _select_marked_lines(case, failure, begin, len(lines))
    return Excerpt(failure.source, begin, tuple(lines[:_MOST_EXCERPT_LINES]), marked)


def _get_kept_lines(
    extract: Extract, failure: FirstFailure[Message]
) -> tuple[int, Sequence[str]] | None:
    """Give the lines kept around a finding, with the number of the first."""
    for kept in extract.findings.values():
        for seen in kept.first:
            begin, text = seen.context
            lines = text.split("\n")
            is_there = begin and begin <= failure.line < begin + len(lines)
            if is_there and seen.finding.source == failure.source:
                return begin, lines
    return None


def _read_around(
    extract: Extract, failure: FirstFailure[Message]
) -> tuple[int, Sequence[str]] | None:
    if failure.source >= len(extract.origins):
        return None
    return read_lines_around(extract.origins[failure.source], failure.line)


def _end(extract: Extract) -> Excerpt | None:
    """Give the last lines of the first source that has any."""
    for source, (number, text) in extract.tails.items():
        if text.strip():
            lines = text.rstrip("\n").split("\n")
            last = lines[-_MOST_LAST:]
            return Excerpt(source, number + len(lines) - len(last), tuple(last), ())
    return None


def _select_marked_lines(
    case: Case, failure: FirstFailure[Message], begin: int, count: int
) -> tuple[int, ...]:
    lines = {
        event.finding.line
        for event in case.events
        if event.finding.source == failure.source and event.finding.role in {"cause", "consequence"}
    }
    return tuple(sorted(line for line in {*lines, failure.line} if begin <= line < begin + count))


_NAMED_FILE: Final = compile_lazily(r"\((?P<file>(?:/|[A-Za-z]:\\)[^()\n]{1,300}\.py)\)")


def add_frame(failure: FirstFailure[Message] | None, case: Case) -> FirstFailure[Message] | None:
    """Add the innermost frame of the user's own code to a failure."""
    if failure is None:
        return None
    around = list(_find_tracebacks_around(failure, case))
    if around and (file := _get_shadowing_file(around[0])):
        return replace(failure, frame=OwnFrame(file, 1, "", ""))
    all_tracebacks = [traceback for traceback, _ in case.extract.tracebacks]
    tracebacks = itertools.chain(
        around, *(iter_chained(traceback, all_tracebacks) for traceback in around)
    )
    frames = (traceback.own_frame() for traceback in tracebacks)
    own = next((frame for frame in frames if frame is not None), None)
    if own is None:
        own = _find_final_frame(failure, case)
    if own is None:
        return failure
    return replace(failure, frame=OwnFrame(own.file, own.line, own.function, own.code.strip()))


def _get_shadowing_file(traceback: Traceback) -> str:
    """Give the user's own file that a library has imported for the module of that name."""
    named = _NAMED_FILE.search(traceback.message) if traceback.raised_in_library() else None
    is_of_an_import = traceback.exception.endswith(("ImportError", "AttributeError"))
    return named["file"] if named and is_of_an_import and not is_library(named["file"]) else ""


def _find_final_frame(failure: FirstFailure[Message], case: Case) -> Frame | None:
    """Give the frame in which a run ended whose first failure is a line before its traceback."""
    first = case.first
    if first is None or (first.source, first.line) != (failure.source, failure.line):
        return None
    behind = (
        traceback.own_frame()
        for traceback in case.tracebacks
        if traceback.source == failure.source and traceback.line > failure.line
    )
    return next((frame for frame in behind if frame is not None), None)


def _find_tracebacks_around(failure: FirstFailure[Message], case: Case) -> Iterator[Traceback]:
    """Yield the tracebacks that hold the line of the failure, the narrowest first.

    Of one that quotes another the quoted one is narrower: it was raised in a worker.
    """
    found = [
        traceback
        for traceback, _ in case.extract.tracebacks
        if traceback.source == failure.source
        and traceback.line <= failure.line <= traceback.end_line
    ]
    yield from sorted(
        found, key=lambda traceback: (traceback.end_line - traceback.line, -traceback.line)
    )


_BEFORE, _BEHIND = 8, 3
"""Lines around a piece of evidence for the first cause; more before it, for a traceback."""
_LINES_AROUND: Final = 1
"""Lines around any other place."""
_JOINED: Final = 2
"""Stretches with no more than so many lines between them are one."""
_LONGEST_ITEM: Final = 40
"""Of a piece of evidence over more lines the first ones."""
_MOST_EVIDENCE: Final = 16
_MOST_RIVALS: Final = 3
_MOST_QUOTED_LINES: Final = 600
_UNSHOWN: Final = 6
"""Lines on either side of a stretch that are read too: they tell what is a secret in it."""


class _Stretch(NamedTuple):
    source: int
    first: int
    last: int


def add_quotes(diagnosis: Analysis, origins: Sequence[Origin]) -> Analysis:
    """Fill `quotes`, from where the sources come from.

    A source that cannot be read again is quoted by the lines that were kept around the failure.
    """
    excerpt = diagnosis.excerpt
    wanted: defaultdict[int, list[_Stretch]] = defaultdict(list)
    for stretch in _merge_stretches(_choose_stretches(diagnosis)):
        wanted[stretch.source].append(stretch)
    found: list[Excerpt] = []
    for source, stretches in wanted.items():
        windows = list(_iter_windows(stretches))
        lines = read_lines_again(origins[source], windows) if source < len(origins) else {}
        if lines:
            found += _iter_excerpts(source, stretches, lines, excerpt)
        elif excerpt is not None and excerpt.source == source:
            found.append(excerpt)
    return replace(diagnosis, quotes=tuple(found))


def _choose_stretches(diagnosis: Analysis) -> Iterator[_Stretch]:
    """Give the stretches that matter most, up to `_MOST_LINES` lines."""
    lines_left = _MOST_QUOTED_LINES
    for stretch in _iter_named_places(diagnosis):
        lines_left -= stretch.last - stretch.first + 1
        if lines_left < 0:
            return
        yield stretch


def _iter_named_places(diagnosis: Analysis) -> Iterator[_Stretch]:
    """Name every place that the page does, the weightiest first."""
    excerpt = diagnosis.excerpt
    if excerpt is not None and excerpt.lines:
        yield _Stretch(
            excerpt.source, excerpt.first_line, excerpt.first_line + len(excerpt.lines) - 1
        )
    main = [cause for cause in diagnosis.causes if cause.id == diagnosis.verdict.cause]
    rivals = [cause for cause in diagnosis.causes if cause.id != diagnosis.verdict.cause][
        :_MOST_RIVALS
    ]
    yield from _iter_cause_stretches(diagnosis, main, _BEFORE, _BEHIND)
    for event in diagnosis.timeline:
        yield _expand_place(
            diagnosis, event.source, event.line, event.line, _LINES_AROUND, _LINES_AROUND
        )
    yield from _iter_cause_stretches(diagnosis, rivals, _LINES_AROUND, _LINES_AROUND)
    for hit in diagnosis.signatures:
        if hit.role == "harmless":
            yield _expand_place(
                diagnosis, hit.source, hit.line, hit.line, _LINES_AROUND, _LINES_AROUND
            )
    for setting in diagnosis.settings.values():
        yield _expand_place(diagnosis, setting.source, setting.line, setting.line, 0, 0)


def _iter_cause_stretches(
    diagnosis: Analysis, causes: Iterable[Cause[Message]], before: int, behind: int
) -> Iterator[_Stretch]:
    for cause in causes:
        placed = ((item.source, item.line, item.end_line) for item in cause.evidence)
        for source, line, end in islice(placed, _MOST_EVIDENCE):
            if source is not None and line is not None:
                yield _expand_place(
                    diagnosis, source, line, min(end or line, line + _LONGEST_ITEM), before, behind
                )


def _expand_place(
    diagnosis: Analysis, source: int, first: int, last: int, before: int, behind: int
) -> _Stretch:
    """Widen a place, within its source."""
    count = diagnosis.sources[source].lines if source < len(diagnosis.sources) else last
    return _Stretch(source, max(1, first - before), max(first, min(last + behind, count)))


def _merge_stretches(stretches: Iterable[_Stretch]) -> list[_Stretch]:
    """Put stretches in order and join those that touch."""
    joined: list[_Stretch] = []
    for stretch in sorted(stretches):
        before = joined[-1] if joined else None
        if (
            before is not None
            and before.source == stretch.source
            and stretch.first <= before.last + 1 + _JOINED
        ):
            joined[-1] = before._replace(last=max(before.last, stretch.last))
        else:
            joined.append(stretch)
    return joined


def _iter_windows(stretches: Sequence[_Stretch]) -> Iterator[tuple[int, int]]:
    """Yield the first and last line to read for each stretch, without overlaps."""
    done = 0
    for index, stretch in enumerate(stretches):
        first = max(1, done + 1, stretch.first - _UNSHOWN)
        done = stretch.last + _UNSHOWN
        if index + 1 < len(stretches):
            done = min(done, stretches[index + 1].first - 1)
        yield first, done


def _iter_excerpts(
    source: int, stretches: Iterable[_Stretch], lines: dict[int, RawLine], excerpt: Excerpt | None
) -> Iterator[Excerpt]:
    marked = excerpt.marked if excerpt is not None and excerpt.source == source else ()
    for stretch in stretches:
        found = {
            number: lines[number]
            for number in range(stretch.first, stretch.last + 1)
            if number in lines
        }
        if found:
            over = tuple((number, line.over) for number, line in found.items() if line.over)
            yield Excerpt(
                source,
                stretch.first,
                tuple(line.text for line in found.values()),
                tuple(line for line in marked if stretch.first <= line <= stretch.last),
                over,
                _get_texts(lines, stretch.first - _UNSHOWN, stretch.first - 1),
                _get_texts(lines, stretch.last + 1, stretch.last + _UNSHOWN),
            )


def _get_texts(lines: dict[int, RawLine], first: int, last: int) -> tuple[str, ...]:
    """Give the lines of a stretch as far as they were read."""
    return tuple(lines[number].text for number in range(first, last + 1) if number in lines)
