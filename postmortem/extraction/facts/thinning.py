"""Choose the points of a long curve that keep its shape.

In: the values of a curve. Out: indexes of points. Not here: the curve itself (`facts.series`).
"""

import bisect
import heapq
import math
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

LARGE: Final = 20_000
"""Points from which NumPy is worth its import."""
_SOME: Final = 500
"""The same once it is imported."""
_AROUND: Final = 10
"""Points on either side of what matters that a sample keeps."""
_AROUND_PART: Final = 30
"""It keeps at most this part of its own size there: a small one shows less of each."""
_TURNS: Final = 4
_CANDIDATES: Final = 64
_PARTS_APART: Final = 50
"""Of two turns that are kept, one is this part of the series away from the other."""


def _is_numpy_worthwhile(count: int) -> bool:
    """Say whether NumPy is worth its while for so many points."""
    return count >= (_SOME if "numpy" in sys.modules else LARGE)


def split_point_budget(most: int) -> tuple[int, int]:
    """Say how much of a sample of `most` points goes to what matters most.

    Points on either side of each such place, and points of all of them together.
    """
    around = min(_AROUND, most // _AROUND_PART)
    return around, (_TURNS + 2) * (2 * around + 1)


def select_neighbourhoods(
    values: Sequence[float],
    lines: Sequence[int],
    chosen: Iterable[int],
    line: int | None,
    around: int,
) -> set[int]:
    """Choose all points around what matters most of a curve.

    Around the largest changes, the first of the chosen points that is not finite, and a line.

    Args:
        values: of all points.
        lines: raw lines of all points, ascending.
        chosen: indexes that are kept anyhow.
        line: raw line that is asked for, or None.
        around: points on either side of each place.
    """
    last = len(values) - 1
    centres = find_largest_changes(values, _TURNS)
    bad = min((index for index in chosen if not math.isfinite(values[index])), default=None)
    if bad is not None:
        centres.append(bad)
    if line is not None:
        centres.append(min(bisect.bisect_left(lines, line), last))
    return {
        index
        for centre in centres
        for index in range(max(0, centre - around), min(last, centre + around) + 1)
    }


def select_envelope(values: Sequence[float], most: int) -> list[int]:
    """Choose indexes that keep the look of a curve.

    The ends, the extremes of each run of neighbours, changes of finiteness.
    """
    count = len(values)
    if count <= most:
        return list(range(count))
    width = max(1, math.ceil(count / (most / 2 - 2)))
    chosen, changes = (_select_extremes_numpy if _is_numpy_worthwhile(count) else _select_extremes)(
        values, width
    )
    if len(changes) > most:  # a curve that flickers: of each run the first and the last change
        changes = [
            *{index // width: index for index in changes}.values(),
            *{index // width: index for index in reversed(changes)}.values(),
        ]
    return sorted({0, count - 1}.union(chosen, changes))


def find_largest_changes(values: Sequence[float], most: int) -> list[int]:
    """Give the indexes behind the largest changes between finite neighbours.

    At most `most`, well apart.
    """
    apart = max(2 * _AROUND, len(values) // _PARTS_APART)
    found: list[int] = []
    for index in (_sort_by_change_numpy if _is_numpy_worthwhile(len(values)) else _sort_by_change)(
        values
    ):
        if len(found) < most and all(abs(index - other) > apart for other in found):
            found.append(index)
    return found


def _sort_by_change(values: Sequence[float]) -> list[int]:
    """Give the indexes behind the largest changes, the largest first."""
    changes = [
        abs(two - previous) if math.isfinite(previous) and math.isfinite(two) else 0.0
        for previous, two in pairwise(values)
    ]
    return [
        index + 1
        for index in heapq.nlargest(_CANDIDATES, range(len(changes)), key=changes.__getitem__)
        if changes[index] > 0
    ]


def _sort_by_change_numpy(values: Sequence[float]) -> list[int]:
    """Do the same for a long series."""
    import numpy as np  # noqa: PLC0415 -- only long series pay for its import

    figures = np.asarray(values)
    with np.errstate(all="ignore"):
        changes = np.abs(figures[1:] - figures[:-1])
    changes[~(np.isfinite(figures[1:]) & np.isfinite(figures[:-1]))] = 0
    largest = np.argsort(-changes, kind="stable")[:_CANDIDATES]
    return [int(index) + 1 for index in largest if changes[index] > 0]


def _select_extremes(values: Sequence[float], width: int) -> tuple[list[int], list[int]]:
    """Give of each run the smallest, the largest and the first non-finite index.

    And the places where finiteness changes.
    """
    chosen = []
    is_finite = [math.isfinite(value) for value in values]
    for start in range(0, len(values), width):
        run = range(start, min(start + width, len(values)))
        finite = [index for index in run if is_finite[index]]
        if finite:
            chosen += [min(finite, key=values.__getitem__), max(finite, key=values.__getitem__)]
        if len(finite) < len(run):
            chosen.append(next(index for index in run if not is_finite[index]))
    return chosen, [
        index for index in range(1, len(values)) if is_finite[index] != is_finite[index - 1]
    ]


def _select_extremes_numpy(values: Sequence[float], width: int) -> tuple[list[int], list[int]]:
    """Do the same for a long series."""
    import numpy as np  # noqa: PLC0415 -- only long series pay for its import

    figures = np.asarray(values)
    rows = -(-len(figures) // width)
    padded = np.full(rows * width, np.nan)
    padded[: len(figures)] = figures
    runs, offsets = padded.reshape(rows, width), np.arange(rows) * width
    is_finite = np.isfinite(runs)
    some, bad = is_finite.any(axis=1), ~is_finite
    bad.reshape(-1)[len(figures) :] = False
    low = (np.where(is_finite, runs, np.inf).argmin(axis=1) + offsets)[some]
    high = (np.where(is_finite, runs, -np.inf).argmax(axis=1) + offsets)[some]
    first_bad = (bad.argmax(axis=1) + offsets)[bad.any(axis=1)]
    flags = np.isfinite(figures)
    return [*low.tolist(), *high.tolist(), *first_bad.tolist()], (
        np.flatnonzero(flags[1:] != flags[:-1]) + 1
    ).tolist()
