"""A panel as an inline SVG line chart, and as the numbers that the page's script draws.

In: `Panel`s. Out: SVG text whose colours are CSS classes of `templates/chart.css`, by a pure
function without library or script; JSON for `templates/chart.js`. Not here: which series and marks
to draw (`page.panel_layout`), what is read instead of a drawing (`page.panel_figures`). The numbers
stand once in a page, whatever its languages; a figure names its panel by its index.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final

from markupsafe import Markup

from postmortem.core.answer import SeriesView
from postmortem.core.log_text import format_one_line
from postmortem.report.display import format_number
from postmortem.report.page.chart_axes import (
    BOTTOM,
    HEIGHT,
    LANE,
    LEFT,
    ROW,
    WIDTH,
    Canvas,
    bound_value,
    build_canvas,
    draw_axes,
)
from postmortem.report.page.panel import KINDS, Panel, Track
from postmortem.report.words import Words

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
        "parting": "m0 6v-5l-5-6m5 6l5-6",
    }
)
"""A mark's outline, in steps from its place, so that many of one kind are one path; the script and
the legend draw the same."""
STANDING: Final = ("failure", "crash", "bad", "restarted", "resumed", "parting")
"""Marks with a line through the panel."""
_FOOT: Final = ("bad", "overflow")
_LETTER: Final = 7.0
"""The width of a letter of a label, about."""
_APART: Final = 14.0
"""Pixels below which two like marks are one."""
_TICKS_APART: Final = 3.0
_SIGN: Final = 6.0
"""The same for ticks, and for the crosses of values that are not finite."""


def draw_panel(
    panel: Panel, words: Words, *, key: str, title: str, description: str, height: int = HEIGHT
) -> str:
    """Draw a panel; `key` makes the ids unique within a page."""
    frame = build_canvas(panel, height - BOTTOM, words)
    name, summary = escape(title), escape(description)
    parts = [
        (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img"'
            f' aria-labelledby="{escape(key)}-t {escape(key)}-d"'
            ' xmlns="http://www.w3.org/2000/svg">'
        ),
        f'<title id="{escape(key)}-t">{name}</title><desc id="{escape(key)}-d">{summary}</desc>',
        *draw_axes(frame, words),
        *(part for index, track in _from_below(panel) for part in _draw_lines(frame, track, index)),
        *_draw_nonfinite_marks(frame),
        *_draw_marks(frame),
        *_draw_labels(frame, words),
        "</svg>",
    ]
    return "".join(parts)


def _from_below(panel: Panel) -> list[tuple[int, Track]]:
    """Order tracks as they are drawn: of several processes the odd one last, upon the others."""
    tracks = list(enumerate(panel.tracks))
    return tracks[::-1] if panel.is_of_processes else tracks


def _draw_lines(frame: Canvas, track: Track, index: int) -> Iterator[str]:
    """Draw each run of samples that have a place as one line, a run of one as a dot."""
    axis = frame.axis_of(track)
    placed = [
        (x, frame.ranges[axis].at(bound_value(value)))
        for x, (_, value, _) in zip(track.xs, track.series.samples, strict=True)
    ]
    for is_drawn, run in groupby(placed, key=lambda sample: sample[1] is not None):
        if is_drawn:
            yield from _run(
                [(frame.x(x), frame.y(scaled, axis)) for x, scaled in run if scaled is not None],
                track.form,
                index,
            )


def _run(points: list[tuple[float, float]], form: str, index: int) -> Iterator[str]:
    """Draw pixels that nothing parts."""
    if len(points) == 1 or form == "points":
        radius = 3.5 if form == "points" else 2.5
        yield from (
            f'<circle class="dot series-{index}" cx="{x}" cy="{y}" r="{radius}"/>'
            for x, y in points
        )
    elif form == "steps":
        (x, y), *rest = points
        turns = "".join(f"H{x}V{y}" for x, y in rest)
        yield f'<path class="curve series-{index}" d="M{x} {y}{turns}"/>'
    else:
        listed = " ".join(f"{x},{y}" for x, y in points)
        kind = "curve" if form == "line" else f"curve {form}"
        yield f'<polyline class="{kind} series-{index}" points="{listed}"/>'


def _draw_nonfinite_marks(frame: Canvas) -> Iterator[str]:
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
            crosses = (
                f"M{x - 2.5:.1f} {y - 2.5}l5 5m0-5l-5 5"
                for x in _filter_close_positions(places, _SIGN)
            )
            yield f'<path class="mark mark-gap" d="{"".join(crosses)}"/>'


def _filter_close_positions(places: Iterable[float], least: float) -> Iterator[float]:
    """Leave out what would stand on another."""
    last = -math.inf
    for x in places:
        if x - last >= least:
            last = x
            yield x


def _draw_marks(frame: Canvas) -> Iterator[str]:
    """Draw the marks: a line through the panel for what stands out, a shape in the lane above.

    Skipped steps stand at the foot.
    """
    heads = {spot.kind: frame.top - LANE - row * ROW for row, (spot, _) in enumerate(frame.labels)}
    for kind in KINDS:
        least = _TICKS_APART if kind == "overflow" else _APART
        spots = (frame.x(spot.x) for spot in frame.panel.spots if spot.kind == kind)
        places = list(_filter_close_positions(spots, least))
        if places and kind in STANDING:
            head = heads.get(kind, frame.top - 8)
            lines = "".join(f"M{x} {head}V{frame.bottom}" for x in places)
            yield f'<path class="standing mark-{kind}" d="{lines}"/>'
        y = frame.bottom - 6 if kind in _FOOT else frame.top - LANE // 2
        if places:
            shapes = "".join(f"M{x} {y}{SHAPES[kind]}" for x in places)
            yield f'<path class="mark mark-{kind}" d="{shapes}"/>'


def _draw_labels(frame: Canvas, words: Words) -> Iterator[str]:
    """Write what is named above the drawing, and that there is nothing to draw."""
    for row, (spot, text) in enumerate(frame.labels):
        x = frame.x(spot.x)
        wide = _LETTER * sum(2 if ord(letter) > 0x2E80 else 1 for letter in text)
        is_right = x > (LEFT + frame.edge) / 2
        at, anchor = (max(x - 5, wide), "end") if is_right else (min(x + 5, WIDTH - wide), "start")
        yield (
            f'<text class="bad-label" x="{at:.1f}" y="{frame.top - LANE - row * ROW - 3}"'
            f' text-anchor="{anchor}">{escape(text)}</text>'
        )
    if not frame.panel.has_finite:
        yield (
            f'<text class="chart-note" x="{WIDTH / 2}" y="{(frame.bottom + frame.top) / 2}"'
            f' text-anchor="middle">{escape(words("curve.none-finite"))}</text>'
        )


LONGEST_NAME: Final = 28
LONGEST_UNIT: Final = 16
_DIGITS: Final = 7


def serialize_panels(panels: Sequence[Panel]) -> Markup:
    """Write the numbers of all panels as JSON that cannot close its element."""
    pool: dict[tuple[float | None, ...], int] = {}
    listed = [_build_panel_data(panel, pool) for panel in panels]
    whole = {
        "shapes": dict(SHAPES),
        "standing": STANDING,
        "pool": [
            [None if value is None else _shorten_number(value) for value in values]
            for values in pool
        ],
        "panels": listed,
    }
    return Markup(  # noqa: S704 -- escaped
        json.dumps(whole, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
    )


def name_of(series: SeriesView) -> str:
    """Give the name of a series, cut to the room it has."""
    return format_one_line(series.name, LONGEST_NAME)


def _build_panel_data(panel: Panel, pool: dict[tuple[float | None, ...], int]) -> Mapping[str, Any]:
    """Give the numbers of a panel; places and lines that panels share stand once, in the pool."""

    def pooled(values: Sequence[float | None]) -> int:
        return pool.setdefault(tuple(values), len(pool))

    lines = pooled([line for _, _, line in panel.main.samples])
    return {
        "group": f"record-{panel.source}-{lines}"
        if panel.axis == "record"
        else f"{panel.axis}-{panel.source}",
        "source": panel.source,
        "axis": panel.axis,
        "scale": panel.scale,
        "range": [_shorten_number(panel.left), _shorten_number(panel.right)],
        "near": None if panel.near is None else [_shorten_number(x) for x in panel.near],
        "bad": None
        if panel.bad is None
        else [_name_of_bad(panel), format_number(panel.bad.value), panel.bad.step, panel.bad.line],
        "processes": panel.is_of_processes,
        "tracks": [_track_data(track, pooled) for track in panel.tracks],
        "marks": [
            [
                spot.kind,
                _shorten_number(spot.x),
                spot.line,
                None if spot.step is None else _shorten_number(spot.step),
            ]
            for spot in panel.spots
        ],
    }


def _name_of_bad(panel: Panel) -> str:
    """Name the series of the first non-finite value where it is not the panel's own."""
    return (
        ""
        if panel.bad is None or panel.bad.name == panel.main.name
        else format_one_line(panel.bad.name, LONGEST_NAME)
    )


def _track_data(track: Track, pooled: Any) -> Mapping[str, Any]:
    steps = [step for step, _, _ in track.series.samples]
    values = [value for _, value, _ in track.series.samples]
    odd = {
        str(index): format_number(value)
        for index, value in enumerate(values)
        if not math.isfinite(value)
    }
    return {
        "name": name_of(track.series),
        "unit": format_one_line(track.series.unit, LONGEST_UNIT),
        "form": track.form,
        "x": pooled(track.xs),
        "line": pooled([line for _, _, line in track.series.samples]),
        "step": None if steps == list(track.xs) else pooled(steps),
        "y": [_shorten_number(value) if math.isfinite(value) else None for value in values],
        "odd": odd,
    }


def _shorten_number(value: float) -> float:
    """Round a number as far as nobody sees it; a whole one is written without a point."""
    if float(value).is_integer() and abs(value) < 1e15:
        return int(value)
    return float(f"{value:.{_DIGITS}g}")
