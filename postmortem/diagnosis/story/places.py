"""The places of a job that a report shows: findings, curves, lines of the log.

In: the case, the extract. Out: values of `core.shown`. Not here: where it failed first
(`story.first_failure`), causes (`inference`), the order of events (`story.timeline`), how far the
run came (`story.progress`).
"""

import math
from collections.abc import Sequence
from typing import Final

from postmortem.core.message import Message
from postmortem.core.shown import Excerpt, FirstFailure, SeriesView, SignatureHit
from postmortem.diagnosis.case.values import Case
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.number_texts import normalise_step
from postmortem.extraction.facts.series import Point, Series
from postmortem.reading.excerpt import read_lines_around
from postmortem.reading.prefixes import get_time_basis
from postmortem.rules.base import KnowledgeBase

_MOST_LINES: Final = 120
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
    extract = case.gathered
    around = None
    if failure is not None:
        around = _get_kept_lines(extract, failure) or _read_around(extract, failure)
    if failure is None or around is None:
        return _end(extract)
    begin, lines = around
    marked = _select_marked_lines(case, failure, begin, len(lines))
    return Excerpt(failure.source, begin, tuple(lines[:_MOST_LINES]), marked)


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
