"""One printed metric over a run, in bounded memory.

In: points (step, value, raw line), in the order of the log. Out: `Series`: count, first, last,
extremes, every change of finiteness, samples. Not here: what a curve means (`detectors`).

Up to EXACT points are kept as they are. Beyond that they are thinned to an envelope: of each run of
neighbours the smallest, the largest and every change between finite and not. Count, ends, extremes
and the first non-finite point stay exact. Samples are such an envelope too, and all points around
the first non-finite one, a line that is asked for, and the largest changes: else the shape of a
spike would be lost.
"""

import bisect
import copy
import functools
import math
from array import array
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from postmortem.core.findings import ProcessId
from postmortem.core.names import NAMELESS
from postmortem.extraction.facts.thinning import (
    LARGE,
    select_envelope,
    select_neighbourhoods,
    split_point_budget,
)

EXACT: Final = 1_000_000
ENVELOPE: Final = 20_000
_LOOKED_AT: Final = 2000
"""First points by which it is told whether a series is several streams in one."""
_MAX_LINES_APART: Final = 8
_LEAST, _FEWEST = 20, 16


_Figure = TypeVar("_Figure", int, float)


class Point(NamedTuple):
    """A printed metric record."""

    step: float
    """NaN where no step is printed or certain."""
    value: float
    line: int


_AS_POINT: Final = functools.partial(tuple.__new__, Point)
"""Makes a point of its three figures, in two thirds of the time that calling it takes."""


class Exact:
    """What is known of a series exactly, however few of its points are kept."""

    __slots__ = ("first", "first_nonfinite", "last", "max", "min", "nonfinite", "points")

    def __init__(self) -> None:
        """Start empty."""
        self.points = self.nonfinite = 0
        self.min, self.max = math.inf, -math.inf
        self.first: Point | None = None
        self.last: Point | None = None
        self.first_nonfinite: Point | None = None

    def join(self, later: "Exact") -> None:
        """Add what is known of a later part."""
        self.points += later.points
        self.nonfinite += later.nonfinite
        self.min, self.max = min(self.min, later.min), max(self.max, later.max)
        self.first, self.last = self.first or later.first, later.last or self.last
        self.first_nonfinite = self.first_nonfinite or later.first_nonfinite


