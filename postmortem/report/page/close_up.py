"""The part of a curve around a fault, for a drawing of its own.

In: a `SeriesView` and where the run failed. Out: a shorter `SeriesView`, or None where the whole
curve shows as much. Not here: drawing it (`page.chart`).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from postmortem.core.names import (
    GRAD_NORM,
    LOSS,
    LOSS_SCALE,
)
from postmortem.core.shown import SeriesView
from postmortem.report.plotted import build_curve, find_first_nonfinite_index

_AT_AN_END: Final = 0.02
_AROUND: Final = 0.05
_DETAIL_SAMPLES: Final = 20
_WIDEST_DETAIL: Final = 0.25
"""A detail of more than this share of the curve shows nothing that the curve does not."""
_DETAILED: Final = (LOSS, GRAD_NORM, LOSS_SCALE)
"""A failure that is no value of the curve is looked at closely in these only."""


def extract_edge_close_up(
    series: SeriesView, failure: tuple[int, int] | None = None
) -> SeriesView | None:
    """Give the samples around a fault at the very start or end of a long curve.

    None where the whole curve shows it or samples are too few.

    The fault is the first non-finite value; without one the failure, a (source, line).
    """
    at = find_fault_index(series, failure)
    one = build_curve(series)
    span = one.xs[-1] - one.xs[0] if one.xs else 0.0
    if (
        at is None
        or not span
        or not (
            _is_at_an_end(one.xs, at) or _is_at_an_end([line for _, _, line in series.samples], at)
        )
    ):
        return None
    near = [index for index, x in enumerate(one.xs) if abs(x - one.xs[at]) <= _AROUND * span]
    first, last = near[0], near[-1] + 1
    if last - first < _DETAIL_SAMPLES:
        first = max(0, min(at - _DETAIL_SAMPLES // 2, len(one.xs) - _DETAIL_SAMPLES))
        last = first + _DETAIL_SAMPLES
    if last > len(one.xs) or one.xs[last - 1] - one.xs[first] > _WIDEST_DETAIL * span:
        return None
    return cut_to(series, series.samples[first:last])


def extract_close_up(
    series: SeriesView, failure: tuple[int, int] | None = None
) -> SeriesView | None:
    """Give the samples around a fault of a curve whose points are not all kept.

    None where all are, or too few stand there.
    """
    at = find_fault_index(series, failure)
    if at is None or len(series.samples) >= series.points:
        return None
    first = max(0, at - _DETAIL_SAMPLES // 2)
    close = series.samples[first : at + _DETAIL_SAMPLES // 2 + 1]
    return cut_to(series, close) if len(close) > _DETAIL_SAMPLES // 2 else None


def _is_at_an_end(places: Sequence[float], at: int) -> bool:
    """Say whether a sample is in the first or last 2 % of the curve.

    Thinned records are placed by their lines, which is more exact than their numbers.
    """
    span = places[-1] - places[0]
    return span > 0 and not _AT_AN_END < (places[at] - places[0]) / span < 1 - _AT_AN_END


def cut_to(series: SeriesView, samples: tuple[tuple[float | None, float, int], ...]) -> SeriesView:
    """Give a part of a series as a series of its own."""
    finite = [value for _, value, _ in samples if math.isfinite(value)]
    return replace(
        series,
        points=len(samples),
        nonfinite=len(samples) - len(finite),
        first=samples[0][:2],
        last=samples[-1][:2],
        min=min(finite, default=None),
        max=max(finite, default=None),
        samples=samples,
    )


def find_fault_index(series: SeriesView, failure: tuple[int, int] | None) -> int | None:
    """Give the index of the first non-finite sample.

    Without one that of the sample at a failure, for the curves that may show why.
    """
    bad = find_first_nonfinite_index(series)
    if (
        bad is not None
        or failure is None
        or series.name not in _DETAILED
        or series.source != failure[0]
        or not series.samples
    ):
        return bad
    return next(
        (index for index, (_, _, line) in enumerate(series.samples) if line >= failure[1]),
        len(series.samples) - 1,
    )
