"""The numbers that the page's script draws.

In: `Panel`s. Out: JSON for `templates/chart.js`. Not here: what is read instead of a drawing
(`page.panel_figures`, `page.tables`). The numbers stand once in a page, whatever its languages; a
figure names its panel by its index.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from postmortem.core.shown import SeriesView
from postmortem.report.page.chart import SHAPES, STANDING
from postmortem.report.page.panel import Panel, Track
from postmortem.report.plain import format_number, format_one_line

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
