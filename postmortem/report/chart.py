"""A panel as an inline SVG line chart; a pure function, no library, no script.

In: a `Panel`. Out: SVG text whose colours are CSS classes of `templates/chart.css`. Not here: which
series and marks to draw (`report.panels`).
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import groupby
from types import MappingProxyType
from typing import Final, NamedTuple

from postmortem.report.curves import log_ticks, ticks
from postmortem.report.panels import KINDS, Panel, Spot, Track
from postmortem.report.parts import step_and_line
from postmortem.report.plain import labels, number, one_line, process
from postmortem.report.words import Words

WIDTH: Final = 480
HEIGHT: Final = 220
DETAIL_HEIGHT: Final = 170
SHAPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "failure": "m-6-5h12l-6 11z",
        "crash": "m-2.5-6h5l3.5 3.5v5l-3.5 3.5h-5l-3.5-3.5v-5z",
        "bad": "m-4-4l8 8m-8 0l8-8",
        "overflow": "m0-5v10",
        "checkpoint": "m0-4.5l4.5 4.5l-4.5 4.5l-4.5-4.5z",
        "evaluation": "m-6.5 0a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0-13 0z",
        "resumed": "m-4-5l9 5l-9 5z",
        "restarted": "m-4-5l9 5l-9 5z",
    }
)
"""A mark's outline, in steps from its place, so that many of one kind are one path; the script and the legend draw the same."""
STANDING: Final = ("failure", "crash", "bad", "restarted", "resumed")
"""Marks with a line through the panel."""
_FOOT: Final = ("bad", "overflow")
_BOTTOM, _LEFT, _RIGHT, _RIGHT_AXIS = 34, 56, 14, 46
_LANE: Final = 24
"""The height of the row of shapes above the drawing."""
_ROW: Final = 16
"""The height of each row of labels above it."""
_POWERS_SHOWN: Final = 5
_LETTER: Final = 7.0
"""The width of a letter of a label, about."""
_APART: Final = 14.0
"""Pixels below which two like marks are one."""
_TICKS_APART: Final = 3.0
_SIGN: Final = 6.0
"""The same for ticks, and for the crosses of values that are not finite."""
_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class _Range(NamedTuple):
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


