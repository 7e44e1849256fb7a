"""The axes of a chart as SVG: grid, ticks, numbers, units.

In: a `Canvas`. Out: SVG elements. Not here: which numbers are round (`page.axis`).
"""

import math
from collections.abc import Iterable, Iterator
from typing import Final

from postmortem.report.page.axis import compute_ticks, format_axis_labels, log_ticks
from postmortem.report.page.canvas import BOTTOM, LEFT, Canvas, Scale
from postmortem.report.page.panel import Panel
from postmortem.report.words import Words

_POWERS_SHOWN: Final = 5
_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def draw_axes(frame: Canvas, words: Words) -> Iterator[str]:
    """Draw the axes, those of values first."""
    bottom, edge = frame.bottom, frame.edge
    for axis, scale in enumerate(frame.ranges):
        heights = tuple(_compute_value_ticks(frame.panel, scale))
        for height, label in zip(heights, _format_value_labels(heights, scale.scale), strict=True):
            y = frame.y(height, axis)
            if axis == 0:
                yield f'<line class="grid" x1="{LEFT}" y1="{y}" x2="{edge}" y2="{y}"/>'
            at, anchor = (LEFT - 6, "end") if axis == 0 else (edge + 6, "start")
            yield (
                f'<text class="tick" x="{at}" y="{y + 4:.1f}" text-anchor="{anchor}">{label}</text>'
            )
    places = _place_ticks(frame.panel)
    for value, label in zip(places, format_axis_labels(places), strict=True):
        x = frame.x(value)
        yield f'<line class="axis" x1="{x}" y1="{bottom}" x2="{x}" y2="{bottom + 4}"/>'
        at_x, anchor = (edge, "end") if x > edge - 16 else (x, "middle")
        yield (
            f'<text class="tick" x="{at_x}" y="{bottom + 16}" text-anchor="{anchor}">{label}</text>'
        )
    yield f'<line class="axis" x1="{LEFT}" y1="{bottom}" x2="{edge}" y2="{bottom}"/>'
    unit = words("chart.line" if frame.panel.axis == "line" else frame.panel.axis)
    yield (
        f'<text class="chart-note" x="{edge}" y="{bottom + BOTTOM - 4}"'
        f' text-anchor="end">{unit}</text>'
    )


def _place_ticks(panel: Panel) -> tuple[float, ...]:
    xs = panel.tracks[0].xs
    if len(set(xs)) < 2:
        return xs[:1]
    is_whole = all(float(x).is_integer() for x in xs)
    return tuple(
        value
        for value in compute_ticks(panel.left, panel.right, 5)
        if not is_whole or float(value).is_integer()
    )


def _compute_value_ticks(panel: Panel, scale: Scale) -> Iterable[float]:
    if not panel.has_finite:
        return ()
    if scale.scale == "linear":
        found = compute_ticks(scale.low, scale.high, 4)
        return found if len(found) > 2 else compute_ticks(scale.low, scale.high, 6)
    if scale.scale == "log10":
        return log_ticks(scale.low, scale.high, 4)
    powers = range(math.ceil(scale.low), math.floor(scale.high) + 1)
    return map(float, powers[:: -(-len(powers) // _POWERS_SHOWN) or 1])


def _format_value_labels(heights: tuple[float, ...], scale: str) -> tuple[str, ...]:
    if scale == "log2":
        return tuple("2" + f"{height:.0f}".translate(_RAISED) for height in heights)
    values = (
        tuple(float(f"{10.0**height:.12g}") for height in heights) if scale == "log10" else heights
    )
    return format_axis_labels(
        values, is_log=scale == "log10" and all(float(height).is_integer() for height in heights)
    )
