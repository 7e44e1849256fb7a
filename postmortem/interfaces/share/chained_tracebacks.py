"""Extract the whole traceback of the process that failed first, with its chained tracebacks.

In: an `Analysis` whose sources can be read again. Out: `Passage`s, bounded. Not here: what else an
excerpt holds (`share.passage_selection`).
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import InputError
from postmortem.core.passages import Passage
from postmortem.extraction.frames import is_library, match_frame
from postmortem.reading.excerpt import read_lines_in
from postmortem.reading.prefixes import clean

_HEAD: Final = "Traceback (most recent call last)"
_CHAINED: Final = (
    "During handling of the above exception",
    "The above exception was the direct cause",
)
_BEFORE, _BEHIND = 3200, 200
"""Lines around the first failure in which its traceback is looked for: ranks print into each other,
and a recursion has a thousand frames of three lines."""
_NEAR: Final = 40
"""Lines from a failure that is no exception to the traceback that tells of it."""
_MOST: Final = 160
_FIRST, _LAST = 4, 80
"""Of a longer one so many lines of its beginning and its end are kept, and frames of own code."""
_OWN_FRAMES: Final = 24
_OF_A_FRAME: Final = 3


class _RankLine(NamedTuple):
    """A line of the process that failed."""

    number: int
    text: str


def extract_traceback(analysis: Analysis) -> list[Passage]:
    """Give the lines of the traceback at the first failure; none where there is no traceback."""
    first = analysis.first_failure
    if first is None:
        return []
    lines = _read_process_lines(analysis, first.source, first.line)
    groups = [group for group in _iter_traceback_chains(lines) if group]
    inside = [group for group in groups if group[0].number <= first.line <= group[-1].number]
    near = [group for group in groups if 0 < group[0].number - first.line <= _NEAR]
    chosen = next(iter(inside or near), ())
    return [Passage(first.source, line, line) for line in _truncate_traceback(chosen)]


def _read_process_lines(analysis: Analysis, source: int, line: int) -> list[_RankLine]:
    """Read the lines around a line that its process printed, without what stands before them."""
    window = (max(1, line - _BEFORE), line + _BEHIND)
    try:
        read = read_lines_in(analysis.sources[source].path, [window])
    except (InputError, OSError):
        return []
    cleaned = {number: clean(raw.text) for number, raw in read.items()}
    if line not in cleaned:
        return []
    where = cleaned[line].where
    return [
        _RankLine(number, value.text) for number, value in cleaned.items() if value.where == where
    ]


def _iter_traceback_chains(lines: Sequence[_RankLine]) -> Iterator[list[_RankLine]]:
    """Yield tracebacks up to their exception; those that are chained are one."""
    group: list[_RankLine] = []
    between: list[_RankLine] = []
    is_inside = False
    for line in lines:
        if _HEAD in line.text:
            group, between, is_inside = [*group, *between, line], [], True
        elif is_inside:
            group.append(line)
            is_inside = _is_inner(line.text)
        elif group and (not line.text.strip() or line.text.lstrip().startswith(_CHAINED)):
            between.append(line)
        elif group:
            yield group
            group, between = [], []
    yield group


def _is_inner(text: str) -> bool:
    """Say whether a line stands above the exception of its traceback."""
    return not text.strip() or text[0] in " \t│|╭╰" or match_frame(text) is not None


def _truncate_traceback(group: Sequence[_RankLine]) -> list[int]:
    """Keep of a very long traceback both ends and the frames of the user's own code."""
    if len(group) <= _MOST:
        return [line.number for line in group]
    own = [
        at
        for at, one in enumerate(group)
        if (frame := match_frame(one.text)) is not None and not is_library(frame["file"])
    ][:_OWN_FRAMES]
    kept = {*range(_FIRST), *range(len(group) - _LAST, len(group))}
    for at, after in pairwise([*own, len(group)]):
        kept.update(range(at, min(at + _OF_A_FRAME, after)))
    return [group[at].number for at in sorted(kept)]
