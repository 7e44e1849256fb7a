"""Part the curves of a process where a training begins anew: folds, stages, runs of a search.

In: the series of one process. Out: the same series, of the last training alone. Not here: attempts,
which are starts of the program (`case.attempts`); curves that go on.

A curve of two trainings is none: what falls from the second to the first is no spike, and the best
of one fold is not the best of all. A training begins anew where the epoch is back at its first one,
or, in a log without epochs, where the step is. A step that counts within each epoch is back many
times, at even distances: that is no beginning.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Final

from postmortem.core import names
from postmortem.extraction.facts.series import Series

_COUNTED: Final = (names.LOSS, names.EVAL_LOSS)
_FEWEST: Final = 4
"""Records that make a training of its own."""
_SHARE: Final = 0.34
"""Share of the longest training from which on the last one is judged, not the one before it."""
_MOST: Final = 64
"""Beginnings beyond which a counter counts something else."""
_EVEN: Final = 3
"""Beginnings at even distances that are those of epochs."""


def select_last_training(series: Sequence[Series]) -> Sequence[Series]:
    """Give the series within the last training that has records enough; all if there is but one."""
    starts = _find_starts(series)
    if not starts:
        return series
    main = max(series, key=lambda one: one.points)
    first, end = _choose_span(main, starts)
    if end is not None and any(_is_broken_behind(one, end) for one in series):
        return series
    return _cut_all(series, first, end)


def _choose_span(main: Series, starts: Sequence[int]) -> tuple[int, int | None]:
    """Choose the last training with records enough: its first line, and its last unless it is open.

    Args:
        main: the longest series.
        starts: the lines at which a training begins anew.
    """
    ends = [*(start - 1 for start in starts), None]
    spans = list(zip([0, *starts], ends, strict=True))
    counts = [
        main.count_within(low, main.lines[-1] if high is None else high) for low, high in spans
    ]
    least = max(_FEWEST, _SHARE * max(counts))
    long = [span for span, count in zip(spans, counts, strict=True) if count >= least]
    return long[-1] if long else (0, None)


def _cut_all(series: Sequence[Series], first: int, end: int | None) -> Sequence[Series]:
    """Give the series that have points between two lines, without their other points."""
    full = [one for one in series if one.points]
    last = max(one.lines[-1] for one in full) if end is None else end
    return [part for one in full if (part := one.within(first, last)).points]


def _is_broken_behind(series: Series, line: int) -> bool:
    """Say whether a series is first not finite behind a line: that must not be left out."""
    return series.first_nonfinite is not None and series.first_nonfinite.line > line


def _find_starts(series: Sequence[Series]) -> list[int]:
    """Give the raw lines at which a training begins anew."""
    epochs = [one for one in series if one.name == names.EPOCH and one.points >= _FEWEST]
    if epochs:
        longest = max(epochs, key=lambda one: one.points)
        return _find_returns(longest.values, longest.lines)
    counted = [
        one
        for name in _COUNTED
        for one in series
        if one.name == name and one.points >= _FEWEST and not math.isnan(one.steps[0])
    ]
    if not counted:
        return []
    starts = _find_returns(counted[0].steps, counted[0].lines)
    return [] if _is_even(starts, counted[0]) else starts


def _find_returns(counter: Sequence[float], lines: Sequence[int]) -> list[int]:
    """Give the lines at which a counter is back where it began, or before that."""
    placed = sorted(zip(lines, counter, strict=True))
    first = placed[0][1]
    found = [
        line
        for (_, earlier), (line, later) in itertools.pairwise(placed)
        if later < earlier and later <= first
    ]
    return found if len(found) <= _MOST else []


def _is_even(starts: Sequence[int], series: Series) -> bool:
    """Say whether about as many records lie between all beginnings."""
    if len(starts) < _EVEN:
        return False
    counts = [
        series.count_within(low, high - 1)
        for low, high in itertools.pairwise([series.lines[0], *starts])
    ]
    return max(counts) - min(counts) <= max(1, max(counts) // 10)