class Series(Exact):
    """A growing series of one (source, process, producer, name)."""

    __slots__ = (
        "_parts",
        "_settled",
        "interleaved",
        "lines",
        "name",
        "producer",
        "source",
        "steps",
        "unit",
        "values",
        "where",
    )

    def __init__(
        self, name: str, producer: str, source: int, where: ProcessId, unit: str = ""
    ) -> None:
        """Start empty."""
        super().__init__()
        self.name, self.producer, self.unit = name, producer, unit
        self.source, self.where = source, where
        self.steps, self.values, self.lines = array("d"), array("d"), array("q")
        self.interleaved = False
        self._settled = 0
        self._parts: list[tuple[int, int]] = []
        """Stretches of the kept points that were thinned: how many points are kept of how many;
        behind them all are."""

    def append(self, step: float, value: float, line: int) -> None:
        """Add the next point; `step` is NaN if it is not known."""
        self.steps.append(step)
        self.values.append(value)
        self.lines.append(line)
        if len(self.values) > EXACT:
            self.thin()

    def copy(self) -> "Series":
        """Give a series of its own with the same points."""
        other = copy.copy(self)
        other.steps, other.values, other.lines = self.steps[:], self.values[:], self.lines[:]
        other._parts = [*self._parts]  # noqa: SLF001 -- of the same kind
        return other

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
            end = start + max(1, EXACT + 1 - len(self.values))  # an envelope may leave no room
            self.steps.extend(steps[start:end])
            self.values.extend(values[start:end])
            self.lines.extend(lines[start:end])
            start = end
            if len(self.values) > EXACT:
                self.thin()

    def settle(self) -> None:
        """Bring count, extremes and ends up to date with the points added since the last call."""
        start, fresh = self._settled, len(self.values) - self._settled
        if not fresh:
            return
        finite, low, high = _compute_extent(self.values, start)
        self.min = min(self.min, low)
        self.max = max(self.max, high)
        if finite < fresh:
            self.nonfinite += fresh - finite
            self.first_nonfinite = self.first_nonfinite or self._get_point(
                _find_first_nonfinite(self.values, start)
            )
        if start < _LOOKED_AT and len(self.steps) >= _LEAST:
            self.interleaved = self.interleaved or _has_repeated_steps(self.steps[:_LOOKED_AT])
        self.first = self.first or self._get_point(0)
        self.last = self._get_point(-1)
        self.points += fresh
        self._settled = len(self.values)

    def place(self, steps: Sequence[float]) -> None:
        """Give points without steps theirs, all at once; none may have been thinned."""
        self.steps[:] = array("d", steps)
        self.first, self.last = self._get_point(0), self._get_point(-1)
        if self.first_nonfinite is not None:
            self.first_nonfinite = self._get_point(_find_first_nonfinite(self.values, 0))

    def thin(self, keep: int = ENVELOPE) -> None:
        """Replace the kept points by their envelope of about `keep` points."""
        self.settle()
        chosen = self._spread(keep)
        self.steps, self.values = (
            _select_by_index(self.steps, chosen),
            _select_by_index(self.values, chosen),
        )
        self.lines = _select_by_index(self.lines, chosen)
        self._settled = len(self.values)
        self._parts = [(len(self.values), self.points)]

    def kept(self) -> Iterator[Point]:
        """Yield the points that are kept: all of them, or the envelope and what came since."""
        return map(_AS_POINT, zip(self.steps, self.values, self.lines, strict=True))

    def samples(self, most: int = 400, line: int | None = None) -> list[Point]:
        """Give at most about `most` points that show the curve, ends and changes of finiteness too.

        All that are kept around the largest changes, and around `line`.
        """
        count = len(self.values)
        if count <= most:
            return list(self.kept())
        around, count_around = split_point_budget(most)
        chosen = set(self._spread(most - count_around))
        chosen |= select_neighbourhoods(self.values, self.lines, chosen, line, around)
        return [self._get_point(index) for index in sorted(chosen)]

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
                [
                    start + index
                    for index in select_envelope(part, max(_FEWEST, most * points // whole))
                ]
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
        self.is_in(other.unit)
        self.steps.extend(other.steps)
        self.values.extend(other.values)
        self.lines.extend(other.lines)
        self.join(other)
        self.interleaved = self.interleaved or other.interleaved
        self._settled = len(self.values)
        if len(self.values) > EXACT:
            self.thin()

    def count_within(self, first: int, last: int) -> int:
        """Count the points within some raw lines, among those that are kept."""
        start, end = self._find_within(first, last)
        return end - start

    def within(self, first: int, last: int) -> "Series":
        """Give a series of the kept points within some raw lines."""
        start, end = self._find_within(first, last)
        part = Series(self.name, self.producer, self.source, self.where, self.unit)
        part.append_many(self.steps[start:end], self.values[start:end], self.lines[start:end])
        part.settle()
        return part

    def get_ends(self, first: int, last: int) -> tuple[int, int]:
        """Give the first and the last raw line with a kept point within some raw lines."""
        start, end = self._find_within(first, last)
        return self.lines[start], self.lines[end - 1]

    def _find_within(self, first: int, last: int) -> tuple[int, int]:
        return bisect.bisect_left(self.lines, first), bisect.bisect_right(self.lines, last)

    def _get_point(self, index: int) -> Point:
        return _AS_POINT((self.steps[index], self.values[index], self.lines[index]))


def is_nameless(every: Collection[Series]) -> bool:
    """Say whether nothing says what any of the figures is: how the run goes, they do not show."""
    return bool(every) and all(series.name.startswith(NAMELESS) for series in every)


def iter_points_at(series: Series, indexes: Sequence[int]) -> Iterator[Point]:
    """Yield the kept points at some indexes, many at once."""
    columns = series.steps, series.values, series.lines
    return map(
        _AS_POINT, zip(*(_select_by_index(column, indexes) for column in columns), strict=True)
    )


def _select_by_index(figures: "array[_Figure]", indexes: Sequence[int]) -> "array[_Figure]":
    """Give the figures at some indexes."""
    import numpy as np  # noqa: PLC0415 -- only long series pay for its import

    code = figures.typecode
    chosen = np.frombuffer(figures, dtype=code)[np.array(indexes, dtype=np.intp)]
    return array(code, chosen.tobytes())


def _has_repeated_steps(steps: Sequence[float]) -> bool:
    """Say whether most steps come again at once, and never later.

    Copies of a run that the lines do not tell apart, not epochs that count anew.
    """
    if len(steps) < _LEAST:
        return False
    first: dict[float, int] = {}
    last: dict[float, int] = {}
    for index, step in enumerate(steps):
        if not math.isnan(step):
            first.setdefault(step, index)
            last[step] = index
    near = sum(0 < last[step] - first[step] <= _MAX_LINES_APART for step in first)
    return near >= 0.8 * len(first) and len(steps) >= 1.5 * len(first) > 0


def _compute_extent(values: "array[float]", start: int) -> tuple[int, float, float]:
    """Count the finite values from an index on, with the lowest and the highest of them.

    These are inf and -inf where there is none.
    """
    if len(values) - start >= LARGE:
        return _compute_extent_numpy(values, start)
    fresh = values[start:] if start else values
    if math.isfinite(sum(fresh)):
        return len(fresh), min(fresh), max(fresh)
    finite = [value for value in fresh if math.isfinite(value)]
    return len(finite), min(finite, default=math.inf), max(finite, default=-math.inf)


def _compute_extent_numpy(values: "array[float]", start: int) -> tuple[int, float, float]:
    """Do the same for a long stretch."""
    import numpy as np  # noqa: PLC0415 -- only long series pay for its import

    stretch = np.frombuffer(values, dtype=float)[start:]
    finite = stretch[np.isfinite(stretch)]
    if not len(finite):
        return 0, math.inf, -math.inf
    return len(finite), float(finite.min()), float(finite.max())


def _find_first_nonfinite(values: Sequence[float], start: int) -> int:
    return next(index for index in range(start, len(values)) if not math.isfinite(values[index]))
