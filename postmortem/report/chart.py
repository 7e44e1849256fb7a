"""A series as an inline SVG line chart; a pure function, no library, no script.

In: a `SeriesView`. Out: SVG text whose colours are CSS classes of `templates/style.css`. Not here: which series to draw (`report.curves`).
"""

import math
from html import escape
from itertools import groupby
from typing import Final, NamedTuple

from postmortem.model.diagnosis import SeriesView
from postmortem.report.curves import Curve, curve, first_bad, ticks
from postmortem.report.parts import step_and_line
from postmortem.report.plain import cut, labels, number, one_line, process
from postmortem.report.words import Words

WIDTH: Final = 480
HEIGHT: Final = 220
DETAIL_HEIGHT: Final = 170
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 16, 34, 36
_INNER_WIDTH: Final = WIDTH - _LEFT - _RIGHT
_DECADES_SHOWN: Final = 5
_LAST_DECADE: Final = 300


class _Frame(NamedTuple):
    """Maps values to pixels; the ranges are those of the axes, on the drawn scale."""

    curve: Curve
    left: float
    right: float
    low: float
    high: float
    bottom: int
    """The pixel of the foot of the drawing."""

    def x(self, value: float) -> float:
        """Give the pixel of a place."""
        return round(_LEFT + (value - self.left) / (self.right - self.left) * _INNER_WIDTH, 1)

    def y(self, value: float) -> float:
        """Give the pixel of a value."""
        scaled = math.log10(value) if self.curve.is_log else value
        return round(_TOP + (self.high - scaled) / (self.high - self.low) * (self.bottom - _TOP), 1)


def svg(series: SeriesView, *, key: str = "chart", language: str = "en", is_detail: bool = False, mark: int | None = None) -> str:
    """Draw a series; `key` makes the ids unique within a page, `mark` is the index of a sample at which the run failed."""
    words = Words(language)
    height = DETAIL_HEIGHT if is_detail else HEIGHT
    frame = _frame(curve(series), height - _BOTTOM)
    name = escape(one_line(series.name, 28))
    if is_detail:
        name = escape(words("curve.detail", name=one_line(series.name, 28)))
    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="{escape(key)}-t {escape(key)}-d" xmlns="http://www.w3.org/2000/svg">',
        f'<title id="{escape(key)}-t">{name}</title><desc id="{escape(key)}-d">{escape(described(series, words))}</desc>',
        f'<text class="chart-title" x="{_LEFT}" y="20">{name}</text>',
        f'<text class="chart-note" x="{WIDTH - _RIGHT}" y="20" text-anchor="end">{escape(_note(series, frame.curve, words))}</text>',
        *_axes(frame, words),
        *_lines(frame),
        *(_bad(series, frame, words) or _failed(frame, mark, words)),
        "</svg>",
    ]
    return "".join(parts)


def described(series: SeriesView, words: Words) -> str:
    """Say in words what a chart shows: points, range, first and last value, the first non-finite one."""
    parts = [words("curve.points", count=series.points), f"{number(series.first[1])} → {number(series.last[1])}"]
    if series.min is not None and series.max is not None:
        parts.append(words("curve.range", low=number(series.min), high=number(series.max)))
    if series.nonfinite:
        parts.append(words("curve.nonfinite", count=series.nonfinite))
    if series.first_nonfinite is not None:
        parts.append(words("curve.first-bad") + words("colon") + step_and_line(*series.first_nonfinite, words))
    return words("joint").join(parts)


def _note(series: SeriesView, one: Curve, words: Words) -> str:
    said = [words("curve.log") if one.is_log else "", words("curve.interleaved") if series.interleaved else "", series.unit, process(series.where, words)]
    return cut(" · ".join(one_line(part, 40) for part in said if part), 44)


def _frame(one: Curve, bottom: int) -> _Frame:
    left, right = (one.xs[0], one.xs[-1]) if one.xs else (0.0, 1.0)
    if left == right:
        left, right = left - 0.5, right + 0.5
    span = one.high - one.low
    is_flat = span <= max(abs(one.low), abs(one.high)) * 1e-9
    margin = (abs(one.high) * 0.1 or 1.0) if is_flat else span * 0.06
    return _Frame(one, left, right, one.low - margin, one.high + margin, bottom)


