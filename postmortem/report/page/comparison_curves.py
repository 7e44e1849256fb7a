"""The curves of two runs on one axis: a figure for each series, with the point of divergence.

In: the pairs of series of a `Comparison`. Out: `Panel`s, and plain values for
`templates/charts.html.j2`. Not here: where curves diverge (`compare.curve_divergence`), drawing
(`page.chart`). The bad run comes first: line numbers in a figure are from its log.
"""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from markupsafe import Markup

from postmortem.core.comparison import Comparison, PairOfSeries, Parting
from postmortem.core.names import EPOCH
from postmortem.core.shown import SeriesView
from postmortem.report.page.chart import SHAPES, STANDING, draw_panel
from postmortem.report.page.chart_data import name_of
from postmortem.report.page.panel import NonfiniteMark, Panel, Spot, Track
from postmortem.report.page.panel_figures import describe_series
from postmortem.report.page.panel_marks import find_first_nonfinite
from postmortem.report.page.tables import build_value_table
from postmortem.report.plain import format_number
from postmortem.report.plotted import build_curve
from postmortem.report.words import Words

_MOST: Final = 8


def build_comparison_panels(found: Comparison) -> tuple[Panel, ...]:
    """Arrange what is drawn, the training loss first."""
    partings = {parting.name: parting for parting in found.curves}
    made: list[Panel] = []
    for pair in found.drawn:
        series = [curve for curve in (pair.bad, pair.good) if curve is not None]
        is_drawn = any(len(curve.samples) > 1 for curve in series) and series[0].name != EPOCH
        if is_drawn and len(made) < _MOST:
            made.append(_build_panel(pair, series, partings.get(series[0].name)))
    return tuple(made)


def _build_panel(
    pair: PairOfSeries, series: Sequence[SeriesView], parting: Parting | None
) -> Panel:
    axis = "step" if all(_has_steps(curve) for curve in series) else "record"
    tracks = tuple(
        Track(curve, _compute_positions(curve, axis), "odd" if curve is pair.bad else "dash-0")
        for curve in series
    )
    bad = None if pair.bad is None else find_first_nonfinite(pair.bad)
    spots = list(_iter_spots(tracks[0], bad, parting))
    places = [x for track in tracks for x in track.xs] + [spot.x for spot in spots]
    left, right = min(places), max(places)
    return Panel(
        tracks,
        axis,
        _is_log(series),
        left - 0.5 * (left == right),
        right + 0.5 * (left == right),
        tuple(spots),
        tuple((spot.kind, 1) for spot in spots),
        bad,
        None,
        is_of_processes=True,
    )


def _iter_spots(track: Track, bad: NonfiniteMark | None, parting: Parting | None) -> Iterator[Spot]:
    """Yield where the bad run stops being finite, and where the runs part."""
    if bad is not None:
        index = next(at for at, (_, _, line) in enumerate(track.series.samples) if line == bad.line)
        yield Spot("bad", track.xs[index], bad.line, bad.step)
    if parting is not None and parting.step is not None:
        yield Spot("parting", parting.step, parting.bad_line, parting.step)


def _has_steps(series: SeriesView) -> bool:
    return all(step is not None and math.isfinite(step) for step, _, _ in series.samples)


def _compute_positions(series: SeriesView, axis: str) -> tuple[float, ...]:
    if axis == "record":
        return tuple(map(float, range(1, len(series.samples) + 1)))
    return tuple(step or 0.0 for step, _, _ in series.samples)


def _is_log(series: Sequence[SeriesView]) -> bool:
    return any(build_curve(curve).is_log for curve in series) and all(
        value > 0 or not math.isfinite(value) for curve in series for _, value, _ in curve.samples
    )


def build_comparison_contexts(
    panels: Sequence[Panel], found: Comparison, divergences: dict[str, str], words: Words
) -> list[dict[str, Any]]:
    """Give what the template shows of each panel.

    Args:
        panels: what is drawn.
        found: the comparison that they are of.
        divergences: a sentence for each series, by its name.
        words: the phrases of the language.
    """
    good = {id(pair.good) for pair in found.drawn}
    return [
        _build_panel_context(panel, index, good, divergences, words)
        for index, panel in enumerate(panels)
    ]


def _build_panel_context(
    panel: Panel, index: int, good: set[int], divergences: dict[str, str], words: Words
) -> dict[str, Any]:
    key, title = f"{words.language}-chart-{index}", name_of(panel.main)
    runs = ["good" if id(track.series) in good else "bad" for track in panel.tracks]
    names = [words(f"compare.{run}") for run in runs]
    texts = [divergences[panel.main.name]] if panel.main.name in divergences else []
    texts += [
        name + words("colon") + describe_series(track.series, words)
        for name, track in zip(names, panel.tracks, strict=True)
    ]
    drawing = draw_panel(panel, words, key=key, title=title, description=words("stop").join(texts))
    return {
        "index": index,
        "key": key,
        "source": 0,
        "title": title,
        "note": words("curve.log") if panel.is_log else "",
        "drawing": Markup(drawing),  # noqa: S704 -- our own drawing
        "close": None,
        "texts": texts,
        "tracks": [(at, track.form, names[at], "") for at, track in enumerate(panel.tracks)],
        "names": json.dumps(names, ensure_ascii=False),
        "marks": [
            (spot.kind, SHAPES[spot.kind], spot.kind in STANDING, _mark(spot, words))
            for spot in panel.spots
        ],
        "table": build_value_table(panel, names, words),
    }


def _mark(spot: Spot, words: Words) -> str:
    label = words(f"mark.{spot.kind}")
    return (
        label
        if spot.step is None
        else label + words("colon") + words("at-step", value=format_number(spot.step))
    )
