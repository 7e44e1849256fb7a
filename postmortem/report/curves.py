"""Curves of a report: which to draw and where, in one line of block characters, as JSON.

In: `SeriesView` values; for JSON those in which nothing is left to hide. Out: positions and scales;
a sparkline; plain values or text of JSON. Not here: drawing (`page.chart`), the rest of the JSON
report (`report.wire`), finding anomalies (`diagnosis.detectors`).

A job may have thousands of curves, and most of its report is their figures. Python writes a whole
tuple of figures as fast as one of them.
"""

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from json.encoder import encode_basestring
from typing import Any, Final, NamedTuple

from postmortem.core.answer import SeriesView
from postmortem.core.findings import ProcessId
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
    """Steps; where they are missing or go back, the numbers of the records."""
    values: tuple[float, ...]
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
    return Curve(xs, values, is_log, min(scaled), max(scaled))


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


_AND_BAD: Final = " x…"
_BLOCKS: Final = "▁▂▃▄▅▆▇█"


def draw_sparkline(series: SeriesView, width: int) -> str:
    """Draw a series in one line of block characters.

    X marks the first non-finite value and columns where half are not finite.

    Where little else than x would be seen, the finite stretch before takes the width.
    """
    drawn, bad = _draw_columns(series, width), find_first_nonfinite_index(series)
    if bad and 2 * drawn.count("x") > len(drawn):
        return (
            _draw_columns(replace(series, samples=series.samples[:bad]), width - len(_AND_BAD))
            + _AND_BAD
        )
    return drawn


def _draw_columns(series: SeriesView, width: int) -> str:
    one = build_curve(series)
    columns = min(width, len(one.values))
    span = one.xs[-1] - one.xs[0] or 1.0
    cells: list[list[float]] = [[] for _ in range(columns)]
    places = [min(columns - 1, int((x - one.xs[0]) / span * columns)) for x in one.xs]
    for column, value in zip(places, one.values, strict=True):
        cells[column].append(value)
    bad = find_first_nonfinite_index(series)
    drawn, last = [], " "
    for column, cell in enumerate(cells):
        if cell:
            last = "x" if bad is not None and places[bad] == column else _select_glyph(one, cell)
        drawn.append(last)
    return "".join(drawn)


def _select_glyph(curve: Curve, cell: Sequence[float]) -> str:
    finite = [value for value in cell if math.isfinite(value)]
    if 2 * len(finite) <= len(cell):
        return "x"
    return _BLOCKS[min(len(_BLOCKS) - 1, int(curve.height(max(finite)) * len(_BLOCKS)))]


_NO_FIGURES: Final = (("nan", '"NaN"'), ("-inf", '"-Infinity"'), ("inf", '"Infinity"'))
"""What Python calls that which is no finite number, and what the report does."""
_CURVE: Final = """{
   "name": %s,
   "producer": %s,
   "source": %s,
   "where": %s,
   "attempt": %s,
   "unit": %s,
   "points": %s,
   "nonfinite": %s,
   "first": [
    %s,
    %s
   ],
   "last": [
    %s,
    %s
   ],
   "min": %s,
   "max": %s,
   "first_nonfinite": %s,
   "interleaved": %s,
   "samples": """
_PAIR: Final = "[\n    {},\n    {}\n   ]"
_SAMPLE: Final = "    [\n     %s,\n     %s,\n     %s\n    ]"
_NEXT: Final = ",\n"


def build_curve_values(series: SeriesView) -> dict[str, Any]:
    """Give a curve as plain values."""
    bad = series.first_nonfinite
    return {
        "name": series.name,
        "producer": series.producer,
        "source": series.source,
        "where": series.where._asdict(),
        "attempt": series.attempt,
        "unit": series.unit,
        "points": series.points,
        "nonfinite": series.nonfinite,
        "first": [convert_whole_step(series.first[0]), series.first[1]],
        "last": [convert_whole_step(series.last[0]), series.last[1]],
        "min": series.min,
        "max": series.max,
        "first_nonfinite": None if bad is None else [convert_whole_step(bad[0]), bad[1]],
        "interleaved": series.interleaved,
        "samples": [
            [convert_whole_step(step), value, line] for step, value, line in series.samples
        ],
    }


def serialize_curve(series: SeriesView) -> str:
    """Write a curve as it stands in the list of them, an entry a line."""
    (begin, first), (end, last) = series.first, series.last
    figures = [
        convert_whole_step(begin),
        first,
        convert_whole_step(end),
        last,
        series.min,
        series.max,
    ]
    for step, value, line in series.samples:
        figures += (step if step is None else convert_whole_step(step), value, line)
    shown = _serialize_numbers(figures)[1:-1].split(", ")
    return _build_curve_template(len(series.samples)) % (
        encode_basestring(series.name),
        encode_basestring(series.producer),
        series.source,
        _serialize_process(series.where),
        series.attempt,
        encode_basestring(series.unit),
        series.points,
        series.nonfinite,
        *shown[:6],
        _serialize_first_nonfinite(series.first_nonfinite),
        "true" if series.interleaved else "false",
        *shown[6:],
    )


@functools.lru_cache(maxsize=1024)
def _build_curve_template(count: int) -> str:
    """Give the form of a curve with so many samples, a place for each of its figures."""
    return _CURVE + (f"[\n{_NEXT.join([_SAMPLE] * count)}\n   ]" if count else "[]") + "\n  }"


def convert_whole_step(step: float | None) -> float | None:
    """Write a whole step as an integer."""
    return (
        int(step) if step is not None and math.isfinite(step) and float(step).is_integer() else step
    )


def _serialize_first_nonfinite(bad: tuple[float | None, int] | None) -> str:
    if bad is None:
        return "null"
    return _PAIR.format(*_serialize_numbers((convert_whole_step(bad[0]), bad[1]))[1:-1].split(", "))


def _serialize_numbers(figures: Sequence[Any]) -> str:
    """Write figures as Python does, but for those that are none."""
    text = repr(figures).replace("None", "null")
    if "nan" in text or "inf" in text:
        for word, other in _NO_FIGURES:
            text = text.replace(word, other)
    return text


@functools.lru_cache(maxsize=1024)
def _serialize_process(where: ProcessId) -> str:
    """Write the process of a curve, which it shares with many others."""
    parts = [
        f'    "{name}": {_serialize_process_field(part)}' for name, part in where._asdict().items()
    ]
    return "{\n" + ",\n".join(parts) + "\n   }"


def _serialize_process_field(part: str | int | None) -> str:
    return encode_basestring(part) if isinstance(part, str) else _serialize_numbers((part,))[1:-2]
