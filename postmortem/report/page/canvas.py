"""The drawing area of a chart: maps values to pixels, and gives the labels above the drawing.

In: a `Panel` and a height in pixels. Out: a `Canvas`. Not here: SVG (`page.chart`).
"""

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from postmortem.report.page.panel import NonfiniteMark, Panel, Spot, Track
from postmortem.report.parts import format_sample_location
from postmortem.report.plain import format_number, format_one_line, process
from postmortem.report.words import Words

WIDTH: Final = 480
HEIGHT: Final = 220
BOTTOM, LEFT, RIGHT, RIGHT_AXIS = 34, 56, 14, 46
LANE: Final = 24
"""The height of the row of shapes above the drawing."""
ROW: Final = 16
"""The height of each row of labels above it."""


class Scale(NamedTuple):
    """The range of an axis, on the drawn scale."""

    low: float
    high: float
    scale: str
    """linear | log10 | log2"""

    def at(self, value: float) -> float | None:
        """Bring a value to the drawn scale; None where it has no place there."""
        if not math.isfinite(value) or (self.scale != "linear" and value <= 0):
            return None
        if self.scale == "linear":
            return value
        return math.log10(value) if self.scale == "log10" else math.log2(value)


class Canvas(NamedTuple):
    """Maps values to pixels."""

    panel: Panel
    ranges: tuple[Scale, ...]
    """Left axis, and right axis where there is one."""
    labels: tuple[tuple[Spot, str], ...]
    """What is named above the drawing, from the lowest row up."""
    bottom: int
    """The pixel of the foot of the drawing."""

    @property
    def top(self) -> int:
        """The pixel of the head of the drawing."""
        return LANE + ROW * len(self.labels)

    @property
    def edge(self) -> int:
        """The pixel of the right edge."""
        return WIDTH - (RIGHT_AXIS if self.panel.has_right_axis else RIGHT)

    def x(self, value: float) -> float:
        """Give the pixel of a place."""
        return round(
            LEFT
            + (value - self.panel.left) / (self.panel.right - self.panel.left) * (self.edge - LEFT),
            1,
        )

    def y(self, scaled: float, axis: int = 0) -> float:
        """Give the pixel of a value that stands on the drawn scale."""
        one = self.ranges[axis]
        return round(
            self.top + (one.high - scaled) / (one.high - one.low) * (self.bottom - self.top), 1
        )

    def axis_of(self, track: Track) -> int:
        """Give the axis on which a track stands."""
        return int(self.panel.has_right_axis and track.form == "steps")


def build_canvas(panel: Panel, bottom: int, words: Words) -> Canvas:
    """Choose the ranges of the axes; `bottom` is the pixel of the foot of the drawing."""
    main = [track for track in panel.tracks if not (panel.has_right_axis and track.form == "steps")]
    ranges = [_compute_range(main, panel.scale)]
    if panel.has_right_axis:
        ranges.append(_compute_range(panel.tracks[-1:], "log2"))
    return Canvas(panel, tuple(ranges), tuple(_list_labels(panel, words)), bottom)


def _compute_range(tracks: Iterable[Track], scale: str) -> Scale:
    empty = Scale(0.0, 1.0, scale)
    values = [
        at
        for track in tracks
        for _, value, _ in track.series.samples
        if (at := empty.at(bound_value(value))) is not None
    ] or [0.0]
    low, high = min(values), max(values)
    span = high - low
    is_flat = span <= max(abs(low), abs(high)) * 1e-9
    margin = (abs(high) * 0.1 or 1.0) if is_flat else span * 0.06
    return Scale(low - margin, high + margin, scale)


def bound_value(value: float) -> float:
    """Keep a value where differences of values are floats."""
    return max(-1e300, min(1e300, value)) if math.isfinite(value) else value


def _list_labels(panel: Panel, words: Words) -> list[tuple[Spot, str]]:
    """Name the failure, and the first non-finite value where it is another line.

    In such an order that no label crosses another's line.
    """
    bad, spots, found = panel.bad, {spot.kind: spot for spot in panel.spots}, []
    if "failure" in spots and ("bad" not in spots or spots["bad"].line != spots["failure"].line):
        found.append((spots["failure"], words("mark.failure")))
    if bad is not None and "bad" in spots:
        found.append((spots["bad"], _format_nonfinite_label(panel, bad, words)))
    middle = (panel.left + panel.right) / 2
    return sorted(found, key=lambda label: _rank_outward(label[0].x, middle))


def _format_nonfinite_label(panel: Panel, bad: NonfiniteMark, words: Words) -> str:
    """Say which value is not finite, whose it is, and where it was printed."""
    label = format_number(bad.value)
    if bad.name != panel.main.name:
        label = f"{format_one_line(bad.name, 20)} {label}"
    if panel.is_of_processes:
        label = f"{process(panel.main.where, words)} {label}".strip()
    return f"{label} · {format_sample_location(bad.step, bad.line, words)}"


def _rank_outward(x: float, middle: float) -> float:
    """Order places of the right half from the left, those of the left half from the right."""
    return x if x > middle else -x
