"""A plot with both axes from 0 to 1 as inline SVG; a pure function, no library, no script.

In: lines and dots of shares, names of the axes. Out: SVG text whose colours are CSS classes of
`templates/chart.css`. Not here: what is plotted (`page.metrics_page`).
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final, NamedTuple

from postmortem.report.page.canvas import BOTTOM, LEFT, WIDTH

_HEIGHT: Final = 300
_TOP: Final = 26
_EDGE: Final = WIDTH - 18
_TICKS: Final = 5


class PlottedMethod(NamedTuple):
    """What is drawn of one way of judging."""

    colour: int
    points: Sequence[tuple[float, float]]
    radii: Sequence[float] = ()
    """Of its dots; none has none."""
    is_line: bool = True


class UnitPlot(NamedTuple):
    """A plot: its lines, its axes, its words."""

    drawn: Sequence[PlottedMethod]
    x_name: str
    y_name: str
    title: str
    description: str
    low: float = 0.0
    """Where the axis of values begins."""
    has_diagonal: bool = False


def draw_unit_plot(plot: UnitPlot, key: str) -> str:
    """Draw a plot; `key` makes the ids unique within a page."""
    name = escape(key)
    return "".join(
        (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {_HEIGHT}" role="img"'
            f' aria-labelledby="{name}-t {name}-d" xmlns="http://www.w3.org/2000/svg">',
            f'<title id="{name}-t">{escape(plot.title)}</title>',
            f'<desc id="{name}-d">{escape(plot.description)}</desc>',
            *_draw_axes(plot),
            *(part for curve in plot.drawn for part in _draw_series(plot, curve)),
            "</svg>",
        )
    )


def _compute_x(share: float) -> float:
    return round(LEFT + share * (_EDGE - LEFT), 1)


def _compute_y(plot: UnitPlot, share: float) -> float:
    within = (max(plot.low, share) - plot.low) / (1.0 - plot.low)
    return round(_HEIGHT - BOTTOM - within * (_HEIGHT - BOTTOM - _TOP), 1)


def _draw_axes(plot: UnitPlot) -> Iterator[str]:
    foot = _HEIGHT - BOTTOM
    for tick in range(_TICKS + 1):
        share = tick / _TICKS
        value = plot.low + share * (1.0 - plot.low)
        x, y = _compute_x(share), _compute_y(plot, value)
        yield f'<line class="grid" x1="{LEFT}" y1="{y}" x2="{_EDGE}" y2="{y}"/>'
        yield (
            f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.2g}'
            "</text>"
        )
        yield f'<line class="axis" x1="{x}" y1="{foot}" x2="{x}" y2="{foot + 4}"/>'
        yield f'<text class="tick" x="{x}" y="{foot + 16}" text-anchor="middle">{share:.1f}</text>'
    yield f'<line class="axis" x1="{LEFT}" y1="{foot}" x2="{_EDGE}" y2="{foot}"/>'
    yield (
        f'<text class="chart-note" x="{_EDGE}" y="{_HEIGHT - 4}" text-anchor="end">'
        f"{escape(plot.x_name)}</text>"
    )
    yield f'<text class="chart-note" x="{LEFT + 4}" y="{_TOP - 12}">{escape(plot.y_name)}</text>'
    if plot.has_diagonal:
        yield (
            '<path class="standing mark-resumed"'
            f' d="M{_compute_x(plot.low)} {_compute_y(plot, plot.low)}'
            f'L{_compute_x(1.0)} {_compute_y(plot, 1.0)}"/>'
        )


def _draw_series(plot: UnitPlot, curve: PlottedMethod) -> Iterator[str]:
    placed = [(_compute_x(x), _compute_y(plot, y)) for x, y in curve.points]
    if curve.is_line and len(placed) > 1:
        listed = " ".join(f"{x},{y}" for x, y in placed)
        style = f"curve series-{curve.colour} dash-{curve.colour}"
        yield f'<polyline class="{style}" points="{listed}"/>'
    radii = curve.radii or ([4.0] * len(placed) if len(placed) == 1 or not curve.is_line else [])
    for (x, y), radius in zip(placed, radii, strict=False):
        yield f'<circle class="dot series-{curve.colour}" cx="{x}" cy="{y}" r="{radius:.1f}"/>'
