"""The places that a report shows of a job: where it failed first, what was recognised, its curves.

In: the case, what was gathered. Out: values of `model.shown`. Not here: causes (`inference`),
the order of events (`story.timeline`), how far the run came (`story.progress`).
"""

import math
from collections.abc import Sequence
from typing import Final

from postmortem.case.culprit import Meant, meant_by
from postmortem.case.failures import Failure
from postmortem.case.values import Case
from postmortem.facts.number_texts import whole
from postmortem.facts.series import Point, Series
from postmortem.gathering.gathered import Gathered
from postmortem.knowledge.base import KnowledgeBase
from postmortem.knowledge.catalogue import CATALOGUE
from postmortem.model.lines import Where
from postmortem.model.said import Said, cut, labelled, quote
from postmortem.model.shown import Excerpt, FirstFailure, SeriesView, SignatureHit
from postmortem.reading.excerpt import lines_around
from postmortem.reading.prefixes import time_basis
from postmortem.shapes.shape import Shape
from postmortem.story.own_words import in_its_own_file

_MOST_TEXT: Final = 400
_MOST_LINES: Final = 120
_MOST_LAST: Final = 60
"""Lines of the end of a log in which nothing failed."""
_MOST_SAMPLES: Final = 400
"""Points of a series that the report shows."""
_ALL_SAMPLES: Final = 200_000
"""The same of all series together: of thousands of processes each shows fewer."""
ONE_RANK: Final = "one-rank-first"
_STILL: Final = (
    "stack-apart",
    "silent-rank",
    "stood-still",
    "silence",
    "same-step",
    "stood-still-at-start",
)
_TOLD_LATE: Final = ("scheduler.", "unknown.", "hang.")
"""What tells only how a run was ended that had stood still."""
_TOLD_OF: Final = (*_STILL, "peer-named")
"""Shapes that may stand for a process in the line of another."""
_RANKED: Final = {"odd-line": 0, ONE_RANK: 1}
_HUGE_AT_FIRST: Final = "grad-huge-first"


def signature_hits(
    case: Case, gathered: Gathered, knowledge: KnowledgeBase
) -> tuple[SignatureHit[Said], ...]:
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
                time_basis(finding.time),
                gathered.count_of(finding),
                finding.text,
                finding.captures,
                rule.title,
                max(map(len, rule.anchors), default=0),
            )
        )
    return tuple(hits)


def first_failure(case: Case, knowledge: KnowledgeBase, area: str) -> FirstFailure[Said] | None:
    """Name the first real failure over all sources and processes.

    Of a numerical cause, the first bad value before the exception; of a hang, the last sign of
    life.

    Args:
        case: the evidence.
        knowledge: the titles.
        area: of the cause that is named first.
    """
    failure = _first_failure(case, knowledge, area)
    shown = _shown(case, area)
    meant = meant_by(case, case.first) if case.first is not None and shown is None else None
    if failure is None or (meant is None if shown is None else shown.id not in _TOLD_OF):
        return failure
    file = meant.file if meant is not None else None
    return in_its_own_file(case, failure, lambda name: knowledge.by_id[name].title, file)


def _first_failure(case: Case, knowledge: KnowledgeBase, area: str) -> FirstFailure[Said] | None:
    """Give the line that shows it first, with the process that is meant."""
    first, meant = case.first, None
    shown = _shown(case, area)
    if first is not None and shown is None:
        meant = meant_by(case, first)
        shown = meant.witness if meant is not None else None
    if shown is not None:
        where = shown.where if meant is None else meant.where
        return FirstFailure(shown.source, where, shown.line, None, shown.said.settled())
    if first is None:
        return None
    if meant is None:
        meant = Meant(first.where)
    found = meant.seen or first.finding
    if found is not None:
        title = knowledge.by_id[found.signature].title
        said = labelled(title, cut(found.text.splitlines()[0], _MOST_TEXT)).settled()
        return FirstFailure(found.source, meant.where, found.line, found.time, said)
    return _raised(first, meant.where)


def _raised(first: Failure, where: Where) -> FirstFailure[Said]:
    raised = first.traceback
    assert raised is not None  # noqa: S101 -- a Failure has one of the two
    message = cut((raised.message.splitlines() or [""])[0], _MOST_TEXT)
    said = quote(": ".join(part for part in (raised.exception, message) if part))
    return FirstFailure(raised.source, where, raised.exception_line, raised.time, said)


