"""The drawing area of a chart and its axes: scales, round ticks, grid, labels.

In: a `Panel` and a height in pixels; the bounds of an axis. Out: a `Canvas`, which maps values to
pixels and gives the labels above the drawing; places and labels of ticks; SVG elements. Not here:
lines and marks (`page.chart`), the axis of a panel's records (`page.panel`).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core.log_text import format_one_line
from postmortem.report.display import format_number, process
from postmortem.report.page.panel import NonfiniteMark, Panel, Spot, Track
from postmortem.report.parts import format_sample_location
from postmortem.report.words import Words

_NARROWEST: Final = 1e-300
_LAST_DECADE: Final = 300
_LEAST_TICKS: Final = 3
_BETWEEN: Final = ((1, 3), (1, 2, 5))
"""What stands between two powers of ten."""


def format_axis_labels(values: Sequence[float], *, is_log: bool = False) -> tuple[str, ...]:
    """Format the numbers of an axis in one notation, with as many decimals as they need to differ.

    On a logarithmic axis they are powers of ten.
    """
    largest = max((abs(value) for value in values), default=0.0)
    if is_log and values:
        is_plain = min(values) >= 1e-3 and largest <= 1e4
        return tuple(f"{value:g}" if is_plain else f"1e{math.log10(value):.0f}" for value in values)
    for unit, name, least in ((1e6, "M", 1e6), (1e3, "k", 1e4)):
        if least <= largest < 1e9 and all(
            math.remainder(value, unit / 10) == 0 for value in values
        ):
            return _format_in_units(values, unit, name)
    return (
        _format_decimals(values)
        if largest == 0 or 1e-3 <= largest < 1e7
        else _format_powers(values)
    )


def _format_in_units(values: Sequence[float], unit: float, name: str) -> tuple[str, ...]:
    texts = _format_decimals([value / unit for value in values])
    return tuple(
        f"{text}{name}" if value else "0" for value, text in zip(values, texts, strict=True)
    )


def _format_decimals(values: Sequence[float]) -> tuple[str, ...]:
    """Write numbers with the fewest decimals, the same for all, that lose nothing."""
    largest = max((abs(value) for value in values), default=0.0)
    decimals = next(
        (
            count
            for count in range(10)
            if all(abs(round(value, count) - value) <= largest * 1e-9 for value in values)
        ),
        9,
    )
    return tuple(f"{value:.{decimals}f}" for value in values)


def _format_powers(values: Sequence[float]) -> tuple[str, ...]:
    """Write numbers as mantissa and power of ten.

    The mantissas have the fewest decimals, the same for all, that lose nothing.
    """
    texts = [f"{value:.9e}".partition("e") for value in values]
    decimals = max(
        (
            len(text[0].partition(".")[2].rstrip("0"))
            for value, text in zip(values, texts, strict=True)
            if value
        ),
        default=0,
    )
    return tuple(
        (
            f"{value:.{decimals}e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
            if value
            else "0"
        )
        for value in values
    )


def compute_ticks(low: float, high: float, count: int) -> tuple[float, ...]:
    """Give round numbers between two bounds, about `count` of them."""
    span = high - low
    if not math.isfinite(span) or span <= max(abs(low), abs(high)) * 1e-9 or span < _NARROWEST:
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
        found = _compute_log_positions(low, high, factors)
    if len(found) >= _LEAST_TICKS or low <= -_LAST_DECADE or high >= _LAST_DECADE:
        return found
    return tuple(
        math.log10(value) for value in compute_ticks(10.0**low, 10.0**high, count + 2) if value > 0
    )


def _compute_log_positions(low: float, high: float, factors: Sequence[int]) -> tuple[float, ...]:
    """Give logarithms of multiples of powers of ten, as far as they lie between two bounds."""
    places = (
        power + math.log10(factor)
        for power in range(math.floor(low), math.floor(high) + 1)
        for factor in factors
    )
    return tuple(place for place in places if low <= place <= high)


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
    return sorted(found, key=lambda label: label[0].x if label[0].x > middle else -label[0].x)


def _format_nonfinite_label(panel: Panel, bad: NonfiniteMark, words: Words) -> str:
    """Say which value is not finite, whose it is, and where it was printed."""
    label = format_number(bad.value)
    if bad.name != panel.main.name:
        label = f"{format_one_line(bad.name, 20)} {label}"
    if panel.is_of_processes:
        label = f"{process(panel.main.where, words)} {label}".strip()
    return f"{label} · {format_sample_location(bad.step, bad.line, words)}"


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
