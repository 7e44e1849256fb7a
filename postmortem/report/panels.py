"""Which panels the page shows: the series of each, their common axis, and what is marked on them.

In: a `Diagnosis` and the series chosen for drawing. Out: `Panel`s, the same for every language and
for both drawings (SVG, script). Not here: drawing (`report.chart`), words and tables
(`report.figures`).

The loss of a process stands with its evaluation loss and, on a second axis, its loss scale. What is
printed without a step (a loss scale, a checkpoint, a crash) is placed by its line between the
records of the panel's first series.
"""

import bisect
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from postmortem.model.diagnosis import Diagnosis, SeriesView
from postmortem.model.lines import NOWHERE, Where
from postmortem.names import EVAL_LOSS, LOSS, LOSS_SCALE
from postmortem.report import processes
from postmortem.report.curves import around, curve, cut_to, detail, first_bad

KINDS: Final = (
    "failure",
    "crash",
    "bad",
    "overflow",
    "checkpoint",
    "evaluation",
    "resumed",
    "restarted",
)
"""What is marked, the most telling first; `bad` is the first non-finite value."""
_INSIDE: Final = 0.5
"""A second series joins a panel if at least this share of it was printed between its first record and its last."""
_FINER: Final = 4
"""A loss scale joins a panel if it has at most so many times its samples: else there is too little to place it by."""
_BEHIND: Final = 0.04
"""Share of an axis that what comes behind the last record takes at most."""


class Spot(NamedTuple):
    """One mark: its place on the axis, and where the log says so."""

    kind: str
    x: float
    line: int
    step: float | None


class Bad(NamedTuple):
    """A non-finite value and where it was printed."""

    name: str
    value: float
    step: float | None
    line: int


class Track(NamedTuple):
    """One series of a panel, with a place for each sample."""

    series: SeriesView
    xs: tuple[float, ...]
    form: str
    """line | dashes | points | steps; `steps` is a loss scale and stands on the right axis, or alone. Of several processes: odd, dash-0 ..., thin"""


@dataclass(frozen=True, slots=True)
class Panel:
    """Series on one axis."""

    tracks: tuple[Track, ...]
    axis: str
    """step | record | line; where most steps are missing or some go back, records are counted, or, where not all are kept, the lines of the log"""
    is_log: bool
    """The values span so much that a logarithmic axis shows them better."""
    left: float
    right: float
    spots: tuple[Spot, ...]
    counts: tuple[tuple[str, int], ...]
    """How often each kind happened, also where only some are shown."""
    bad: Bad | None
    """The first non-finite value of the process, of whatever series."""
    near: tuple[float, float] | None
    """The neighbourhood of a fault that stands at the very edge, or in a curve too long for all its points to be drawn."""
    is_of_processes: bool = False
    """The tracks are the same series of several processes."""

    @property
    def main(self) -> SeriesView:
        """The series that gives the panel its axis and its name."""
        return self.tracks[0].series

    @property
    def source(self) -> int:
        """The source of all that it shows."""
        return self.main.source

    @property
    def named(self) -> tuple[Track, ...]:
        """The tracks that can be told apart."""
        return tuple(track for track in self.tracks if track.form != "thin")

    @property
    def has_right_axis(self) -> bool:
        """Whether a loss scale stands beside other series."""
        return len(self.tracks) > 1 and self.tracks[-1].form == "steps"

    @property
    def scale(self) -> str:
        """How the left axis is drawn: linear, log10, or log2 for a loss scale that stands alone."""
        if self.tracks[0].form == "steps":
            return "log2"
        return "log10" if self.is_log else "linear"

    def close_up(self) -> "Panel | None":
        """Give the part around a fault that stands at the very edge."""
        if self.near is None:
            return None
        low, high = self.near
        kept = [
            [index for index, x in enumerate(track.xs) if low <= x <= high] for track in self.tracks
        ]
        tracks = [
            Track(
                cut_to(track.series, tuple(track.series.samples[index] for index in indexes)),
                tuple(track.xs[index] for index in indexes),
                track.form,
            )
            for track, indexes in zip(self.tracks, kept, strict=True)
            if indexes
        ]
        return replace(
            self,
            tracks=tuple(tracks),
            left=low,
            right=high,
            spots=tuple(spot for spot in self.spots if low <= spot.x <= high),
            near=None,
        )


def panels(diagnosis: Diagnosis, drawn: Sequence[SeriesView]) -> tuple[Panel, ...]:
    """Arrange the series that are to be drawn.

    A series of one sample is shown only beside a longer one.
    """
    found = processes.compared(diagnosis)
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


def is_of(one: Where, other: Where) -> bool:
    """Say whether two lines may be of the same process.

    They name the same, or one of them names none.
    """
    return NOWHERE in (one, other) or one == other


def _of_processes(diagnosis: Diagnosis, found: processes.Compared) -> Panel:
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
                if index < processes.NAMED
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
    bad = _first_bad(diagnosis, main)
    rows = _marks(diagnosis, main, bad)
    last = max(
        [line for one in (main, *beside) for _, _, line in one.samples]
        + [line for _, _, places in rows for line, _ in places]
    )
    known, kind = _known(diagnosis, main)
    axis = _Axis(known, last)
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


