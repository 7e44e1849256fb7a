"""Prepare curves for drawing: which to show, and the position of each point.

In: `SeriesView` values. Out: positions and scales. Not here: drawing (`page.chart`,
`report.sparks`), finding anomalies (`diagnosis.detectors`).
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from postmortem.core.names import (
    EPOCH,
    EVAL_LOSS,
    GRAD_NORM,
    LEARNING_RATE,
    LOSS,
    LOSS_SCALE,
    MEMORY,
    SKIPPED_STEPS,
    THROUGHPUT,
)
from postmortem.core.shown import SeriesView

_ORDER: Final = (
    LOSS,
    GRAD_NORM,
    LOSS_SCALE,
    LEARNING_RATE,
    EVAL_LOSS,
    SKIPPED_STEPS,
    MEMORY,
    THROUGHPUT,
)
_CLOCKS: Final = ("time", "eta", "seconds", "elapsed")
_LOG_FROM: Final = 1000.0
_LARGEST: Final = 1e300


class Curve(NamedTuple):
    """A series with a place for each sample."""

    xs: tuple[float, ...]
    values: tuple[float, ...]
    is_by_step: bool
    """False where steps are missing or go back: then a place is the number of the record."""
    is_log: bool
    low: float
    high: float
    """The range of the finite values, on the scale that is drawn; (0, 0) if there is none."""

    def height(self, value: float) -> float:
        """Give a value's place between 0 (low) and 1 (high)."""
        if self.high == self.low:
            return 0.5
        return (_scale_value(value, is_log=self.is_log) - self.low) / (self.high - self.low)


def build_curve(series: SeriesView) -> Curve:
    """Give each sample its place, and choose the scale.

    It is logarithmic where the values span more than a factor of 1000.
    """
    steps = _get_rising_steps(series)
    xs = tuple(map(float, range(len(series.samples)))) if steps is None else steps
    values = tuple(
        max(-_LARGEST, min(_LARGEST, value)) if math.isfinite(value) else value
        for _, value, _ in series.samples
    )
    finite = [value for value in values if math.isfinite(value)]
    is_log = bool(finite) and min(finite) > 0 and max(finite) > _LOG_FROM * min(finite)
    scaled = [_scale_value(value, is_log=is_log) for value in finite] or [0.0]
    return Curve(xs, values, steps is not None, is_log, min(scaled), max(scaled))


def _get_rising_steps(series: SeriesView) -> tuple[float, ...] | None:
    """Give the steps of all samples; None where one is missing, or they do not rise."""
    steps = tuple(step for step, _, _ in series.samples if step is not None and math.isfinite(step))
    is_rising = all(earlier <= later for earlier, later in pairwise(steps)) and (
        len(steps) == 1 or steps[:1] != steps[-1:]
    )
    return steps if is_rising and len(steps) == len(series.samples) else None


def _scale_value(value: float, *, is_log: bool) -> float:
    return math.log10(value) if is_log else value


def select_series(
    series: Iterable[SeriesView],
    names: Sequence[str] = (),
    each: int = 2,
    failing: int | None = None,
) -> tuple[SeriesView, ...]:
    """Choose the series to draw, the loss first.

    Of several with one name those of the source that failed first, those with a fault and with most
    points.
    """
    wanted = [
        curve
        for curve in series
        if curve.samples and curve.name != EPOCH and (not names or curve.name in names)
    ]
    wanted.sort(
        key=lambda curve: (
            _rank(curve.name),
            _rank(curve.name) >= len(_ORDER) and not curve.nonfinite,
            curve.name,
            curve.source != failing,
            not curve.nonfinite,
            -curve.points,
            curve.source,
        )
    )
    taken: dict[str, int] = {}
    kept = []
    for curve in wanted:
        taken[curve.name] = taken.get(curve.name, 0) + 1
        if taken[curve.name] <= each:
            kept.append(curve)
    return tuple(kept)


def _rank(name: str) -> float:
    """Rank metric names by importance: losses first, clocks last."""
    if name in _ORDER:
        return _ORDER.index(name)
    if LOSS in name.lower():
        return _ORDER.index(EVAL_LOSS) + 0.5
    return len(_ORDER) + name.lower().endswith(_CLOCKS)


def find_first_nonfinite_index(series: SeriesView) -> int | None:
    """Give the index of the first non-finite sample."""
    return next(
        (index for index, (_, value, _) in enumerate(series.samples) if not math.isfinite(value)),
        None,
    )


def is_constant(series: SeriesView) -> bool:
    """Say whether a series of several points never changes."""
    return series.points > 1 and not series.nonfinite and series.min == series.max
