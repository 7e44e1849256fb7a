"""Choose passages for an excerpt, from the basis of the verdict outwards.

In: an `Analysis`. Out: `Passage`s, more of them at each level. Not here: which of them are needed
(`share.excerpting`).
"""

from collections.abc import Iterator
from typing import Final

from postmortem.core.diagnosis import Analysis
from postmortem.core.passages import Passage

_ENDS: Final = (0, 40, 150, 1500)
"""First and last lines of each log, by level."""
_WITH_FINDINGS, _WITH_CURVES = 1, 2
"""The levels from which a text holds what was recognised, and both ends of the curves."""
_LONG: Final = 120
"""Lines of a piece of evidence beyond which only its ends are given."""
_AT_AN_END: Final = 40
"""Points of a curve that count as its end."""
LEVELS: Final = len(_ENDS)


def list_log_indexes(analysis: Analysis) -> list[int]:
    """Give the indexes of the sources that are logs."""
    return [
        index
        for index, source in enumerate(analysis.sources)
        if source.kind not in {"ignored", "environment"}
    ]


def must_stay(analysis: Analysis) -> Iterator[Passage]:
    """Yield what people look for: the first failure, and the last lines of its source."""
    first = analysis.first_failure
    source = first.source if first is not None else next(iter(list_log_indexes(analysis)), 0)
    if first is not None:
        yield Passage(source, first.line - 6, first.line + 2)
    lines = analysis.sources[source].lines
    yield Passage(source, lines - 2, lines)


def iter_passages(analysis: Analysis, level: int) -> Iterator[Passage]:
    """Yield what a text of this level holds, from what the verdict rests on outwards."""
    yield from _iter_verdict_passages(analysis)
    if level >= _WITH_FINDINGS:
        yield from _iter_finding_passages(analysis)
    if level >= _WITH_CURVES:
        yield from _iter_curve_passages(analysis)
    yield from _iter_end_passages(analysis, _ENDS[level])


def _iter_verdict_passages(analysis: Analysis) -> Iterator[Passage]:
    for item in analysis.causes[0].evidence:
        if item.source is not None and item.line is not None:
            last = item.end_line or item.line
            if last - item.line <= _LONG:
                yield Passage(item.source, item.line - 1, last + 1)
            else:  # a traceback without end: the rest of it says the same again
                yield Passage(item.source, item.line - 1, item.line + _LONG // 2)
                yield Passage(item.source, last - _LONG // 2, last + 1)
    first = analysis.first_failure
    if first is not None:
        yield Passage(first.source, first.line - 25, first.line + 10)


def _iter_finding_passages(analysis: Analysis) -> Iterator[Passage]:
    for hit in analysis.signatures:
        yield Passage(hit.source, hit.line, hit.end_line)
    for setting in analysis.settings.values():
        if setting.source is not None and setting.line:
            yield Passage(setting.source, setting.line, setting.line)


def _iter_curve_passages(analysis: Analysis) -> Iterator[Passage]:
    for curve in analysis.series:
        for _, _, line in (*curve.samples[:_AT_AN_END], *curve.samples[-_AT_AN_END:]):
            yield Passage(curve.source, line, line)


def _iter_end_passages(analysis: Analysis, lines: int) -> Iterator[Passage]:
    """Yield so many first and last lines of each log."""
    for index in list_log_indexes(analysis):
        last = analysis.sources[index].lines
        if last and lines:
            yield Passage(index, 1, lines)
            yield Passage(index, last - lines + 1, last)