def _known(diagnosis: Diagnosis, main: SeriesView) -> tuple[list[tuple[int, float]], str]:
    """Give what places lines on the axis of a series, as (line, place), and what the axis counts.

    Steps are taken where most records print one and they do not go back: those of all series of the
    process, if they rise together.
    """
    steps = [
        (line, step) for step, _, line in main.samples if step is not None and math.isfinite(step)
    ]
    lines = [line for _, _, line in main.samples]
    if 2 * len(steps) < len(lines) or not _rises(steps) or steps[0][1] == steps[-1][1]:
        if main.points > len(lines) == len(set(lines)):
            return [(line, float(line)) for line in lines], "line"
        return _by_line((line, float(number)) for number, line in enumerate(lines, 1)), "record"
    alike = [
        one
        for one in diagnosis.series
        if one.source == main.source and is_of(one.where, main.where)
    ]
    joined = _by_line(
        (line, step)
        for one in (main, *alike)
        for step, _, line in one.samples
        if step is not None and math.isfinite(step)
    )
    return joined if _rises(joined) else _by_line(steps), "step"


def _by_line(pairs: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Sort pairs by their lines, of one line the first."""
    return sorted({line: (line, x) for line, x in reversed(list(pairs))}.values())


def _rises(pairs: Sequence[tuple[int, float]]) -> bool:
    return all(one[1] <= two[1] for one, two in pairwise(pairs))


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


def _first_bad(diagnosis: Diagnosis, main: SeriesView) -> Bad | None:
    """Find the first non-finite value that the process of a series has printed, whatever it is called."""
    beside = (
        one
        for one in diagnosis.series
        if one.source == main.source and is_of(one.where, main.where)
    )
    found = [
        Bad(one.name, one.samples[index][1], one.samples[index][0], one.samples[index][2])
        for one in beside
        if (index := first_bad(one)) is not None
    ]
    return min(
        found, key=lambda one: (one.line, one.name != main.name, one.name != LOSS), default=None
    )


def _marks(
    diagnosis: Diagnosis, main: SeriesView, bad: Bad | None
) -> list[tuple[str, int, tuple[tuple[int, float | None], ...]]]:
    """Give what is to be marked in a source for a process: kind, how often, places.

    In the order of KINDS.
    """
    rows: dict[str, tuple[int, tuple[tuple[int, float | None], ...]]] = {}
    first = diagnosis.first_failure
    if first is not None and first.source == main.source:
        rows["failure"] = (1, ((first.line, None),))
    if bad is not None:
        rows["bad"] = (1, ((bad.line, bad.step),))
    for one in sorted(diagnosis.marks, key=lambda one: _nearness(one.where, main.where)):
        if (
            one.source == main.source and is_of(one.where, main.where) and one.kind not in rows
        ):  # of several processes one: each tells of the same step
            rows[one.kind] = (one.count, one.places)
    begins = [
        one.first_line
        for one in diagnosis.attempts
        if one.source == main.source and one.first_line > main.samples[0][2]
    ]
    if begins:
        rows["restarted"] = (len(begins), tuple((line, None) for line in sorted(begins)))
    return [(kind, *rows[kind]) for kind in KINDS if kind in rows]


def _nearness(where: Where, main: Where) -> tuple[bool, bool, int]:
    """Order processes by how surely they are that of a series.

    For one that names none, a named one before the lines of all that name none.
    """
    return (
        main not in (where, NOWHERE),
        where == NOWHERE != main,
        (where.rank or 0) if where != NOWHERE else 1 << 30,
    )


class _Axis:
    """Finds the place of a line between the records of a series.

    What comes before the first or behind the last has a little room.
    """

    def __init__(self, known: Sequence[tuple[int, float]], last: int) -> None:
        self.lines, self.xs = [line for line, _ in known], [x for _, x in known]
        intervals = sorted(two - one for one, two in pairwise(self.xs) if two > one)
        room = intervals[len(intervals) // 2] if intervals else 1.0
        first, end = self.xs[0], self.xs[-1]
        if last > self.lines[-1]:
            self.lines, self.xs = (
                [*self.lines, last],
                [
                    *self.xs,
                    end + min(room, max(end - first, room) * _BEHIND),
                ],
            )
        self.lines, self.xs = (
            [min(0, self.lines[0] - 1), *self.lines],
            [
                max(min(0.0, first), first - room),
                *self.xs,
            ],
        )

    def place(self, line: int, step: float | None = None) -> float:
        """Give a line's place: its step, if that agrees with the records around it, else between them."""
        after = min(max(1, bisect.bisect_left(self.lines, line)), len(self.lines) - 1)
        low, high = self.xs[after - 1], self.xs[after]
        if step is not None and low <= step <= high:
            return step
        span = self.lines[after] - self.lines[after - 1]
        share = min(1.0, max(0.0, (line - self.lines[after - 1]) / span)) if span else 1.0
        return low + (high - low) * share

    def places(
        self, samples: Sequence[tuple[float | None, float, int]], *, by_step: bool
    ) -> tuple[float, ...]:
        """Place the samples of a series.

        By its own steps as far as they are known and rise, else by their lines.
        """
        steps = [step for step, _, _ in samples if step is not None and math.isfinite(step)]
        is_own = by_step and all(one <= two for one, two in pairwise(steps))
        return tuple(
            accumulate(
                (
                    step if is_own and step is not None else self.place(line)
                    for step, _, line in samples
                ),
                max,
            )
        )
