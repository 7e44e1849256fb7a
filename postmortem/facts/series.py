"""One printed metric over a run, in bounded memory.

In: points (step, value, raw line), one by one, in the order of the log.
Out: `Series`: count, first, last, extremes, every change of finiteness, samples.
Not here: what a curve means (`facts.shapes`).

Up to EXACT points are kept as they are. Beyond that they are thinned to an envelope: of each run of
neighbours the smallest, the largest and every change between finite and not. Count, ends, extremes
and the first non-finite point stay exact. Samples are such an envelope too, and all points around
the first non-finite one, a line that is asked for, and the largest changes: else the shape of a
spike would be lost.
"""

import bisect
import heapq
import math
from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from postmortem.model.lines import Where

EXACT: Final = 1_000_000
ENVELOPE: Final = 20_000
LARGE: Final = 20_000
"""Points from which NumPy is worth its import."""
_LOOKED_AT: Final = 2000
"""First points by which it is told whether a series is several streams in one."""
_BESIDE: Final = 8
_LEAST: Final = 20
_AROUND: Final = 10
"""Points on either side of what matters that a sample keeps."""
_AROUND_PART: Final = 30
"""It keeps at most this part of its own size there: a small one shows less of each."""
_TURNS: Final = 4
_CANDIDATES: Final = 64
_PARTS_APART: Final = 50
"""Of two turns that are kept, one is this part of the series away from the other."""
_FEWEST: Final = 16
NO_STEP: Final = math.nan


class Point(NamedTuple):
    """A printed metric record."""

    step: float
    """NaN where no step is printed or certain."""
    value: float
    line: int