def _axes(frame: _Frame, words: Words) -> list[str]:
    bottom, right = frame.bottom, WIDTH - _RIGHT
    parts = []
    heights, places = _value_ticks(frame), _place_ticks(frame)
    for value, label in zip(heights, labels(heights, is_log=frame.curve.is_log), strict=True):
        y = frame.y(value)
        parts.append(f'<line class="grid" x1="{_LEFT}" y1="{y}" x2="{right}" y2="{y}"/>')
        parts.append(f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    for value, label in zip(places, labels(places), strict=True):
        x = frame.x(value)
        parts.append(f'<line class="axis" x1="{x}" y1="{bottom}" x2="{x}" y2="{bottom + 4}"/>')
        at, anchor = (right, "end") if x > right - 16 else (x, "middle")
        parts.append(f'<text class="tick" x="{at}" y="{bottom + 17}" text-anchor="{anchor}">{label}</text>')
    parts.append(f'<line class="axis" x1="{_LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}"/>')
    unit = words("step" if frame.curve.is_by_step else "record")
    parts.append(f'<text class="chart-note" x="{right}" y="{bottom + _BOTTOM - 4}" text-anchor="end">{unit}</text>')
    return parts


def _place_ticks(frame: _Frame) -> tuple[float, ...]:
    xs = frame.curve.xs
    if len(set(xs)) < 2:
        return xs[:1]
    is_whole = all(float(x).is_integer() for x in xs)
    return tuple(value for value in ticks(frame.left, frame.right, 5) if not is_whole or float(value).is_integer())


def _value_ticks(frame: _Frame) -> tuple[float, ...]:
    if not any(math.isfinite(value) for value in frame.curve.values):
        return ()
    if not frame.curve.is_log:
        return ticks(frame.low, frame.high, 4)
    decades = range(max(-_LAST_DECADE, math.ceil(frame.low)), min(_LAST_DECADE, math.floor(frame.high)) + 1)
    stride = -(-len(decades) // _DECADES_SHOWN) or 1
    return tuple(10.0**power for power in decades[::stride])


def _lines(frame: _Frame) -> list[str]:
    """Draw each run of finite samples as one line, a run of one as a dot."""
    parts = []
    samples = zip(frame.curve.xs, frame.curve.values, strict=True)
    for is_finite, run in groupby(samples, key=lambda sample: math.isfinite(sample[1])):
        if not is_finite:
            continue
        points = [(frame.x(x), frame.y(value)) for x, value in run]
        if len(points) == 1:
            parts.append(f'<circle class="dot" cx="{points[0][0]}" cy="{points[0][1]}" r="2.5"/>')
        else:
            joined = " ".join(f"{x},{y}" for x, y in points)
            parts.append(f'<polyline class="curve" points="{joined}"/>')
    return parts


def _bad(series: SeriesView, frame: _Frame, words: Words) -> list[str]:
    """Mark every non-finite sample at the foot, and the first by a line and a label."""
    index = first_bad(series)
    if index is None:
        return []
    bottom = frame.bottom
    places = sorted({frame.x(x) for x, value in zip(frame.curve.xs, frame.curve.values, strict=True) if not math.isfinite(value)})
    rug = "".join(f"M{x} {bottom}v-6" for x in places)
    step, value, line = series.samples[index]
    label = f"{number(value)} · {step_and_line(step, line, words)}"
    parts = [f'<path class="bad-mark" d="{rug}"/>', *_flag(frame, index, label)]
    if not any(math.isfinite(one) for one in frame.curve.values):
        middle = f'x="{WIDTH / 2}" y="{(bottom + _BOTTOM) / 2}" text-anchor="middle"'
        parts.append(f'<text class="chart-note" {middle}>{escape(words("curve.none-finite"))}</text>')
    return parts


def _failed(frame: _Frame, mark: int | None, words: Words) -> list[str]:
    return [] if mark is None else _flag(frame, mark, words("curve.failure"))


def _flag(frame: _Frame, index: int, label: str) -> list[str]:
    """Mark one sample by a vertical line with a label beside it."""
    x = frame.x(frame.curve.xs[index])
    is_right = x > _LEFT + _INNER_WIDTH * 0.5
    at, anchor = (x - 6, "end") if is_right else (x + 6, "start")
    return [
        f'<line class="bad-line" x1="{x}" y1="{_TOP}" x2="{x}" y2="{frame.bottom}"/>',
        f'<text class="bad-label" x="{at:.1f}" y="{_TOP + 12}" text-anchor="{anchor}">{escape(label)}</text>',
    ]
