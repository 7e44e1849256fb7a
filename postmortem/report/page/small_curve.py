"""The small loss curve next to the verdict: one line, the failure marked, no axes.

In: a `Diagnosis` and words. Out: SVG with a title and a description, and a caption; or None if
there is no curve worth showing. Not here: the charts (`page.chart`).
"""

import math
from itertools import groupby
from typing import Final, NamedTuple

from markupsafe import Markup, escape

from postmortem.core.diagnosis import Diagnosis
from postmortem.core.shown import SeriesView
from postmortem.report.key_figures import select_main_series
from postmortem.report.page.chart_data import name_of
from postmortem.report.plain import format_number
from postmortem.report.plotted import Curve, build_curve, is_constant
from postmortem.report.words import Words

_WIDTH, _HEIGHT, _EDGE = 300, 84, 6
_MOST: Final = 70
_LEAST: Final = 4


class Sketch(NamedTuple):
    """A drawing and its caption."""

    drawing: Markup
    caption: str


def draw_sketch(diagnosis: Diagnosis, words: Words) -> Sketch | None:
    """Draw the loss of the source that failed first."""
    series = select_main_series(diagnosis)
    if series is None or len(series.samples) < _LEAST or is_constant(series):
        return None
    one = build_curve(series)
    if not any(map(math.isfinite, one.values)):
        return None
    ends = f"{format_number(series.first[1])} → {format_number(series.last[1])}"
    caption = name_of(series) + words("colon") + ends
    if series.nonfinite:
        caption += words("joint") + words("curve.nonfinite", count=series.nonfinite)
    name = f"{words.language}-sketch"
    drawing = (
        f'<svg class="sketch" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-labelledby="{name}">'
        f'<title id="{name}">{escape(caption)}</title>'
        f"{_draw_fault(diagnosis, series, one)}{_draw_lines(one)}</svg>"
    )
    return Sketch(Markup(drawing), caption)  # noqa: S704 -- our own drawing, its text escaped


def _compute_x(curve: Curve, index: int) -> int:
    span = curve.xs[-1] - curve.xs[0]
    share = (curve.xs[index] - curve.xs[0]) / span if span else 0.5
    return round(_EDGE + share * (_WIDTH - 2 * _EDGE))


def _draw_lines(curve: Curve) -> str:
    """Draw each finite run as a line, and crosses at the foot for what is not finite."""
    drawn, crosses, last = [], "", -math.inf
    for is_finite, run in groupby(
        _select_samples(curve), key=lambda index: math.isfinite(curve.values[index])
    ):
        if is_finite:
            places = " ".join(
                f"{_compute_x(curve, index)},{_compute_y(curve, index)}" for index in run
            )
            drawn.append(f'<polyline class="curve series-0" points="{places}"/>')
            continue
        for x in (_compute_x(curve, index) for index in run):
            if x - last >= _EDGE:
                crosses, last = f"{crosses}M{x - 2} {_HEIGHT - 8}l4 4m0-4l-4 4", x
    return "".join(drawn) + (f'<path class="mark mark-gap" d="{crosses}"/>' if crosses else "")


def _select_samples(curve: Curve) -> list[int]:
    """Choose samples: of each stretch its lowest and highest, and both ends of what is finite."""
    count = len(curve.values)
    if count <= _MOST:
        return list(range(count))
    kept, wide = {0, count - 1}, 2 * count / _MOST
    for number_ in range(_MOST // 2):
        stretch = range(int(number_ * wide), min(count, int((number_ + 1) * wide)))
        finite = [index for index in stretch if math.isfinite(curve.values[index])]
        others = [index for index in stretch if not math.isfinite(curve.values[index])]
        kept.update(others[:1])
        if finite:
            kept |= {
                min(finite, key=curve.values.__getitem__),
                max(finite, key=curve.values.__getitem__),
            }
    return sorted(kept)


def _compute_y(curve: Curve, index: int) -> int:
    return round(_HEIGHT - 10 - curve.height(curve.values[index]) * (_HEIGHT - 16))


def _draw_fault(diagnosis: Diagnosis, series: SeriesView, curve: Curve) -> str:
    """Draw a line where the run failed, if this source did."""
    first = diagnosis.first_failure
    if first is None or first.source != series.source:
        return ""
    at = next(
        (index for index, (_, _, line) in enumerate(series.samples) if line >= first.line),
        len(series.samples) - 1,
    )
    return f'<path class="standing mark-failure" d="M{_compute_x(curve, at)} 2V{_HEIGHT - 2}"/>'