class Series:
    """A growing series of one (source, process, producer, name)."""

    __slots__ = (
        "_parts",
        "_settled",
        "first",
        "first_nonfinite",
        "interleaved",
        "last",
        "lines",
        "max",
        "min",
        "name",
        "nonfinite",
        "points",
        "producer",
        "source",
        "steps",
        "unit",
        "values",
        "where",
    )

    def __init__(self, name: str, producer: str, source: int, where: Where, unit: str = "") -> None:
        """Start empty."""
        self.name, self.producer, self.source, self.where, self.unit = (
            name,
            producer,
            source,
            where,
            unit,
        )
        self.steps, self.values, self.lines = array("d"), array("d"), array("q")
        self.points = self.nonfinite = self._settled = 0
        self.min, self.max = math.inf, -math.inf
        self.first: Point | None = None
        self.last: Point | None = None
        self.first_nonfinite: Point | None = None
        self.interleaved = False
        self._parts: list[tuple[int, int]] = []
        """Stretches of the kept points that were thinned: how many points are kept of how many; behind them all are."""

    def append(self, step: float, value: float, line: int) -> None:
        """Add the next point; `step` is NaN if it is not known."""
        self.steps.append(step)
        self.values.append(value)
        self.lines.append(line)
        if len(self.values) > EXACT:
            self.thin()

    def is_in(self, unit: str) -> None:
        """Take note of the unit of a point: a series of several has none."""
        if unit != self.unit:
            self.unit = ""

    def append_many(
        self, steps: "array[float]", values: "array[float]", lines: "array[int]"
    ) -> None:
        """Add points in order; the same as `append` for each."""
        start = 0
        while start < len(values):
            end = start + EXACT + 1 - len(self.values)
            self.steps.extend(steps[start:end])
            self.values.extend(values[start:end])
            self.lines.extend(lines[start:end])
            start = end
            if len(self.values) > EXACT:
                self.thin()

    def settle(self) -> None:
        """Bring count, extremes and ends up to date with the points added since the last call."""
        values, fresh = self.values, len(self.values) - self._settled
        if not fresh:
            return
        finite: Any = (
            [value for value in values[self._settled :] if math.isfinite(value)]
            if fresh < LARGE
            else _finite(values, self._settled)
        )
        if len(finite):
            self.min, self.max = (
                min(self.min, float(min(finite) if fresh < LARGE else finite.min())),
                max(self.max, float(max(finite) if fresh < LARGE else finite.max())),
            )
        if len(finite) < fresh:
            self.nonfinite += fresh - len(finite)
            self.first_nonfinite = self.first_nonfinite or self._at(
                next(
                    index
                    for index in range(self._settled, len(values))
                    if not math.isfinite(values[index])
                )
            )
        if self._settled < _LOOKED_AT:
            self.interleaved = self.interleaved or _comes_again(self.steps[:_LOOKED_AT])
        self.first = self.first or self._at(0)
        self.last = self._at(-1)
        self.points += fresh
        self._settled = len(values)

    def thin(self, keep: int = ENVELOPE) -> None:
        """Replace the kept points by their envelope of about `keep` points."""
        self.settle()
        chosen = self._spread(keep)
        self.steps = array("d", [self.steps[index] for index in chosen])
        self.lines = array("q", [self.lines[index] for index in chosen])
        self.values = array("d", [self.values[index] for index in chosen])
        self._settled = len(self.values)
        self._parts = [(len(self.values), self.points)]

    def kept(self) -> Iterator[Point]:
        """Yield the points that are kept: all of them, or the envelope and what came since."""
        return map(Point, self.steps, self.values, self.lines)

    def samples(self, most: int = 400, line: int | None = None) -> list[Point]:
        """Give at most about `most` points that show the curve, ends and changes of finiteness among them; all around the largest changes, and around `line`."""
        count = len(self.values)
        if count <= most:
            return list(self.kept())
        around = min(_AROUND, most // _AROUND_PART)
        chosen = set(self._spread(most - (_TURNS + 2) * (2 * around + 1)))
        centres = turns(self.values, _TURNS)
        centres += [
            index
            for index in [
                min(
                    (index for index in chosen if not math.isfinite(self.values[index])),
                    default=None,
                )
            ]
            if index is not None
        ]
        centres += (
            [min(bisect.bisect_left(self.lines, line), count - 1)] if line is not None else []
        )
        return [
            self._at(index)
            for index in sorted(
                chosen.union(
                    *(
                        range(max(0, centre - around), min(count, centre + around + 1))
                        for centre in centres
                    )
                )
            )
        ]

    def _spread(self, most: int) -> list[int]:
        """Choose indexes of about `most` kept points.

        Of each thinned stretch as many as it stands for.
        """
        dense = len(self.values) - sum(kept for kept, _ in self._parts)
        parts = [*self._parts, (dense, dense)]
        whole = sum(points for _, points in parts)
        chosen, start = [], 0
        for kept, points in parts:
            part = self.values[start : start + kept] if len(parts) > 1 else self.values
            chosen += (
                [start + index for index in envelope(part, max(_FEWEST, most * points // whole))]
                if kept
                else []
            )
            start += kept
        return chosen

    def extend(self, other: "Series") -> None:
        """Add what another part of the same stream has gathered behind this one."""
        self.settle()
        other.settle()
        if self._parts or other._parts:  # noqa: SLF001 -- of the same kind
            dense = len(self.values) - sum(kept for kept, _ in self._parts)
            border = [(dense, dense)] if dense else []
            self._parts = [*self._parts, *border, *other._parts]  # noqa: SLF001
        counted = (
            self.points + other.points,
            self.nonfinite + other.nonfinite,
            min(self.min, other.min),
            max(self.max, other.max),
        )
        bad = self.first_nonfinite or other.first_nonfinite
        first, last = self.first or other.first, other.last or self.last
        self.is_in(other.unit)
        self.steps.extend(other.steps)
        self.values.extend(other.values)
        self.lines.extend(other.lines)
        self.points, self.nonfinite, self.min, self.max = counted
        self.first, self.last, self.first_nonfinite = first, last, bad
        self.interleaved = self.interleaved or other.interleaved
        self._settled = len(self.values)
        if len(self.values) > EXACT:
            self.thin()

    def _at(self, index: int) -> Point:
        return Point(self.steps[index], self.values[index], self.lines[index])


def _comes_again(steps: Sequence[float]) -> bool:
    """Say whether most steps come again at once, and never later.

    Copies of a run that the lines do not tell apart, not epochs that count anew.
    """
    first: dict[float, int] = {}
    last: dict[float, int] = {}
    for index, step in enumerate(steps):
        if not math.isnan(step):
            first.setdefault(step, index)
            last[step] = index
    near = sum(0 < last[step] - first[step] <= _BESIDE for step in first)
    return len(steps) >= _LEAST and near >= 0.8 * len(first) and len(steps) >= 1.5 * len(first) > 0


def envelope(values: Sequence[float], most: int) -> list[int]:
    """Choose indexes that keep the look of a curve.

    The ends, the extremes of each run of neighbours, changes of finiteness.
    """
    count = len(values)
    if count <= most:
        return list(range(count))
    width = max(1, math.ceil(count / (most / 2 - 2)))
    chosen, changes = (_chosen if count < LARGE else _chosen_by_numpy)(values, width)
    if len(changes) > most:  # a curve that flickers: of each run the first and the last change
        changes = [
            *{index // width: index for index in changes}.values(),
            *{index // width: index for index in reversed(changes)}.values(),
        ]
    return sorted({0, count - 1}.union(chosen, changes))


def turns(values: Sequence[float], most: int) -> list[int]:
    """Give the indexes behind the largest changes between finite neighbours, at most `most`, well apart."""
    apart = max(2 * _AROUND, len(values) // _PARTS_APART)
    found: list[int] = []
    for index in _changes(values) if len(values) < LARGE else _changes_by_numpy(values):
        if len(found) < most and all(abs(index - other) > apart for other in found):
            found.append(index)
    return found


def _changes(values: Sequence[float]) -> list[int]:
    """Give the indexes behind the largest changes, the largest first."""
    changes = [
        abs(two - one) if math.isfinite(one) and math.isfinite(two) else 0.0
        for one, two in pairwise(values)
    ]
    return [
        index + 1
        for index in heapq.nlargest(_CANDIDATES, range(len(changes)), key=changes.__getitem__)
        if changes[index] > 0
    ]


def _changes_by_numpy(values: Sequence[float]) -> list[int]:
    """Do the same for a long series."""
    import numpy as np  # noqa: PLC0415 -- only long series pay for its import

    figures = np.asarray(values)
    with np.errstate(all="ignore"):
        changes = np.abs(figures[1:] - figures[:-1])
    changes[~(np.isfinite(figures[1:]) & np.isfinite(figures[:-1]))] = 0
    largest = np.argsort(-changes, kind="stable")[:_CANDIDATES]
    return [int(index) + 1 for index in largest if changes[index] > 0]


def _chosen(values: Sequence[float], width: int) -> tuple[list[int], list[int]]:
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


def _chosen_by_numpy(values: Sequence[float], width: int) -> tuple[list[int], list[int]]:
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


def _finite(values: "array[float]", start: int) -> Any:
    """Give the finite figures of a long stretch."""
    import numpy as np  # noqa: PLC0415 -- as above

    stretch = np.frombuffer(values, dtype=float)[start:]
    return stretch[np.isfinite(stretch)]
