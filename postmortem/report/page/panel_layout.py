"""Choose the panels of the page: the series of each, their common axis and their marks.

In: a `Diagnosis` and the series chosen for drawing. Out: `Panel`s, the same for every language and
for both drawings (SVG, script). Not here: drawing (`page.chart`), words and tables
(`page.panel_figures`).

The loss of a process stands with its evaluation loss and, on a second axis, its loss scale. What is
printed without a step (a loss scale, a checkpoint, a crash) is placed by its line between the
records of the panel's first series.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from postmortem.core.diagnosis import Diagnosis
from postmortem.core.names import EVAL_LOSS, LOSS, LOSS_SCALE
from postmortem.core.shown import SeriesView
from postmortem.report.page import loss_comparison
from postmortem.report.page.close_up import extract_close_up, extract_edge_close_up
from postmortem.report.page.panel import Panel, Spot, Track, is_of
from postmortem.report.page.panel_marks import (
    find_first_nonfinite,
    find_process_nonfinite,
    list_marks,
)
from postmortem.report.page.record_axis import RecordAxis, compute_line_positions
from postmortem.report.plotted import build_curve

_INSIDE: Final = 0.5
"""A second series joins a panel if at least this share of it was printed between its first record
and its last."""
_FINER: Final = 4
"""A loss scale joins a panel if it has at most so many times its samples: else there is too little
to place it by."""


def build_panels(diagnosis: Diagnosis, drawn: Sequence[SeriesView]) -> tuple[Panel, ...]:
    """Arrange the series that are to be drawn.

    A series of one sample is shown only together with a longer one.
    """
    found = loss_comparison.find_differing_losses(diagnosis)
    made = [] if found is None else [_build_process_panel(diagnosis, found)]
    taken = set() if found is None else {id(curve) for curve in (*found.series, *found.left_out)}
    for main in drawn:
        if id(main) in taken or len(main.samples) < 2:
            continue
        free = [other for other in drawn if id(other) not in taken and _is_companion(main, other)]
        companions = list(
            {other.name: other for other in reversed(free)}.values()
        )  # of a name the first
        taken.update(map(id, (main, *companions)))
        companions.sort(key=lambda other: other.name == LOSS_SCALE)
        made.append(_build_panel(diagnosis, main, companions))
    return tuple(made)


def _build_process_panel(diagnosis: Diagnosis, found: loss_comparison.LossComparison) -> Panel:
    """Arrange the loss of all processes on one axis of steps."""
    first = _build_panel(diagnosis, found.series[0], ())
    tracks = tuple(
        Track(
            series,
            tuple(step or 0.0 for step, _, _ in series.samples),
            _select_process_style(index, found),
        )
        for index, series in enumerate(found.series)
    )
    places = [x for track in tracks for x in track.xs]
    bad = find_first_nonfinite(first.main)
    bad_line = None if bad is None else bad.line
    return replace(
        first,
        tracks=tracks,
        left=min(first.left, *places),
        right=max(first.right, *places),
        is_log=_is_log(found.series),
        bad=bad,
        spots=tuple(spot for spot in first.spots if spot.kind != "bad" or spot.line == bad_line),
        is_of_processes=True,
    )


def _select_process_style(index: int, found: loss_comparison.LossComparison) -> str:
    """Say how one of several processes is drawn."""
    if found.has_odd and index == 0:
        return "odd"
    return f"dash-{index - found.has_odd}" if index < loss_comparison.NAMED else "thin"


def _is_log(several: Sequence[SeriesView]) -> bool:
    """Say whether a logarithmic axis suits one of several curves and can show them all."""
    return any(build_curve(series).is_log for series in several) and not any(
        value <= 0 for series in several for _, value, _ in series.samples
    )


def _is_companion(main: SeriesView, other: SeriesView) -> bool:
    """Say whether a series is drawn in the panel of its process's loss."""
    if (
        main.name != LOSS
        or other.name not in {EVAL_LOSS, LOSS_SCALE}
        or main.source != other.source
        or not is_of(main.where, other.where)
    ):
        return False
    lines = [line for _, _, line in other.samples]
    inside = sum(main.samples[0][2] <= line <= main.samples[-1][2] for line in lines)
    if other.name == EVAL_LOSS:
        return inside >= _INSIDE * len(lines)
    return inside >= _INSIDE * len(lines) and 1 < len(lines) <= _FINER * len(main.samples)


def _build_panel(diagnosis: Diagnosis, main: SeriesView, companions: Sequence[SeriesView]) -> Panel:
    """Build the panel of a series and its companions, with their marks."""
    bad = find_process_nonfinite(diagnosis, main)
    rows = list_marks(diagnosis, main, bad)
    known, counted = compute_line_positions(diagnosis, main)
    lines = [line for series in (main, *companions) for _, _, line in series.samples]
    axis = RecordAxis(known, max(lines + [line for _, _, places in rows for line, _ in places]))
    tracks = _build_tracks(main, companions, axis, counted)
    spots = tuple(
        Spot(kind, axis.place(line, step if counted == "step" else None), line, step)
        for kind, _, places in rows
        for line, step in places
    )
    places = [x for track in tracks for x in track.xs] + [spot.x for spot in spots]
    left, right = min(places), max(places)
    if left == right:
        left, right = left - 0.5, right + 0.5
    return Panel(
        tracks,
        counted,
        build_curve(main).is_log,
        left,
        right,
        spots,
        tuple((kind, count) for kind, count, _ in rows),
        bad,
        _find_fault_window(diagnosis, tracks[0], left, right),
    )


def _build_tracks(
    main: SeriesView, companions: Sequence[SeriesView], axis: RecordAxis, counted: str
) -> tuple[Track, ...]:
    """Give the samples of each series their places; records are counted, whatever their lines."""
    if counted == "record":
        xs = tuple(float(number) for number in range(1, len(main.samples) + 1))
    else:
        xs = axis.places(main.samples, by_step=counted == "step")
    others = (
        Track(
            other, axis.places(other.samples, by_step=counted == "step"), _select_line_style(other)
        )
        for other in companions
    )
    return Track(main, xs, _select_line_style(main)), *others


def _select_line_style(series: SeriesView) -> str:
    if series.name == LOSS_SCALE:
        return "steps"
    if series.name != EVAL_LOSS:
        return "line"
    return "points" if len(series.samples) < 4 else "dashes"


def _find_fault_window(
    diagnosis: Diagnosis, track: Track, left: float, right: float
) -> tuple[float, float] | None:
    """Give the neighbourhood of a fault on the axis, if it is drawn apart."""
    first, main = diagnosis.first_failure, track.series
    failure = None if first is None else (first.source, first.line)
    close = extract_close_up(main, failure) or extract_edge_close_up(main, failure)
    if close is None:
        return None
    start = main.samples.index(close.samples[0])
    end = start + len(close.samples) - 1
    low = left if start == 0 else track.xs[start]
    high = right if end == len(track.xs) - 1 else track.xs[end]
    return (low, high) if low < high else None  # of one step there is nothing to draw apart
