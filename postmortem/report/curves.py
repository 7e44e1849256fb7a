"""Curves made ready to draw: which to show, where a point stands, and a curve in one line of text.

In: `SeriesView` values. Out: positions, scales, sparklines. Not here: SVG (`report.chart`), finding
shapes (`shapes`).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

from postmortem.model.diagnosis import SeriesView
from postmortem.names import (
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
_AND_BAD: Final = " x…"
_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_LOG_FROM: Final = 1000.0
_LARGEST: Final = 1e300
_LAST_DECADE: Final = 300
_LEAST_TICKS: Final = 3
_BETWEEN: Final = ((1, 3), (1, 2, 5))
"""What stands between two powers of ten."""
_AT_AN_END: Final = 0.02
_AROUND: Final = 0.05
_DETAIL_SAMPLES: Final = 20
_WIDEST_DETAIL: Final = 0.25
"""A detail of more than this share of the curve shows nothing that the curve does not."""
_DETAILED: Final = (LOSS, GRAD_NORM, LOSS_SCALE)
"""A failure that is no value of the curve is looked at closely in these only."""


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
        return (_scaled(value, is_log=self.is_log) - self.low) / (self.high - self.low)


def curve(series: SeriesView) -> Curve:
    """Give each sample its place, and choose a logarithmic scale where the values span more than a factor of 1000."""
    steps = [step for step, _, _ in series.samples if step is not None and math.isfinite(step)]
    is_rising = all(one <= two for one, two in pairwise(steps)) and (
        len(steps) == 1 or steps[:1] != steps[-1:]
    )
    is_by_step = is_rising and len(steps) == len(series.samples)
    xs = tuple(steps) if is_by_step else tuple(float(index) for index in range(len(series.samples)))
    values = tuple(
        max(-_LARGEST, min(_LARGEST, value)) if math.isfinite(value) else value
        for _, value, _ in series.samples
    )
    finite = [value for value in values if math.isfinite(value)]
    is_log = bool(finite) and min(finite) > 0 and max(finite) > _LOG_FROM * min(finite)
    scaled = [_scaled(value, is_log=is_log) for value in finite] or [0.0]
    return Curve(xs, values, is_by_step, is_log, min(scaled), max(scaled))


def _scaled(value: float, *, is_log: bool) -> float:
    return math.log10(value) if is_log else value


def chosen(
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
        one
        for one in series
        if one.samples and one.name != EPOCH and (not names or one.name in names)
    ]
    wanted.sort(
        key=lambda one: (
            _rank(one.name),
            one.name,
            one.source != failing,
            not one.nonfinite,
            -one.points,
            one.source,
        )
    )
    taken: dict[str, int] = {}
    kept = []
    for one in wanted:
        taken[one.name] = taken.get(one.name, 0) + 1
        if taken[one.name] <= each:
            kept.append(one)
    return tuple(kept)


def _rank(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


def detail(series: SeriesView, failure: tuple[int, int] | None = None) -> SeriesView | None:
    """Give the samples around a fault at the very start or end of a long curve.

    None where the whole curve shows it or samples are too few.

    The fault is the first non-finite value; without one the failure, a (source, line).
    """
    at = fault(series, failure)
    one = curve(series)
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


def around(series: SeriesView, failure: tuple[int, int] | None = None) -> SeriesView | None:
    """Give the samples around a fault of a curve whose points are not all kept.

    None where all are, or too few stand there.
    """
    at = fault(series, failure)
    if at is None or len(series.samples) >= series.points:
        return None
    first = max(0, at - _DETAIL_SAMPLES // 2)
    close = series.samples[first : at + _DETAIL_SAMPLES // 2 + 1]
    return cut_to(series, close) if len(close) > _DETAIL_SAMPLES // 2 else None


def _is_at_an_end(places: Sequence[float], at: int) -> bool:
    """Say whether a sample stands in the first or last fiftieth.

    Of thinned records the lines tell it better than their numbers.
    """
    span = places[-1] - places[0]
    return span > 0 and not _AT_AN_END < (places[at] - places[0]) / span < 1 - _AT_AN_END


def cut_to(series: SeriesView, samples: tuple[tuple[float | None, float, int], ...]) -> SeriesView:
    """Give a part of a series as a series of its own."""
    finite = [value for _, value, _ in samples if math.isfinite(value)]
    return replace(
        series, points=len(samples), nonfinite=len(samples) - len(finite), first=samples[0][:2], last=samples[-1][:2], min=min(finite, default=None),
        max=max(finite, default=None), samples=samples,
    )  # fmt: skip


def fault(series: SeriesView, failure: tuple[int, int] | None) -> int | None:
    """Give the index of the first non-finite sample.

    Without one that of the sample at a failure, for the curves that may show why.
    """
    bad = first_bad(series)
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


def sparkline(series: SeriesView, width: int) -> str:
    """Draw a series in one line of block characters.

    X marks the first non-finite value and columns where half are not finite.

    Where little else than x would be seen, the finite stretch before takes the width.
    """
    drawn, bad = _columns(series, width), first_bad(series)
    if bad and 2 * drawn.count("x") > len(drawn):
        return (
            _columns(replace(series, samples=series.samples[:bad]), width - len(_AND_BAD))
            + _AND_BAD
        )
    return drawn


def _columns(series: SeriesView, width: int) -> str:
    one = curve(series)
    columns = min(width, len(one.values))
    span = one.xs[-1] - one.xs[0] or 1.0
    cells: list[list[float]] = [[] for _ in range(columns)]
    places = [min(columns - 1, int((x - one.xs[0]) / span * columns)) for x in one.xs]
    for column, value in zip(places, one.values, strict=True):
        cells[column].append(value)
    bad = first_bad(series)
    drawn, last = [], " "
    for column, cell in enumerate(cells):
        if cell:
            last = "x" if bad is not None and places[bad] == column else _glyph(one, cell)
        drawn.append(last)
    return "".join(drawn)


def _glyph(one: Curve, cell: Sequence[float]) -> str:
    finite = [value for value in cell if math.isfinite(value)]
    if 2 * len(finite) <= len(cell):
        return "x"
    return _BLOCKS[min(len(_BLOCKS) - 1, int(one.height(max(finite)) * len(_BLOCKS)))]


def first_bad(series: SeriesView) -> int | None:
    """Give the index of the first non-finite sample."""
    return next(
        (index for index, (_, value, _) in enumerate(series.samples) if not math.isfinite(value)),
        None,
    )


def ticks(low: float, high: float, count: int) -> tuple[float, ...]:
    """Give round numbers between two bounds, about `count` of them."""
    span = high - low
    if not math.isfinite(span) or span <= max(abs(low), abs(high)) * 1e-9 or span < _LARGEST**-1:
        return (low,) if low == high else ()
    rough = span / max(1, count)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    found = (
        index * step
        for index in range(first, first + count + 3)
        if index * step <= high + step * 1e-9
    )
    return tuple(round(value, 12) if step > 1e-9 else value for value in found)


def log_ticks(low: float, high: float, count: int) -> tuple[float, ...]:
    """Give logarithms of round numbers between two: powers of ten.

    Where these are few, some between them; within less than a decade any round numbers.
    """
    powers = range(max(-_LAST_DECADE, math.ceil(low)), min(_LAST_DECADE, math.floor(high)) + 1)
    found = tuple(map(float, powers[:: -(-len(powers) // (count + 1)) or 1]))
    for factors in _BETWEEN if high - low < count and low > -_LAST_DECADE else ():
        if len(found) >= _LEAST_TICKS:
            return found
        places = (
            power + math.log10(factor)
            for power in range(math.floor(low), math.floor(high) + 1)
            for factor in factors
        )
        found = tuple(place for place in places if low <= place <= high)
    if len(found) >= _LEAST_TICKS or low <= -_LAST_DECADE or high >= _LAST_DECADE:
        return found
    return tuple(
        math.log10(value) for value in ticks(10.0**low, 10.0**high, count + 2) if value > 0
    )
