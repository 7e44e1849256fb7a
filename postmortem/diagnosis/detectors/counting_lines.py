"""Detect lines that count up: a run that goes on in a layout that no reader knows.

In: both ends of the sources without a metric record. Out: the anomaly `lines-count`. Not here:
records (`formats`), a count that stands still (`detectors.stalled_output`, `detectors.frozen_bar`).

Whoever trains prints how far it has come. Lines that are the same but for their numbers, of which
one only rises, say so in any layout.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.message import cut, quote
from postmortem.core.visible import get_last_draw
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed

_FEWEST: Final = 3
_MANY, _MANY_FIGURES = 8, 4
"""Lines, and figures on each, that count without a word of the work."""
_MOST_TEXT: Final = 160
_LONGEST: Final = 1000
_NUMBER: Final = compile_lazily(r"\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3}(?!\w))?")
_OF_WORK: Final = compile_lazily(
    r"\b(?:epochs?|steps?|iter(?:ation)?s?|batch(?:es)?|episodes?|rounds?|updates?|loss|acc\w*"
    r"|speed|samples?|images?|rewards?|wer|elapsed|eta|evaluati\w+|train\w*)\b|it/s|s/it|\d ?%",
    re.IGNORECASE,
)
_NO_RUN: Final = compile_lazily(
    r"^\s*(?:File \"|#\d|at |\d+ [│|]|from |\[?NCCL)|NCCL (?:INFO|WARN)|download|\bB/s|line \d"
    r"|MiB, "
    r"|^\s*\d+:\s*0x",
    re.IGNORECASE,
)


def detect_counting_lines(observed: Observed) -> Iterable[Anomaly]:
    """Find lines of one kind that count up in a source without records."""
    if any(observed.records.values()):
        return []
    for source in observed.processes:
        if source in observed.snapshots:
            continue
        for lines in _group_similar_lines(observed.kept_lines(source)):
            if _has_rising_number(lines):
                number, text = lines[-1]
                message = quote(cut(text.strip(), _MOST_TEXT))
                return [Anomaly("lines-count", message, source, NOWHERE, number)]
    return []


def iter_counted_columns(
    job: Observed,
) -> Iterator[tuple[int, ProcessId, Sequence[int], Sequence[float]]]:
    """Yield the figures beside the count of such lines: source, process, lines, a column.

    What only rises, or never falls by its step, is a count or a clock.
    """
    if any(job.records.values()):
        return
    for source, where in job.processes.items():
        if source in job.snapshots:
            continue
        for lines in _group_similar_lines(job.kept_lines(source)):
            numbers = [number for number, _ in lines]
            yield from ((source, where, numbers, column) for column in _iter_value_columns(lines))


def _iter_value_columns(lines: Sequence[tuple[int, str]]) -> Iterator[Sequence[float]]:
    """Yield the columns of lines that count up, but those that only rise by whole numbers."""
    rows = [[float(number) for number in _NUMBER.findall(text)] for _, text in lines]
    if len({len(row) for row in rows}) == 1 and _has_rising_number(lines):
        for column in zip(*rows, strict=True):
            if list(column) != sorted(column) or not column[-1].is_integer():
                yield column


def _group_similar_lines(lines: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Put together the lines that differ in their numbers alone."""
    kinds: dict[str, list[tuple[int, str]]] = {}
    for number, line in lines:
        text = get_last_draw(line)
        if len(text) <= _LONGEST and not _NO_RUN.search(text):
            kind = re.sub(r"[\s█▏▎▍▌▋▊▉#=>.|-]+", " ", _NUMBER.sub("0", text))
            kinds.setdefault(kind, []).append((number, text))
    for members in kinds.values():
        text = members[-1][1]
        is_of_work = _OF_WORK.search(text) is not None
        if len(members) >= _FEWEST if is_of_work else _is_row_of_figures(members):
            yield members


def _is_row_of_figures(lines: Sequence[tuple[int, str]]) -> bool:
    """Say whether many lines of names and figures count from one to the next, in whatever words."""
    counts = [[float(number) for number in _NUMBER.findall(text)] for _, text in lines]
    return (
        len(lines) >= _MANY
        and min(map(len, counts)) >= _MANY_FIGURES
        and all(after[0] == before[0] + 1 for before, after in itertools.pairwise(counts))
    )


def _has_rising_number(lines: Sequence[tuple[int, str]]) -> bool:
    """Say whether one of the numbers only rises."""
    rows = [[float(number) for number in _NUMBER.findall(text)] for _, text in lines]
    width = min(map(len, rows))
    return any(
        column == sorted(column) and len(set(column)) >= _FEWEST and column[-1].is_integer()
        for column in ([row[index] for row in rows] for index in range(width))
    )