class _Frame(NamedTuple):
    """Maps values to pixels."""

    panel: Panel
    ranges: tuple[_Range, ...]
    """Left axis, and right axis where there is one."""
    labels: tuple[tuple[Spot, str], ...]
    """What is named above the drawing, from the lowest row up."""
    bottom: int
    """The pixel of the foot of the drawing."""

    @property
    def top(self) -> int:
        """The pixel of the head of the drawing."""
        return _LANE + _ROW * len(self.labels)

    @property
    def edge(self) -> int:
        """The pixel of the right edge."""
        return WIDTH - (_RIGHT_AXIS if self.panel.has_right_axis else _RIGHT)

    def x(self, value: float) -> float:
        """Give the pixel of a place."""
        return round(
            _LEFT
            + (value - self.panel.left)
            / (self.panel.right - self.panel.left)
            * (self.edge - _LEFT),
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


def svg(
    panel: Panel, words: Words, *, key: str, title: str, description: str, height: int = HEIGHT
) -> str:
    """Draw a panel; `key` makes the ids unique within a page."""
    frame = _frame(panel, height - _BOTTOM, words)
    name, said = escape(title), escape(description)
    parts = [
        (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img"'
            f' aria-labelledby="{escape(key)}-t {escape(key)}-d"'
            ' xmlns="http://www.w3.org/2000/svg">'
        ),
        f'<title id="{escape(key)}-t">{name}</title><desc id="{escape(key)}-d">{said}</desc>',
        *_axes(frame, words),
        *(part for index, track in _from_below(panel) for part in _lines(frame, track, index)),
        *_gaps(frame),
        *_marks(frame),
        *_named(frame, words),
        "</svg>",
    ]
    return "".join(parts)


def _from_below(panel: Panel) -> list[tuple[int, Track]]:
    """Order tracks as they are drawn: of several processes the odd one comes last, upon the others."""
    tracks = list(enumerate(panel.tracks))
    return tracks[::-1] if panel.is_of_processes else tracks


def _frame(panel: Panel, bottom: int, words: Words) -> _Frame:
    main = [track for track in panel.tracks if not (panel.has_right_axis and track.form == "steps")]
    ranges = [_range(main, panel.scale)]
    if panel.has_right_axis:
        ranges.append(_range(panel.tracks[-1:], "log2"))
    return _Frame(panel, tuple(ranges), tuple(_labels(panel, words)), bottom)


def _range(tracks: Iterable[Track], scale: str) -> _Range:
    empty = _Range(0.0, 1.0, scale)
    values = [
        at
        for track in tracks
        for _, value, _ in track.series.samples
        if (at := empty.at(_bounded(value))) is not None
    ] or [0.0]
    low, high = min(values), max(values)
    span = high - low
    is_flat = span <= max(abs(low), abs(high)) * 1e-9
    margin = (abs(high) * 0.1 or 1.0) if is_flat else span * 0.06
    return _Range(low - margin, high + margin, scale)


def _bounded(value: float) -> float:
    """Keep a value where differences of values are floats."""
    return max(-1e300, min(1e300, value)) if math.isfinite(value) else value


def _axes(frame: _Frame, words: Words) -> Iterator[str]:
    bottom, edge = frame.bottom, frame.edge
    for axis, one in enumerate(frame.ranges):
        heights = tuple(_value_ticks(frame.panel, one))
        for height, label in zip(heights, _value_labels(heights, one.scale), strict=True):
            y = frame.y(height, axis)
            if axis == 0:
                yield f'<line class="grid" x1="{_LEFT}" y1="{y}" x2="{edge}" y2="{y}"/>'
            at, anchor = (_LEFT - 6, "end") if axis == 0 else (edge + 6, "start")
            yield (
                f'<text class="tick" x="{at}" y="{y + 4:.1f}" text-anchor="{anchor}">{label}</text>'
            )
    places = _place_ticks(frame.panel)
    for value, label in zip(places, labels(places), strict=True):
        x = frame.x(value)
        yield f'<line class="axis" x1="{x}" y1="{bottom}" x2="{x}" y2="{bottom + 4}"/>'
        at_x, anchor = (edge, "end") if x > edge - 16 else (x, "middle")
        yield (
            f'<text class="tick" x="{at_x}" y="{bottom + 16}" text-anchor="{anchor}">{label}</text>'
        )
    yield f'<line class="axis" x1="{_LEFT}" y1="{bottom}" x2="{edge}" y2="{bottom}"/>'
    unit = words("chart.line" if frame.panel.axis == "line" else frame.panel.axis)
    yield (
        f'<text class="chart-note" x="{edge}" y="{bottom + _BOTTOM - 4}"'
        f' text-anchor="end">{unit}</text>'
    )


def _place_ticks(panel: Panel) -> tuple[float, ...]:
    xs = panel.tracks[0].xs
    if len(set(xs)) < 2:
        return xs[:1]
    is_whole = all(float(x).is_integer() for x in xs)
    return tuple(
        value
        for value in ticks(panel.left, panel.right, 5)
        if not is_whole or float(value).is_integer()
    )


def _value_ticks(panel: Panel, one: _Range) -> Iterable[float]:
    if not any(
        math.isfinite(value) for track in panel.tracks for _, value, _ in track.series.samples
    ):
        return ()
    if one.scale == "linear":
        found = ticks(one.low, one.high, 4)
        return found if len(found) > 2 else ticks(one.low, one.high, 6)
    if one.scale == "log10":
        return log_ticks(one.low, one.high, 4)
    powers = range(math.ceil(one.low), math.floor(one.high) + 1)
    return map(float, powers[:: -(-len(powers) // _POWERS_SHOWN) or 1])


def _value_labels(heights: tuple[float, ...], scale: str) -> tuple[str, ...]:
    if scale == "log2":
        return tuple("2" + f"{height:.0f}".translate(_RAISED) for height in heights)
    values = (
        tuple(float(f"{10.0**height:.12g}") for height in heights) if scale == "log10" else heights
    )
    return labels(
        values, is_log=scale == "log10" and all(float(height).is_integer() for height in heights)
    )


def _lines(frame: _Frame, track: Track, index: int) -> Iterator[str]:
    """Draw each run of samples that have a place as one line, a run of one as a dot."""
    axis, form = frame.axis_of(track), track.form
    placed = [
        (x, frame.ranges[axis].at(_bounded(value)))
        for x, (_, value, _) in zip(track.xs, track.series.samples, strict=True)
    ]
    for is_drawn, run in groupby(placed, key=lambda sample: sample[1] is not None):
        if not is_drawn:
            continue
        points = [(frame.x(x), frame.y(scaled, axis)) for x, scaled in run if scaled is not None]
        if len(points) == 1 or form == "points":
            yield from (
                f'<circle class="dot series-{index}" cx="{x}" cy="{y}"'
                f' r="{3.5 if form == "points" else 2.5}"/>'
                for x, y in points
            )
        elif form == "steps":
            yield (
                f'<path class="curve series-{index}" d="M{points[0][0]}'
                f' {points[0][1]}{"".join(f"H{x}V{y}" for x, y in points[1:])}"/>'
            )
        else:
            yield (
                f'<polyline class="curve {"" if form == "line" else f"{form} "}series-{index}"'
                f' points="{" ".join(f"{x},{y}" for x, y in points)}"/>'
            )


def _gaps(frame: _Frame) -> Iterator[str]:
    """Mark the places of all non-finite samples: at the foot, +inf at the head."""
    bad = [
        (frame.x(x), value)
        for track in frame.panel.named
        for x, (_, value, _) in zip(track.xs, track.series.samples, strict=True)
        if not math.isfinite(value)
    ]
    for y, is_above in ((frame.bottom - 6, False), (frame.top + 6, True)):
        places = sorted({x for x, value in bad if (value == math.inf) is is_above})
        if places:
            yield (
                '<path class="mark mark-gap"'
                f' d="{"".join(f"M{x - 2.5:.1f} {y - 2.5}l5 5m0-5l-5 5" for x in _apart(places, _SIGN))}"/>'
            )


def _apart(places: Iterable[float], least: float) -> Iterator[float]:
    """Leave out what would stand on another."""
    last = -math.inf
    for x in places:
        if x - last >= least:
            last = x
            yield x


def _marks(frame: _Frame) -> Iterator[str]:
    """Draw the marks: a line through the panel for what stands out, a shape in the lane above, skipped steps at the foot."""
    heights = {
        spot.kind: frame.top - _LANE - row * _ROW for row, (spot, _) in enumerate(frame.labels)
    }
    for kind in KINDS:
        places = list(
            _apart(
                (frame.x(spot.x) for spot in frame.panel.spots if spot.kind == kind),
                _TICKS_APART if kind == "overflow" else _APART,
            )
        )
        if places and kind in STANDING:
            lines = "".join(
                f"M{x} {heights.get(kind, frame.top - 8)}V{frame.bottom}" for x in places
            )
            yield f'<path class="standing mark-{kind}" d="{lines}"/>'
        y = frame.bottom - 6 if kind in _FOOT else frame.top - _LANE // 2
        if places:
            yield (
                f'<path class="mark mark-{kind}"'
                f' d="{"".join(f"M{x} {y}{SHAPES[kind]}" for x in places)}"/>'
            )


def _labels(panel: Panel, words: Words) -> list[tuple[Spot, str]]:
    """Name the failure, and the first non-finite value where it is another line.

    In such an order that no label crosses another's line.
    """
    bad, spots, found = panel.bad, {spot.kind: spot for spot in panel.spots}, []
    if "failure" in spots and ("bad" not in spots or spots["bad"].line != spots["failure"].line):
        found.append((spots["failure"], words("mark.failure")))
    if bad is not None and "bad" in spots:
        named = (
            number(bad.value)
            if bad.name == panel.main.name
            else f"{one_line(bad.name, 20)} {number(bad.value)}"
        )
        named = (
            f"{process(panel.main.where, words)} {named}".strip()
            if panel.is_of_processes
            else named
        )
        found.append((spots["bad"], f"{named} · {step_and_line(bad.step, bad.line, words)}"))
    middle = (panel.left + panel.right) / 2
    return sorted(found, key=lambda one: one[0].x if one[0].x > middle else -one[0].x)


def _named(frame: _Frame, words: Words) -> Iterator[str]:
    for row, (spot, text) in enumerate(frame.labels):
        x = frame.x(spot.x)
        wide = _LETTER * sum(2 if ord(letter) > 0x2E80 else 1 for letter in text)
        at, anchor = (
            (max(x - 5, wide), "end")
            if x > (_LEFT + frame.edge) / 2
            else (min(x + 5, WIDTH - wide), "start")
        )
        yield (
            f'<text class="bad-label" x="{at:.1f}" y="{frame.top - _LANE - row * _ROW - 3}"'
            f' text-anchor="{anchor}">{escape(text)}</text>'
        )
    if not any(
        math.isfinite(value) for track in frame.panel.tracks for _, value, _ in track.series.samples
    ):
        yield (
            f'<text class="chart-note" x="{WIDTH / 2}" y="{(frame.bottom + frame.top) / 2}"'
            f' text-anchor="middle">{escape(words("curve.none-finite"))}</text>'
        )
