"""Choose the raw lines that the page quotes.

In: an `Analysis`. Out: the same with `quotes`, in the order of sources and lines; files that can be
read again are, in one pass each. Not here: finding the failure, cutting lines to a width, hiding
what they give away.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

from postmortem.core.answer import Cause
from postmortem.core.diagnosis import Analysis
from postmortem.core.message import Message
from postmortem.core.shown import Excerpt
from postmortem.reading.excerpt import RawLine, read_lines_again
from postmortem.reading.sources import Origin

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
_MOST_LINES: Final = 600
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
    lines_left = _MOST_LINES
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
