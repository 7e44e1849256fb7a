"""Which panels the page shows: the series of each, their common axis, and what is marked on them.

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

from postmortem.model.diagnosis import Diagnosis, SeriesView
from postmortem.names import EVAL_LOSS, LOSS, LOSS_SCALE
from postmortem.report.page import losses_compared
from postmortem.report.page.close_up import around, detail
from postmortem.report.page.marked import first_bad_of_process, marks_for
from postmortem.report.page.panel import Bad, Panel, Spot, Track, is_of
from postmortem.report.page.record_axis import RecordAxis, known_places
from postmortem.report.plotted import curve, first_bad

_INSIDE: Final = 0.5
"""A second series joins a panel if at least this share of it was printed between its first record and its last."""


_FINER: Final = 4
"""A loss scale joins a panel if it has at most so many times its samples: else there is too little to place it by."""


def panels(diagnosis: Diagnosis, drawn: Sequence[SeriesView]) -> tuple[Panel, ...]:
    """Arrange the series that are to be drawn.

    A series of one sample is shown only beside a longer one.
    """
    found = losses_compared.compared(diagnosis)
    made = [] if found is None else [_of_processes(diagnosis, found)]
    taken = set() if found is None else {id(one) for one in (*found.series, *found.left_out)}
    for one in drawn:
        if id(one) in taken or len(one.samples) < 2:
            continue
        beside = list(
            {
                other.name: other
                for other in reversed(drawn)
                if id(other) not in taken and _joins(one, other)
            }.values()
        )  # of one name the first
        taken.update(map(id, (one, *beside)))
        made.append(
            _panel(diagnosis, one, sorted(beside, key=lambda other: other.name == LOSS_SCALE))
        )
    return tuple(made)


def _of_processes(diagnosis: Diagnosis, found: losses_compared.Compared) -> Panel:
    """Arrange the loss of all processes on one axis of steps."""
    one = _panel(diagnosis, found.series[0], ())
    tracks = tuple(
        Track(
            series,
            tuple(step or 0.0 for step, _, _ in series.samples),
            (
                "odd"
                if found.has_odd and index == 0
                else f"dash-{index - found.has_odd}"
                if index < losses_compared.NAMED
                else "thin"
            ),
        )
        for index, series in enumerate(found.series)
    )
    every = [x for track in tracks for x in track.xs]
    bad = first_bad(one.main)
    own = (
        None
        if bad is None
        else Bad(
            one.main.name,
            one.main.samples[bad][1],
            one.main.samples[bad][0],
            one.main.samples[bad][2],
        )
    )
    spots = tuple(
        spot
        for spot in one.spots
        if spot.kind != "bad" or (own is not None and spot.line == own.line)
    )
    is_log = any(curve(series).is_log for series in found.series) and not any(
        value <= 0 for series in found.series for _, value, _ in series.samples
    )
    return replace(
        one,
        tracks=tracks,
        left=min(one.left, *every),
        right=max(one.right, *every),
        is_log=is_log,
        bad=own,
        spots=spots,
        is_of_processes=True,
    )


def _joins(one: SeriesView, other: SeriesView) -> bool:
    if (
        one.name != LOSS
        or other.name not in {EVAL_LOSS, LOSS_SCALE}
        or one.source != other.source
        or not is_of(one.where, other.where)
    ):
        return False
    lines = [line for _, _, line in other.samples]
    inside = sum(one.samples[0][2] <= line <= one.samples[-1][2] for line in lines)
    if other.name == EVAL_LOSS:
        return inside >= _INSIDE * len(lines)
    return inside >= _INSIDE * len(lines) and 1 < len(lines) <= _FINER * len(one.samples)


def _panel(diagnosis: Diagnosis, main: SeriesView, beside: Sequence[SeriesView]) -> Panel:
    bad = first_bad_of_process(diagnosis, main)
    rows = marks_for(diagnosis, main, bad)
    last = max(
        [line for one in (main, *beside) for _, _, line in one.samples]
        + [line for _, _, places in rows for line, _ in places]
    )
    known, kind = known_places(diagnosis, main)
    axis = RecordAxis(known, last)
    is_by_step = kind == "step"
    xs = (
        axis.places(main.samples, by_step=is_by_step)
        if kind != "record"
        else tuple(float(number) for number in range(1, len(main.samples) + 1))
    )
    tracks = [
        Track(main, xs, _form(main)),
        *(Track(one, axis.places(one.samples, by_step=is_by_step), _form(one)) for one in beside),
    ]
    spots = [
        Spot(kind, axis.place(line, step if is_by_step else None), line, step)
        for kind, _, places in rows
        for line, step in places
    ]
    every = [x for track in tracks for x in track.xs] + [spot.x for spot in spots]
    left, right = min(every), max(every)
    if left == right:
        left, right = left - 0.5, right + 0.5
    counts = tuple((kind, count) for kind, count, _ in rows)
    return Panel(
        tuple(tracks),
        kind,
        curve(main).is_log,
        left,
        right,
        tuple(spots),
        counts,
        bad,
        _near(diagnosis, tracks[0], left, right),
    )


def _form(series: SeriesView) -> str:
    if series.name == LOSS_SCALE:
        return "steps"
    if series.name != EVAL_LOSS:
        return "line"
    return "points" if len(series.samples) < 4 else "dashes"


def _near(
    diagnosis: Diagnosis, track: Track, left: float, right: float
) -> tuple[float, float] | None:
    first, main = diagnosis.first_failure, track.series
    failure = None if first is None else (first.source, first.line)
    close = around(main, failure) or detail(main, failure)
    if close is None:
        return None
    start = main.samples.index(close.samples[0])
    end = start + len(close.samples) - 1
    low, high = (
        left if start == 0 else track.xs[start],
        (right if end == len(track.xs) - 1 else track.xs[end]),
    )
    return (low, high) if low < high else None  # of one step there is nothing to draw apart
