"""Choose the panels of the page: the series of each, their common axis and their marks.

In: a `Diagnosis` and the series chosen for drawing. Out: `Panel`s, the same for every language and
for both drawings (SVG, script); the marks of a panel (the failure, the first non-finite value,
checkpoints, attempts) as kinds, counts and lines; the losses of a job's processes to draw on one
axis, the outlier first. Not here: places on the axis (`page.panel`), drawing (`page.chart`), words
and tables (`page.panel_figures`).

The loss of a process stands with its evaluation loss and, on a second axis, its loss scale. What is
printed without a step (a loss scale, a checkpoint, a crash) is placed by its line between the
records of the panel's first series. Gradients are averaged over the ranks: what one rank spoils
reaches the others a step later, so only a comparison by step tells the losses of processes apart.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

from postmortem.core.answer import SeriesView
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.names import EVAL_LOSS, LOSS, LOSS_SCALE
from postmortem.report.curves import build_curve, find_first_nonfinite_index
from postmortem.report.page.panel import (
    KINDS,
    NonfiniteMark,
    Panel,
    RecordAxis,
    Spot,
    Track,
    compute_line_positions,
    extract_close_up,
    extract_edge_close_up,
    is_of,
)

Row = tuple[str, int, tuple[tuple[int, float | None], ...]]
"""Kind, how often, places as (line, step)."""


def find_first_nonfinite(series: SeriesView) -> NonfiniteMark | None:
    """Find the first non-finite value of a series."""
    index = find_first_nonfinite_index(series)
    if index is None:
        return None
    step, value, line = series.samples[index]
    return NonfiniteMark(series.name, value, step, line)


def find_process_nonfinite(diagnosis: Diagnosis, main: SeriesView) -> NonfiniteMark | None:
    """Find the first non-finite value of whatever name that the process of a series has printed."""
    found = [
        bad
        for series in diagnosis.series
        if series.source == main.source and is_of(series.where, main.where)
        if (bad := find_first_nonfinite(series)) is not None
    ]
    return min(
        found, key=lambda bad: (bad.line, bad.name != main.name, bad.name != LOSS), default=None
    )


def list_marks(diagnosis: Diagnosis, main: SeriesView, bad: NonfiniteMark | None) -> list[Row]:
    """Give what is to be marked in a source for a process, in the order of KINDS."""
    rows: dict[str, Row] = {}
    first = diagnosis.first_failure
    if first is not None and first.source == main.source:
        rows["failure"] = ("failure", 1, ((first.line, None),))
    if bad is not None:
        rows["bad"] = ("bad", 1, ((bad.line, bad.step),))
    for marks in sorted(diagnosis.marks, key=lambda marks: _rank_process(marks.where, main.where)):
        if marks.source == main.source and is_of(marks.where, main.where):
            # Of several processes one: each tells of the same step.
            rows.setdefault(marks.kind, (marks.kind, marks.count, marks.places))
    begins = _list_later_attempts(diagnosis, main)
    if begins:
        rows["restarted"] = ("restarted", len(begins), tuple((line, None) for line in begins))
    return [rows[kind] for kind in KINDS if kind in rows]


def _list_later_attempts(diagnosis: Diagnosis, main: SeriesView) -> list[int]:
    """Give the lines at which attempts begin behind the first sample of a series."""
    return sorted(
        attempt.first_line
        for attempt in diagnosis.attempts
        if attempt.source == main.source and attempt.first_line > main.samples[0][2]
    )


def _rank_process(where: ProcessId, main: ProcessId) -> tuple[bool, bool, int]:
    """Order processes by how surely they are that of a series.

    For one that names none, a named one before the lines of all that name none.
    """
    return (
        main not in (where, NOWHERE),
        where == NOWHERE != main,
        (where.rank or 0) if where != NOWHERE else 1 << 30,
    )


NAMED: Final = 8
"""Lines with a name; more cannot be told apart."""
MOST: Final = 64
"""Lines at most, those without a name included."""
_NOT_TRAINING: Final = ("eval", "val", "test")


class LossComparison(NamedTuple):
    """The same loss of several processes."""

    series: tuple[SeriesView, ...]
    has_odd: bool
    """Whether the first differs from the others: it went wrong before them, or failed."""
    left_out: tuple[SeriesView, ...]
    """What is too much to draw."""


def find_differing_losses(diagnosis: Diagnosis) -> LossComparison | None:
    """Find the loss that at least two processes print at the same steps, with different values.

    One whose NaN begins on one process is preferred.
    """
    found = [
        (name, members)
        for name, group in _collect_losses_by_process(diagnosis).items()
        if len(members := _filter_overlapping(_sort_by_rank(group.values()))) > 1
        and _has_differences(members)
    ]
    if not found:
        return None
    _, members = min(
        found,
        key=lambda pair: (_find_earliest_nonfinite(pair[1]) is None, pair[0] != LOSS, pair[0]),
    )
    odd = _find_earliest_nonfinite(members) or _find_failed_process(diagnosis, members)
    ordered = (*([odd] if odd else []), *(series for series in members if series is not odd))
    return LossComparison(ordered[:MOST], odd is not None, ordered[MOST:])


def _collect_losses_by_process(diagnosis: Diagnosis) -> dict[str, dict[object, SeriesView]]:
    """Give each training loss by name, and of each process the longest series of it."""
    found: dict[str, dict[object, SeriesView]] = defaultdict(dict)
    for series in sorted(diagnosis.series, key=lambda series: -series.points):
        if _is_training_loss(series.name) and _has_steps(series):
            process = series.where if series.where != NOWHERE else series.source
            found[series.name].setdefault(process, series)
    return found


def _is_training_loss(name: str) -> bool:
    return "loss" in name and name != LOSS_SCALE and not name.startswith(_NOT_TRAINING)


def _has_steps(curve: SeriesView) -> bool:
    steps = [step for step, _, _ in curve.samples if step is not None and math.isfinite(step)]
    return len(steps) == len(curve.samples) > 1 and all(
        first < second for first, second in pairwise(steps)
    )


def _sort_by_rank(members: Iterable[SeriesView]) -> list[SeriesView]:
    """Order processes by node and rank, as far as they are printed."""
    return sorted(
        members,
        key=lambda member: (
            member.where.node or "",
            *(
                -1 if number is None else number
                for number in (member.where.rank, member.where.local_rank, member.where.pid)
            ),
            member.source,
        ),
    )


def _filter_overlapping(members: list[SeriesView]) -> list[SeriesView]:
    """Keep those that share steps with the longest: the others are of another part of the run."""
    longest = max(members, key=lambda member: member.points)
    first, last = _get_step_range(longest)
    return [
        member
        for member in members
        if _get_step_range(member)[0] < last and _get_step_range(member)[1] > first
    ]


def _get_step_range(curve: SeriesView) -> tuple[float, float]:
    return curve.samples[0][0] or 0.0, curve.samples[-1][0] or 0.0


def _has_differences(members: Sequence[SeriesView]) -> bool:
    """Say whether there is more than one curve to see.

    A loss averaged over the processes is the same on each.
    """
    return (
        len({repr([(step, value) for step, value, _ in member.samples]) for member in members}) > 1
    )


def _find_earliest_nonfinite(members: Sequence[SeriesView]) -> SeriesView | None:
    """Find the one whose values stop being finite at an earlier step than those of all others."""
    bad = sorted(
        (_find_first_nonfinite_step(member), index)
        for index, member in enumerate(members)
        if _find_first_nonfinite_step(member) < math.inf
    )
    if not bad or (len(bad) > 1 and bad[1][0] <= bad[0][0]):
        return None
    step, index = bad[0]
    return (
        members[index]
        if any(
            _get_step_range(member)[1] >= step for member in members if member is not members[index]
        )
        else None
    )


def _find_first_nonfinite_step(curve: SeriesView) -> float:
    return next(
        (step for step, value, _ in curve.samples if step is not None and not math.isfinite(value)),
        math.inf,
    )


def _find_failed_process(diagnosis: Diagnosis, members: Sequence[SeriesView]) -> SeriesView | None:
    """Find the one of the process that failed first."""
    first = diagnosis.first_failure
    if first is None:
        return None
    return next(
        (
            member
            for member in members
            if member.source == first.source and member.where == first.where
        ),
        None,
    )


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
    found = find_differing_losses(diagnosis)
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


def _build_process_panel(diagnosis: Diagnosis, found: LossComparison) -> Panel:
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


def _select_process_style(index: int, found: LossComparison) -> str:
    """Say how one of several processes is drawn."""
    if found.has_odd and index == 0:
        return "odd"
    return f"dash-{index - found.has_odd}" if index < NAMED else "thin"


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