def _shown(case: Case, area: str) -> Shape | None:
    """Give the shape whose place is the first failure rather than what ended the run."""
    first, bad = case.first, _first_bad(case)
    if area == "hang" and (still := _last_sign(case)) is not None:
        return still
    if bad is not None and (first is None or (area == "numerics" and _is_before(bad, first))):
        return bad
    return case.shapes.get("peer-named") if first is None and case.outcome == "failed" else None


def _last_sign(case: Case) -> Shape | None:
    """Give the last sign of life of a run that stood still, as far as nothing else ended it."""
    told = case.first.finding if case.first is not None else None
    is_told_late = told is not None and told.signature.startswith(_TOLD_LATE)
    still = next((case.shapes[name] for name in _STILL if name in case.shapes), None)
    if still is None or not (case.first is None or is_told_late):
        return None
    missed = case.shapes.get("peer-named")
    return still if missed is None else still._replace(where=missed.where)


def _first_bad(case: Case) -> Shape | None:
    """Give the place where the curves go wrong first, as far as that may be the first failure."""
    bad = [shape for name, shape in case.shapes.items() if CATALOGUE[name].can_be_first]
    if not bad:
        return None
    if _HUGE_AT_FIRST in case.shapes:
        return case.shapes[_HUGE_AT_FIRST]
    return min(bad, key=lambda shape: (_RANKED.get(shape.id, 2), shape.source, shape.line))


def _is_before(shape: Shape, failure: Failure) -> bool:
    return shape.source != failure.source or shape.line < failure.line


def series_view(
    series: Series, failure: FirstFailure[Said] | None = None, beside: int = 1
) -> SeriesView:
    """Give a series as the report shows it, one of so many.

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
        (whole(first.step), first.value),
        (whole(last.step), last.value),
        series.min if has_finite else None,
        series.max if has_finite else None,
        (whole(bad.step), bad.line) if bad else None,
        series.interleaved,
        tuple(
            (whole(point.step), point.value, point.line)
            for point in series.samples(min(_MOST_SAMPLES, _ALL_SAMPLES // beside), line)
        ),
    )


def excerpt(case: Case, failure: FirstFailure[Said] | None) -> Excerpt | None:
    """Give the raw lines around the first failure: kept ones, or read again.

    Without a failure, the end of the log.
    """
    gathered = case.gathered
    around = None
    if failure is not None:
        around = _kept_around(gathered, failure) or _read_around(gathered, failure)
    if failure is None or around is None:
        return _end(gathered)
    begin, lines = around
    marked = _marked(case, failure, begin, len(lines))
    return Excerpt(failure.source, begin, tuple(lines[:_MOST_LINES]), marked)


def _kept_around(
    gathered: Gathered, failure: FirstFailure[Said]
) -> tuple[int, Sequence[str]] | None:
    """Give the lines that were kept beside a finding, with the number of the first."""
    for kept in gathered.findings.values():
        for seen in kept.first:
            begin, text = seen.context
            lines = text.split("\n")
            is_there = begin and begin <= failure.line < begin + len(lines)
            if is_there and seen.finding.source == failure.source:
                return begin, lines
    return None


def _read_around(
    gathered: Gathered, failure: FirstFailure[Said]
) -> tuple[int, Sequence[str]] | None:
    if failure.source >= len(gathered.origins):
        return None
    return lines_around(gathered.origins[failure.source], failure.line)


def _end(gathered: Gathered) -> Excerpt | None:
    """Give the last lines of the first source that has any."""
    for source, (number, text) in gathered.tails.items():
        if text.strip():
            lines = text.rstrip("\n").split("\n")
            last = lines[-_MOST_LAST:]
            return Excerpt(source, number + len(lines) - len(last), tuple(last), ())
    return None


def _marked(case: Case, failure: FirstFailure[Said], begin: int, count: int) -> tuple[int, ...]:
    lines = {
        event.finding.line
        for event in case.events
        if event.finding.source == failure.source and event.finding.role in {"cause", "consequence"}
    }
    return tuple(sorted(line for line in {*lines, failure.line} if begin <= line < begin + count))
